#ifndef TENON_KERNELS_CUDA_HEADS_H
#define TENON_KERNELS_CUDA_HEADS_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/regions/HeadRegion.h"

namespace tenon::kernels {

/// Warps that each take some heads of a row.
struct HeadsSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t headsPerWarp = 1; ///< one after the other, at most; see `headsOfWarp`
  /// 1: the next kernel may start when blocks end, not at their entry.
  int64_t triggerAtExit = 0;

  static constexpr Parameter<HeadsSchedule> parameters[] = {
      threadsParameter(&HeadsSchedule::threads),
      {"heads_per_warp", &HeadsSchedule::headsPerWarp, 1, Parameter<HeadsSchedule>::largest,
       /*absent=*/1},
      flagParameter("trigger_at_exit", &HeadsSchedule::triggerAtExit)};
};

/// Norms, ropes and Hadamard transforms of heads, and writes of them to caches
/// (codegen/cuda/emitters/Heads.cpp).
struct HeadsKernel {
  static constexpr llvm::StringLiteral name = "heads";

  HeadRegion region;
  HeadsSchedule schedule;

  static VerdictOr<HeadsKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// Blocks that each take a row of every tensor.
struct HeadRowsSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t triggerAtExit = 0; ///< as of `heads`

  static constexpr Parameter<HeadRowsSchedule> parameters[] = {
      threadsParameter(&HeadRowsSchedule::threads),
      flagParameter("trigger_at_exit", &HeadRowsSchedule::triggerAtExit)};
};

/// Ropes of heads, and writes of them to caches, of many rows (codegen/cuda/emitters/HeadRows.cpp).
struct HeadRowsKernel {
  static constexpr llvm::StringLiteral name = "head_rows";

  HeadRegion region;
  HeadRowsSchedule schedule;

  /// Vectors of a row of the chain that a thread has.
  static int64_t vectorsOfThread(const HeadRegion::Chain& chain, int64_t threads);
  /// Whether the chain turns elements of one vector with those of another.
  static bool turnsHalves(const HeadRegion::Chain& chain);

  static VerdictOr<HeadRowsKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// The ropes of a region that differ in more than what they turn: each has sines and cosines of its
/// own.
llvm::SmallVector<RopeOp, 2> distinctRopes(const HeadRegion& region);
/// Which of `ropes` has the sines and cosines of `op`; their number where none has.
size_t findRope(llvm::ArrayRef<RopeOp> ropes, RopeOp op);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HEADS_H
