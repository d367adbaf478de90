#ifndef TENON_PASSES_COST_COSTMODEL_H
#define TENON_PASSES_COST_COSTMODEL_H

#include <memory>
#include <string>

#include "ir/Dialect.h"
#include "kernels/KernelKind.h"
#include "passes/cost/KernelWork.h"
#include "passes/cost/Occupancy.h"

namespace tenon::passes::cost {

/// How kernels are started on a GPU.
enum class LaunchMode {
  Stream,   ///< one by one
  Graph,    ///< nodes of a CUDA graph, each after the one before
  GraphPdl, ///< the same, each started early (programmatic dependent launch)
};

/// `stream`, `graph` or `graph-pdl`, as on the command line.
llvm::StringRef nameOf(LaunchMode mode);

/// What the time of a kernel goes to.
enum class Limiter { Launch, Memory, Compute, Latency, Measured };

llvm::StringRef nameOf(Limiter limiter);

/// A prediction, or a measured time.
struct Estimate {
  int64_t ns = 0;
  Limiter limiter = Limiter::Launch; ///< the largest of the parts
  // The parts; 0 where the time was measured. Memory and compute overlap: the larger one counts.
  int64_t launchNs = 0;
  int64_t memoryNs = 0;
  int64_t computeNs = 0;
  int64_t latencyNs = 0;
};

/// Where measured times come from. Times measured on the target replace what the model would say.
class MeasuredTimes {
public:
  virtual ~MeasuredTimes() = default;
  /// The time of the kernel with that content, in ns; nullopt where none was measured.
  virtual std::optional<int64_t> find(const std::string& contentKey) const = 0;
};

/// 16 hexadecimal digits that stand for a scheduled region: its operations, types and schedule, but
/// not its inputs, its name or its place.
std::string contentKey(KernelOp kernel);

/// The one model of time. All constants are properties of the target attribute, so a prediction
/// can be traced to a line of `ir/targets` and its source.
///
/// On a GPU, with b the bytes read and written, f the flops:
///
///     ns = launch + latency + max(memory, compute) + unhidden_percent · min(memory, compute)
///          (ring_unhidden_percent, where a target has it, of kernels that keep rings full)
///     latency = dependent_load_ns + reduction_ns + (reductions − 1) · next_reduction_ns
///               + row_barrier_ns · reductions, where several warps share a row
///               + spread_ns · min(1, log tiles / log multiprocessors)
///               + attention_ns, of decode attention, + key_step_ns · steps of 16 keys that a warp
///               takes one
///                 after the other
///               + vector_ns · 16-byte vectors that a thread has of a row
///               + reduction_ns · reductions that every tile repeats
///               + prologue_ps_per_element · elements that reductions of every tile read again, by
///                 all threads of a block; where each warp takes a row of them (narrow_gemm),
///                 warp_prologue_ps_per_element · elements of the rows of one warp; where warps
///                 hold all rows (held_gemm), held_reduction_ns · reductions +
///                 held_prologue_ps_per_element · elements
///               + ramp · min(1, weight bytes / read_ramp_bytes)
///     ramp    = read_ramp_pdl_ns where kernels start early, else read_ramp_ns
///     memory  = max(weights / dram + others / rate, dependent_load_ns · (b / bytes in flight − 1))
///     rate    = between l2, where the others take at most l2_all_percent of the cache, and, where
///     they
///               take l2_none_percent, or which pass memory: copy for as many reads as there are
///               writes and dram for the rest; of rows at most sm · multiprocessors that have some
///     compute = (f / rate of GEMMs or f32 + repeated f · tiles / f32) / wave efficiency;
///               where instructions bind (quants on tensor cores), those over what the schedulers
///               issue (issue_percent of a slot a cycle each)
///
/// Bytes in flight are those of the blocks that registers, shared memory and threads of the target
/// let run at once. Wave efficiency is tiles over whole waves of tiles. GEMMs on tensor cores
/// run at their peak, less what code that is not the library's loses (`mma_percent`), others at
/// `gemv_gflops`.
///
/// A library's GEMM of M x N x K, which neither starts early nor lets the next kernel do so:
///
///     ns = launch + library_ns + max(memory, compute) + bytes of its epilogue / copy
///     memory  = weights / (dram · library_read_percent, where a target has it) + others / l2
///     compute = waves · 2 · tile_m · tile_n · K / splits · multiprocessors
///               / (rate · library_percent · tile efficiency)
///     tile efficiency = min(1, tile_m · tile_n / (full_rate_tile_rows / 2 · (tile_m + tile_n)))
///
/// for the best of the tiles from 64 x 64 to 128 x 256 and of 1 to 8 splits of K. One by
/// warpgroups:
///
///     ns = launch + warpgroups_ns + max(memory, stages) + epilogue + exchange
///          + stage_unhidden_percent · min(memory, stages)
///     stages = waves · max(2 · tile_m · tile_n · K · multiprocessors / (rate · wgmma_percent),
///              what kernels/cuda/WarpgroupFit.h says / clock_mhz)
///     epilogue = waves · (tile_store_cycles + elements of a tile ·
///                (bytes / tile_store_bytes_per_cycle + instructions / epilogue_lanes)) / clock_mhz
///     exchange = (part_exchange_cycles + bytes / tile_store_bytes_per_cycle) / clock_mhz,
///                where K is split
///
/// A call of a CUDA graph takes call_graph_ns, where a target has it, beyond its kernels.
///
/// On a CPU, with c of the target's cores that have a tile:
///
///     ns = step_ns + max(weights / dram + (reads + writes) / (cache · c), compute)
///     compute = f / (peak · c) + operations on quants / (i8_gops or i8_T_gops · c)
///               + block-quantised weights · decode_T_ps (beside quants unpack_T_ps) / c
///
/// The constants that are no data sheet's are fitted to points that a device has measured
/// (bench/fusion), and compared with others that it has measured.
class CostModel {
public:
  /// Emits an error at `location` where the target lacks a property that the model needs. `times`
  /// may be null and must outlive the model. Attention is priced on the keys of positions up to
  /// `newest` of its caches; without one, as where plans are chosen, on full caches.
  static mlir::FailureOr<CostModel> create(mlir::Location location, TargetAttr target,
                                           LaunchMode mode, const MeasuredTimes* times = nullptr,
                                           std::optional<int64_t> newest = std::nullopt);

  /// The time of `kernel`, which has a schedule.
  Estimate estimate(KernelOp kernel) const;

  /// ns that a call takes beyond its kernels where the device waits for it: before the first one's
  /// work and after the last one's. All plans have it alike. 0 where kernels are launched one by
  /// one, on a CPU, and where the target does not state it.
  int64_t beyondKernelsNs() const;

private:
  CostModel(TargetAttr target, LaunchMode mode, const MeasuredTimes* times,
            std::optional<int64_t> newest)
      : target(target), mode(mode), times(times), newest(newest) {}

  int64_t property(llvm::StringRef name) const { return *target.getProperty(name); }
  /// A kernel as its kind reads it, and what follows from that on the target.
  struct MatchedOnGpu {
    const KernelWork& work;
    int64_t tiles;
    int64_t threads = 1; ///< of a block
    kernels::PriceTerms terms = {};
    Occupancy occupancy = {};
  };
  MatchedOnGpu match(KernelOp kernel, const KernelWork& work) const;
  static double vectorsPerThread(const MatchedOnGpu& kernel);
  double prologueOnGpu(const MatchedOnGpu& kernel) const;
  double latencyOnGpu(const MatchedOnGpu& kernel) const;
  double memoryOnGpu(const MatchedOnGpu& kernel) const;
  double computeOnGpu(const MatchedOnGpu& kernel) const;
  /// Share of the tensor cores' rate that a tile reaches.
  double tileEfficiency(int64_t tileRows, int64_t tileColumns) const;
  double libraryComputeNs(int64_t m, int64_t n, int64_t k, double gflops) const;
  double warpgroupGemmNs(const kernels::PriceTerms::Warpgroups& gemm, double flops, double gflops,
                         int64_t blocks) const;
  double epilogueInstructions(KernelOp kernel) const;
  double epilogueNs(KernelOp kernel, const KernelWork& work,
                    const kernels::PriceTerms::Warpgroups& gemm, int64_t blocks) const;
  Estimate estimateLibrary(const kernels::PriceTerms::Library& gemm, const KernelWork& work) const;
  Estimate estimateWarpgroups(KernelOp op, const MatchedOnGpu& kernel,
                              const kernels::PriceTerms::Warpgroups& gemm) const;
  Estimate estimateOnGpu(KernelOp kernel, const KernelWork& work) const;
  Estimate estimateOnCpu(KernelOp kernel, const KernelWork& work) const;

  TargetAttr target;
  LaunchMode mode;
  const MeasuredTimes* times;
  std::optional<int64_t> newest;
};

} // namespace tenon::passes::cost

#endif // TENON_PASSES_COST_COSTMODEL_H
