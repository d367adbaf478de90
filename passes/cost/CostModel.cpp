#include "passes/cost/CostModel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cuda/WarpgroupFit.h"
#include "mlir/IR/Diagnostics.h"
#include "passes/cost/Occupancy.h"
#include "support/Hash.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::cost {

llvm::StringRef nameOf(LaunchMode mode) {
  constexpr llvm::StringLiteral names[] = {"stream", "graph", "graph-pdl"};
  return names[static_cast<int>(mode)];
}

llvm::StringRef nameOf(Limiter limiter) {
  constexpr llvm::StringLiteral names[] = {"launch", "memory", "compute", "latency", "measured"};
  return names[static_cast<int>(limiter)];
}

std::string contentKey(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << kernel.getScheduleAttr() << "\n";
  llvm::DenseMap<Value, unsigned> numbers;
  auto number = [&](Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  };
  for (BlockArgument argument : kernel.getBlock().getArguments())
    stream << number(argument) << ":" << argument.getType() << "\n";
  for (Operation& op : kernel.getBlock()) {
    stream << op.getName() << op.getAttrDictionary();
    for (Value operand : op.getOperands())
      stream << " " << number(operand);
    for (Value result : op.getResults())
      stream << " = " << number(result) << ":" << result.getType();
    stream << "\n";
  }
  uint64_t hash = hashBytes(std::as_bytes(std::span(text)));
  return llvm::utohexstr(hash, /*LowerCase=*/true, /*Width=*/16);
}

static llvm::ArrayRef<llvm::StringLiteral> requiredProperties(DeviceKind device) {
  static constexpr llvm::StringLiteral gpu[] = {"sms",
                                                "l2_bytes",
                                                "l2_mb_per_s",
                                                "sm_mb_per_s",
                                                "prologue_ps_per_element",
                                                "warp_prologue_ps_per_element",
                                                "held_reduction_ns",
                                                "held_prologue_ps_per_element",
                                                "next_reduction_ns",
                                                "row_barrier_ns",
                                                "spread_ns",
                                                "attention_ns",
                                                "key_step_ns",
                                                "vector_ns",
                                                "gemv_gflops",
                                                "unhidden_percent",
                                                "threads_per_sm",
                                                "blocks_per_sm",
                                                "registers_per_sm",
                                                "smem_bytes_per_sm",
                                                "dram_mb_per_s",
                                                "copy_mb_per_s",
                                                "read_ramp_bytes",
                                                "dependent_load_ns",
                                                "reduction_ns",
                                                "tensor_16bit_gflops",
                                                "mma_percent",
                                                "library_ns",
                                                "library_percent",
                                                "issue_percent",
                                                "gather_issue_percent",
                                                "full_rate_tile_rows",
                                                "l2_all_percent",
                                                "l2_none_percent",
                                                "warpgroups_ns",
                                                "tile_store_cycles",
                                                "tile_store_bytes_per_cycle",
                                                "simple_instructions",
                                                "function_instructions",
                                                "epilogue_lanes",
                                                "clock_mhz",
                                                "f32_gflops"};
  static constexpr llvm::StringLiteral cpu[] = {"cores",          "step_ns",    "dram_mb_per_s",
                                                "cache_mb_per_s", "f32_gflops", "i8_gops"};
  return device == DeviceKind::Cuda ? llvm::ArrayRef<llvm::StringLiteral>(gpu) : cpu;
}

/// A device without programmatic dependent launch starts the nodes of a graph one after the other.
static llvm::StringRef launchProperty(LaunchMode mode, TargetAttr target) {
  if (mode == LaunchMode::Stream)
    return "launch_stream_ns";
  bool hasPdl = target.getProperty("launch_graph_pdl_ns").has_value();
  return mode == LaunchMode::GraphPdl && hasPdl ? "launch_graph_pdl_ns" : "launch_graph_ns";
}

static llvm::StringRef rampProperty(LaunchMode mode, TargetAttr target) {
  return launchProperty(mode, target) == "launch_graph_pdl_ns" ? "read_ramp_pdl_ns"
                                                               : "read_ramp_ns";
}

FailureOr<CostModel> CostModel::create(Location location, TargetAttr target, LaunchMode mode,
                                       const MeasuredTimes* times, std::optional<int64_t> newest) {
  llvm::SmallVector<llvm::StringRef> required(requiredProperties(target.getDevice()));
  if (target.getDevice() == DeviceKind::Cuda)
    required.append({launchProperty(mode, target), rampProperty(mode, target)});
  for (llvm::StringRef name : required)
    if (target.getProperty(name).value_or(0) < 1)
      return emitError(location) << "expects a positive property '" << name << "' in target "
                                 << target.getName() << " to predict times";
  return CostModel(target, mode, times, newest);
}

/// ns that `amount` takes at `millionsPerSecond`: bytes at MB/s.
static double nsAt(double amount, double millionsPerSecond) {
  return amount / millionsPerSecond * 1e3;
}

/// Rounds, and names the largest part.
static Estimate finish(double launch, double memory, double compute, double latency) {
  Estimate estimate;
  estimate.launchNs = std::llround(launch), estimate.memoryNs = std::llround(memory);
  estimate.computeNs = std::llround(compute), estimate.latencyNs = std::llround(latency);
  double total = launch + latency + std::max(memory, compute);
  constexpr double longest = 9e18;
  estimate.ns = std::max<int64_t>(1, std::llround(std::min(total, longest)));
  double largest = std::max({launch, memory, compute, latency});
  estimate.limiter = largest == memory    ? Limiter::Memory
                     : largest == compute ? Limiter::Compute
                     : largest == launch  ? Limiter::Launch
                                          : Limiter::Latency;
  return estimate;
}

Estimate CostModel::estimate(KernelOp kernel) const {
  if (times)
    if (std::optional<int64_t> ns = times->find(contentKey(kernel))) {
      Estimate measured;
      measured.ns = *ns, measured.limiter = Limiter::Measured;
      return measured;
    }
  KernelWork work = sumWork(kernel, newest);
  return target.getDevice() == DeviceKind::Cuda ? estimateOnGpu(kernel, work)
                                                : estimateOnCpu(kernel, work);
}

/// Vectors of 16 bytes that a thread of a kernel that keeps whole rows takes one after the other.
double CostModel::vectorsPerThread(const MatchedOnGpu& kernel) {
  constexpr double vectorBytes = 16;
  if (!kernel.terms.keepsRows)
    return 0;
  double threads = static_cast<double>(kernel.tiles) * static_cast<double>(kernel.threads);
  return (static_cast<double>(kernel.work.readBytes) + kernel.work.writtenBytes) / threads /
         vectorBytes;
}

/// ns that a block waits for the reductions in front of its GEMM.
double CostModel::prologueOnGpu(const MatchedOnGpu& kernel) const {
  using Prologue = kernels::PriceTerms::Prologue;
  const KernelWork& work = kernel.work;
  if (work.repeatedElements == 0)
    return 0;
  auto elements = static_cast<double>(work.repeatedElements) * 1e-3;
  auto passes = static_cast<double>(property("reduction_ns") * work.repeatedReductions);
  switch (kernel.terms.prologue) {
  case Prologue::Block:
    return passes + property("prologue_ps_per_element") * elements;
  case Prologue::Warps:
    return passes + property("warp_prologue_ps_per_element") * elements /
                        static_cast<double>(kernel.terms.rows) *
                        static_cast<double>(kernel.terms.rowsOfWarp);
  case Prologue::Registers:
    return static_cast<double>(property("held_reduction_ns") * work.repeatedReductions) +
           property("held_prologue_ps_per_element") * elements;
  }
  llvm_unreachable("all prologues are handled");
}

/// How far tiles are spread over multiprocessors: 0 of one, 1 of as many as there are.
static double spreadOf(int64_t tiles, int64_t sms) {
  return std::min(1.0, std::log2(tiles) / std::log2(std::max<int64_t>(2, sms)));
}

double CostModel::latencyOnGpu(const MatchedOnGpu& kernel) const {
  const KernelWork& work = kernel.work;
  double latency = property("dependent_load_ns");
  int64_t reductions = work.reductions - work.repeatedReductions;
  if (reductions > 0)
    latency += property("reduction_ns") +
               static_cast<double>(property("next_reduction_ns") * (reductions - 1));
  if (kernel.terms.sharesRows)
    latency += static_cast<double>(property("row_barrier_ns") * reductions);
  latency += property("spread_ns") * spreadOf(kernel.tiles, property("sms"));
  // A unit whose block waits for another one's place takes its keys after it.
  if (const auto& of = kernel.terms.keySteps) {
    int64_t keys = std::llround(std::ceil(static_cast<double>(of->capacity) * work.keyShare));
    int64_t tiles = kernel.tiles / of->splits * of->parts(keys);
    auto steps = static_cast<double>(of->steps(keys));
    double waves =
        std::ceil(static_cast<double>(tiles) / static_cast<double>(kernel.occupancy.tilesAtOnce));
    latency += waves * (property("attention_ns") + property("key_step_ns") * steps);
  }
  latency += property("vector_ns") * vectorsPerThread(kernel);
  latency += prologueOnGpu(kernel);
  return latency +
         property(rampProperty(mode, target)) *
             std::min(1.0, static_cast<double>(work.weightBytes) / property("read_ramp_bytes"));
}

double CostModel::memoryOnGpu(const MatchedOnGpu& kernel) const {
  const KernelWork& work = kernel.work;
  double dram = property("dram_mb_per_s");
  double reads = work.readBytes, writes = work.writtenBytes, both = std::min(reads, writes);
  // What one kernel has written the next one finds in the cache: all of it where a kernel's
  // operands take little of the cache, none where they take more than the cache, a part between.
  double wholly = property("l2_all_percent") / 100.0, atAll = property("l2_none_percent") / 100.0;
  double share = (reads + writes) / property("l2_bytes");
  double cached =
      kernel.terms.passesMemory ? 0.0 : std::clamp((atAll - share) / (atAll - wholly), 0.0, 1.0);
  double activations = cached * nsAt(reads + writes, property("l2_mb_per_s")) +
                       (1 - cached) * (nsAt(2 * both, property("copy_mb_per_s")) +
                                       nsAt(reads + writes - 2 * both, dram));
  // A row is one multiprocessor's.
  if (kernel.terms.keepsRows) {
    double busy = std::min(kernel.tiles, property("sms"));
    activations = std::max(activations, nsAt(reads + writes, busy * property("sm_mb_per_s")));
  }
  // Loads that wait for one another.
  double rounds = (work.weightBytes + reads + writes) / kernel.occupancy.bytesInFlight;
  return std::max(nsAt(work.weightBytes, dram) + activations,
                  property("dependent_load_ns") * (rounds - 1));
}

double CostModel::computeOnGpu(const MatchedOnGpu& kernel) const {
  const KernelWork& work = kernel.work;
  const Occupancy& occupancy = kernel.occupancy;
  double tiles = kernel.tiles;
  // A block with a ring has a multiprocessor's schedulers for itself: one beside it is the next
  // kernel's, and waits.
  double atOnce = occupancy.tilesAtOnce;
  if (kernel.terms.keepsRingsFull)
    atOnce = std::min<double>(atOnce, property("sms"));
  double efficiency = tiles / (std::ceil(tiles / atOnce) * atOnce);
  double repeated = work.repeatedFlops * tiles / property("f32_gflops") / efficiency;
  if (kernel.terms.warpInstructions > 0) {
    constexpr double schedulers = 4;
    double slots = property("sms") * schedulers * property("clock_mhz") / 1e3;
    double perNs = slots *
                   property(kernel.terms.gathersRows ? "gather_issue_percent" : "issue_percent") /
                   100.0;
    return static_cast<double>(kernel.terms.warpInstructions) / perNs / efficiency + repeated;
  }
  double gemm = occupancy.tensorCores
                    ? property("tensor_16bit_gflops") * property("mma_percent") / 100.0
                : work.weightBytes > 0 ? property("gemv_gflops")
                                       : property("f32_gflops");
  return (work.flops - work.repeatedFlops) / gemm / efficiency + repeated;
}

double CostModel::tileEfficiency(int64_t tileRows, int64_t tileColumns) const {
  double balanced = property("full_rate_tile_rows") / 2.0;
  auto rows = static_cast<double>(tileRows), columns = static_cast<double>(tileColumns);
  return std::min(1.0, rows * columns / (balanced * (rows + columns)));
}

/// ns that a library's GEMM computes at the best of its tiles, see the class.
double CostModel::libraryComputeNs(int64_t m, int64_t n, int64_t k, double gflops) const {
  // Tiles of cuBLASLt, and how it splits K.
  constexpr std::pair<int64_t, int64_t> tiles[] = {{64, 64},   {64, 128},  {64, 256}, {128, 64},
                                                   {128, 128}, {128, 192}, {128, 256}};
  constexpr int64_t fewestK = 1024, mostSplits = 8;
  int64_t sms = property("sms");
  double reached = property("library_percent") / 100.0;
  double best = std::numeric_limits<double>::infinity();
  for (auto [tileM, tileN] : tiles)
    for (int64_t split = 1; split == 1 || (split <= mostSplits && k / split >= fewestK);
         split *= 2) {
      int64_t blocks = split * llvm::divideCeil(m, tileM) * llvm::divideCeil(n, tileN);
      auto waves = static_cast<double>(llvm::divideCeil(blocks, sms));
      double flops = 2.0 * static_cast<double>(tileM * tileN) * static_cast<double>(k) /
                     static_cast<double>(split);
      best = std::min(best, waves * flops * static_cast<double>(sms) / (reached * gflops) /
                                tileEfficiency(tileM, tileN));
    }
  return best;
}

Estimate CostModel::estimateLibrary(const kernels::PriceTerms::Library& gemm,
                                    const KernelWork& work) const {
  using Rate = kernels::PriceTerms::Library::Rate;
  auto tensor = static_cast<double>(property("tensor_16bit_gflops"));
  double gflops = gemm.rate == Rate::Tensor16 ? tensor
                  : gemm.rate == Rate::Tf32   ? tensor / 2
                                              : static_cast<double>(property("f32_gflops"));
  double read = static_cast<double>(target.getProperty("library_read_percent").value_or(100));
  double memory =
      nsAt(work.weightBytes, property("dram_mb_per_s") * read / 100.0) +
      nsAt(static_cast<double>(work.readBytes) + work.writtenBytes, property("l2_mb_per_s"));
  double epilogue = nsAt(static_cast<double>(gemm.epilogueBytes), property("copy_mb_per_s"));
  return finish(property(launchProperty(mode, target)), memory,
                libraryComputeNs(gemm.m, gemm.n, gemm.k, gflops),
                property("library_ns") + epilogue);
}

/// ns of the GEMMs of tiles of warpgroups, `flops` on all multiprocessors at `gflops`: rounds of
/// tiles, of which the last one leaves some idle.
double CostModel::warpgroupGemmNs(const kernels::PriceTerms::Warpgroups& gemm, double flops,
                                  double gflops, int64_t blocks) const {
  auto waves = static_cast<double>(llvm::divideCeil(gemm.tilesOfResult, blocks));
  return waves * flops / gflops * property("sms") / static_cast<double>(gemm.tilesOfResult);
}

/// Instructions of the epilogue for an element of a result.
double CostModel::epilogueInstructions(KernelOp kernel) const {
  double sum = 0;
  for (Operation& op : kernel.getBlock().without_terminator())
    if (llvm::isa<ElementwiseOpInterface>(op))
      sum += property(llvm::isa<AddOp, SubOp, MulOp>(op) ? "simple_instructions"
                                                         : "function_instructions");
  return sum;
}

/// ns that a block's epilogues take, one tile after the other, while the tensor cores wait.
double CostModel::epilogueNs(KernelOp kernel, const KernelWork& work,
                             const kernels::PriceTerms::Warpgroups& gemm, int64_t blocks) const {
  auto gemms = kernel.getBlock().getOps<MatmulOp>();
  Type type = (*gemms.begin()).getType().getElementType();
  double elementBytes = static_cast<double>(getEncoding(type)->blockBytes);
  double elements = work.writtenBytes / elementBytes / static_cast<double>(gemm.tilesOfResult);
  auto waves = static_cast<double>(llvm::divideCeil(gemm.tilesOfResult, blocks));
  double ofElement = elementBytes / property("tile_store_bytes_per_cycle") +
                     epilogueInstructions(kernel) / property("epilogue_lanes");
  return waves * (property("tile_store_cycles") + elements * ofElement) /
         (property("clock_mhz") / 1e3);
}

/// As a library's GEMM, with tiles and an epilogue that are known.
Estimate CostModel::estimateWarpgroups(KernelOp op, const MatchedOnGpu& kernel,
                                       const kernels::PriceTerms::Warpgroups& gemm) const {
  const KernelWork& work = kernel.work;
  double memory =
      nsAt(work.weightBytes, property("dram_mb_per_s")) +
      nsAt(static_cast<double>(work.readBytes) + work.writtenBytes, property("l2_mb_per_s"));
  double launch = property(launchProperty(mode, target)), latency = property("warpgroups_ns");
  double percent = static_cast<double>(
      target.getProperty("wgmma_percent").value_or(*target.getProperty("mma_percent")));
  double gflops = property("tensor_16bit_gflops") * percent / 100.0;
  double gemms = warpgroupGemmNs(gemm, static_cast<double>(work.flops), gflops, kernel.tiles);
  VerdictOr<kernels::WarpgroupFit> fit = kernels::WarpgroupFit::read(target);
  if (gemm.stages == 0 || !fit)
    return finish(launch, memory, gemms / tileEfficiency(gemm.tileRows, gemm.tileColumns), latency);
  double cyclesPerNs = property("clock_mhz") / 1e3;
  auto waves = static_cast<double>(llvm::divideCeil(gemm.tilesOfResult, kernel.tiles));
  double cycles = kernels::cyclesOf(
      {gemm.stages, gemm.tileRows, gemm.tileColumns, gemm.l2Rows, gemm.instructions}, kernel.tiles,
      property("sms"), *fit);
  double stages = std::max(gemms, waves * cycles / cyclesPerNs);
  double behind = epilogueNs(op, work, gemm, kernel.tiles);
  if (gemm.exchangeBytes > 0)
    behind += (static_cast<double>(fit->exchangeCycles) +
               static_cast<double>(gemm.exchangeBytes) / static_cast<double>(fit->storeBytes)) /
              cyclesPerNs;
  double unhidden = kernels::overlap(stages, memory, *fit) - std::max(stages, memory);
  return finish(launch, memory, stages, latency + behind + unhidden);
}

/// A kernel that its kind refuses, which a plan by hand may hold, is priced without blocks.
CostModel::MatchedOnGpu CostModel::match(KernelOp kernel, const KernelWork& work) const {
  MatchedOnGpu matched = {work, kernel.getScheduleAttr().getTiles()};
  std::optional<kernels::BlockResources> needs;
  if (auto found = kernels::readKernel(kernel)) {
    matched.terms = (*found)->priceTerms();
    needs = (*found)->resources();
  }
  if (needs) {
    needs = kernels::resourcesInPlace(kernel, *needs, property("registers_per_sm"));
    matched.threads = needs->threads;
  }
  matched.occupancy = estimateOccupancy(needs, matched.tiles, work, target);
  return matched;
}

Estimate CostModel::estimateOnGpu(KernelOp kernel, const KernelWork& work) const {
  MatchedOnGpu matched = match(kernel, work);
  if (matched.terms.library)
    return estimateLibrary(*matched.terms.library, work);
  if (matched.terms.warpgroups)
    return estimateWarpgroups(kernel, matched, *matched.terms.warpgroups);
  double memory = memoryOnGpu(matched), compute = computeOnGpu(matched);
  double percent = static_cast<double>(property("unhidden_percent"));
  if (matched.terms.keepsRingsFull)
    percent = static_cast<double>(target.getProperty("ring_unhidden_percent").value_or(percent));
  double unhidden = percent / 100.0 * std::min(memory, compute);
  return finish(property(launchProperty(mode, target)), memory, compute,
                latencyOnGpu(matched) + unhidden);
}

int64_t CostModel::beyondKernelsNs() const {
  bool isGraph = target.getDevice() == DeviceKind::Cuda && mode != LaunchMode::Stream;
  return isGraph ? target.getProperty("call_graph_ns").value_or(0) : 0;
}

/// What one weight takes a core, in ps: `decode_q4_k_ps` beside floats, `unpack_q4_k_ps` beside
/// quants; 0 where the target does not state it.
static double unpackPs(TargetAttr target, const KernelWork::Blocks& blocks) {
  std::string name = blocks.besideQuants ? "unpack_" : "decode_";
  name += std::string(blocks.encoding->name) + "_ps";
  return static_cast<double>(target.getProperty(name).value_or(0));
}

/// Operations on integers beside such weights: `i8_q8_0_gops`, or `i8_gops` where the target does
/// not state it.
static double quantGops(TargetAttr target, const KernelWork::Blocks& blocks) {
  std::string name = "i8_" + std::string(blocks.encoding->name) + "_gops";
  return static_cast<double>(target.getProperty(name).value_or(*target.getProperty("i8_gops")));
}

Estimate CostModel::estimateOnCpu(KernelOp kernel, const KernelWork& work) const {
  double cores = property("cores");
  double busy = std::min<double>(cores, kernel.getScheduleAttr().getTiles());
  double cached = static_cast<double>(work.readBytes) + work.writtenBytes;
  double memory = nsAt(work.weightBytes, property("dram_mb_per_s")) +
                  nsAt(cached, property("cache_mb_per_s") * busy / cores);
  // Every thread does what comes before a GEMM for itself.
  double flops = work.flops - work.quantOps + (busy - 1) * work.repeatedFlops;
  double compute = flops / (property("f32_gflops") * busy / cores);
  for (const KernelWork::Blocks& blocks : work.blocks)
    compute += blocks.quantOps / (quantGops(target, blocks) * busy / cores) +
               blocks.elements * unpackPs(target, blocks) * 1e-3 / busy;
  return finish(busy > 1 ? property("step_ns") : 0, memory, compute, 0);
}

} // namespace tenon::passes::cost
