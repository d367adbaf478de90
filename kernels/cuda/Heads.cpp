#include "kernels/cuda/Heads.h"

#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/Rows.h"
#include "kernels/cuda/TensorDecodeAttention.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<HeadsKernel> HeadsKernel::read(KernelOp kernel) {
  VerdictOr<HeadRegion> region = readHeadRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<HeadsSchedule> schedule = parseSchedule<HeadsSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return HeadsKernel{*std::move(region), *schedule};
}

/// A head of each warp, with the lanes of its norm's sum.
BlockResources HeadsKernel::resources() const {
  constexpr int64_t floatBytes = 4;
  int64_t size = 0, lanes = 0;
  for (HeadRegion::Chain chain : region.chains) {
    size = std::max<int64_t>(size, llvm::alignTo(chain.size, 4));
    if (chain.norm && chain.norm.getOrderAttr())
      lanes = std::max(lanes, chain.norm.getOrderAttr().getLanes());
  }
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.registers = 64;
  resources.wholeTiles = true;
  resources.staticSmemBytes = detail::saturatingProduct(
      {floatBytes * (schedule.threads / 32), detail::saturatingSum({size, lanes})});
  return resources;
}

size_t findRope(llvm::ArrayRef<RopeOp> ropes, RopeOp op) {
  auto turnsAlike = [&](RopeOp other) {
    return other.getPositions() == op.getPositions() &&
           other.getInverseFrequencies() == op.getInverseFrequencies() &&
           other.getMagnitude() == op.getMagnitude();
  };
  return llvm::find_if(ropes, turnsAlike) - ropes.begin();
}

llvm::SmallVector<RopeOp, 2> distinctRopes(const HeadRegion& region) {
  llvm::SmallVector<RopeOp, 2> ropes;
  for (const HeadRegion::Chain& chain : region.chains)
    if (chain.rope && findRope(ropes, chain.rope) == ropes.size())
      ropes.push_back(chain.rope);
  return ropes;
}

VerdictOr<HeadRowsKernel> HeadRowsKernel::read(KernelOp kernel) {
  VerdictOr<HeadRegion> region = readHeadRegion(kernel);
  if (!region)
    return region.refusal();
  if (!isOfWholeRows(*region))
    return Refusal{
        "expects chains of one number of rows, without a norm, a Hadamard transform and caches of "
        "quants, in vectors of two elements and more for the emitter head_rows"};
  VerdictOr<HeadRowsSchedule> schedule = parseSchedule<HeadRowsSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return HeadRowsKernel{*std::move(region), *schedule};
}

int64_t HeadRowsKernel::vectorsOfThread(const HeadRegion::Chain& chain, int64_t threads) {
  return llvm::divideCeil(chain.heads * chain.size, threads * vectorOf(chain));
}

bool HeadRowsKernel::turnsHalves(const HeadRegion::Chain& chain) {
  RopeOp op = chain.rope;
  return op && op.getPairing() == RopePairing::Halves;
}

/// The sines and cosines of a row; in registers its vectors, and those of halves twice.
BlockResources HeadRowsKernel::resources() const {
  constexpr int64_t floatBytes = 4, others = 24, ofVector = 4;
  BlockResources resources;
  resources.threads = schedule.threads;
  int64_t vectors = 0;
  for (const HeadRegion::Chain& chain : region.chains)
    vectors += vectorsOfThread(chain, schedule.threads) * (turnsHalves(chain) ? 2 : 1);
  resources.registers = std::min<int64_t>(llvm::alignTo(others + ofVector * vectors, 8),
                                          BlockResources::mostRegisters);
  resources.wholeTiles = true;
  for (RopeOp op : distinctRopes(region))
    resources.staticSmemBytes +=
        2 * floatBytes * op.getInverseFrequencies().getType().getNumElements();
  return resources;
}

/// Q, K and V of 2,048 rows of pythia-2.8b, 63 MB read and written, took 38.4 µs in three kernels
/// and 26.2 in one; of llama-3.2-1b, 25 MB, 9.7, and of llama-3.1-8b, 50 MB, 16.9: not the cache's
/// rate (H200, 2026-11-29).
PriceTerms HeadRowsKernel::priceTerms() const {
  PriceTerms terms;
  terms.passesMemory = true;
  return terms;
}

namespace kinds {
extern constexpr KernelKind headRows = kindOf<HeadRowsKernel>();
extern constexpr KernelKind heads = kindOf<HeadsKernel>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

/// Regions of several operations, a rope, a Hadamard transform or a cache write among them.
static Verdict accepts(KernelOp kernel, const CudaTarget&) {
  auto operations = kernel.getBlock().without_terminator();
  bool concerned = !llvm::hasSingleElement(operations) &&
                   llvm::any_of(operations, llvm::IsaPred<RopeOp, HadamardOp, KvWriteOp>) &&
                   llvm::none_of(operations, llvm::IsaPred<AttentionOp, MatmulOp>);
  if (!concerned)
    return Verdict::accept();
  if (VerdictOr<HeadRegion> region = readHeadRegion(kernel); !region)
    return region.refusal();
  return Verdict::accept();
}

/// Whether blocks take whole rows: from as many on as fill the multiprocessors, since a row's sines
/// and its place in the cache are then found once. For 2,048 rows of llama-3.2-1b's heads (H200,
/// 2026-11-23) `heads` took 14.5 µs, 1.7 TB/s, and `rope` alone of pythia-2.8b's queries 17.5.
static bool takesWholeRows(const HeadRegion& region) {
  constexpr int64_t fewestRows = 128;
  return isOfWholeRows(region) && region.chains.front().rows >= fewestRows;
}

/// A Hadamard transform alone, too, and a rope or a cache write where blocks take whole rows.
static bool matches(KernelOp kernel, const CudaTarget& target) {
  VerdictOr<HeadRegion> region = readHeadRegion(kernel);
  if (!region || !accepts(kernel, target))
    return false;
  return !llvm::hasSingleElement(kernel.getBlock().without_terminator()) ||
         soleOp<HadamardOp>(kernel) ||
         (llvm::isa<RopeOp, KvWriteOp>(kernel.getBlock().front()) && takesWholeRows(*region));
}

/// Heads that a warp takes one after the other: as many as share a row's sines while there are
/// warps for half of what the multiprocessors hold.
static int64_t chooseHeadsPerWarp(const HeadRegion& region, const CudaTarget& target) {
  constexpr int64_t most = 8, warpsPerSm = 32;
  int64_t total = 0;
  for (const HeadRegion::Chain& chain : region.chains)
    total += chain.rows * chain.heads;
  int64_t heads = 1;
  while (heads < most && total / (2 * heads) >= warpsPerSm * target.sms)
    heads *= 2;
  return heads;
}

/// 1 where the next kernel, attention, may start only when blocks end. Beside `head_rows` of 128
/// rows it took 249 µs instead of 171 (pythia-2.8b, decode; H200, 2026-11-23), probably since a
/// multiprocessor that runs kernels with little first-level cache keeps little for its blocks.
/// Attention of few rows is one round of blocks, which gain by starting early; so does one that
/// asks for old keys meanwhile.
static int64_t triggersAtExit(const HeadRegion& region, const CudaTarget& target,
                              Neighbours neighbours) {
  constexpr int64_t mostFewRows = 16;
  bool isMany = region.chains.front().rows > mostFewRows;
  return isMany && !(neighbours.reader && asksEarly(neighbours.reader, target)) ? 1 : 0;
}

/// Threads that take two or three vectors of a row each.
static ScheduleAttr chooseHeadRows(KernelOp kernel, const HeadRegion& region, int64_t atExit) {
  constexpr int64_t vectorBytes = 16, vectorsPerThread = 3, fewest = 64, most = 512;
  int64_t bytes = 0;
  for (const HeadRegion::Chain& chain : region.chains) {
    auto type = llvm::cast<RankedTensorType>(chain.source.getType());
    bytes += chain.heads * chain.size * getEncoding(type.getElementType())->blockBytes;
  }
  auto wanted = static_cast<int64_t>(
      llvm::PowerOf2Ceil(static_cast<uint64_t>(bytes / vectorBytes / vectorsPerThread)));
  return printSchedule(
      kernel.getContext(), HeadRowsKernel::name,
      HeadRowsSchedule{region.chains.front().rows, std::clamp(wanted, fewest, most), atExit});
}

/// Four warps a block: a step of one row has few heads, which are to spread over the device.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours neighbours) {
  constexpr int64_t threads = 128;
  VerdictOr<HeadRegion> region = readHeadRegion(kernel);
  assert(region && "the rule matches");
  if (takesWholeRows(*region))
    return chooseHeadRows(kernel, *region, triggersAtExit(*region, target, neighbours));
  int64_t heads = chooseHeadsPerWarp(*region, target), total = 0;
  for (HeadRegion::Chain& chain : region->chains) {
    total += chain.rows * chain.heads / headsOfWarp(chain, heads);
    if (chain.norm)
      chain.norm->setAttr(partAttrName, scheduleRows(*chain.norm, target));
  }
  auto tiles = static_cast<int64_t>(llvm::divideCeil(total, threads / 32));
  return printSchedule(
      kernel.getContext(), HeadsKernel::name,
      HeadsSchedule{tiles, threads, heads, triggersAtExit(*region, target, neighbours)});
}

const CudaScheduleRule heads = {matches, choose, nullptr, accepts};

} // namespace tenon::kernels::cuda_rules
