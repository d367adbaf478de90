#include "kernels/cuda/DecodeRing.h"
#include "kernels/cuda/ParameterKind.h"
#include "kernels/regions/AttentionRegion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::kinds {

/// Why a schedule of attention is none that a block can have.
static Refusal refusal(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream(text) << kernel.getScheduleAttr();
  return {"expects sizes that a block of attention can have, but got " + text};
}

namespace {

constexpr int64_t floatBytes = 4, wordBytes = 16, halfBytes = 2;

/// Elements of a head, of keys and of values; of a cache [S, C, H, D].
struct HeadSizes {
  int64_t key, value;
  Type valueElement;
};

} // namespace

static RankedTensorType cacheType(Value value) {
  if (auto state = llvm::dyn_cast<StateType>(value.getType()))
    return state.getTensorType();
  return llvm::cast<RankedTensorType>(value.getType());
}

static std::optional<HeadSizes> sizesOf(KernelOp kernel) {
  auto op = findOp<AttentionOp>(kernel);
  if (!op)
    return std::nullopt;
  RankedTensorType key = cacheType(op.getKey()), value = cacheType(op.getValue());
  return HeadSizes{key.getShape()[3], value.getShape()[3], value.getElementType()};
}

/// Whether a block arrived last, where several share a row. Shared memory is counted in words.
static constexpr int64_t arrivalBytes = 1;

/// Query, scores of a step, and sums of each group of threads that shares a value.
static Verdict fillScalar(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t batch = 4; // keys on their way together
  std::optional<HeadSizes> sizes = sizesOf(kernel);
  int64_t heads = sizeParameter(kernel, "heads_per_tile");
  int64_t block = sizeParameter(kernel, "keys_per_block");
  if (!sizes || heads < 1 || block < 1)
    return refusal(kernel);
  int64_t vector = 1, widest = wordBytes / getEncoding(sizes->valueElement)->blockBytes;
  while (2 * vector <= widest && sizes->value % (2 * vector) == 0)
    vector *= 2;
  int64_t groups = resources.threads / std::max<int64_t>(sizes->value / vector, 1);
  resources.registers = 52 + heads * (vector + 1) + batch * (heads + vector);
  resources.bytesAThread = batch * wordBytes;
  resources.dynamicSmemBytes = detail::saturatingProduct(
      {floatBytes, detail::saturatingSum(
                       {detail::saturatingProduct({heads, sizes->key}), heads * block + 3 * heads,
                        detail::saturatingProduct({groups, heads, sizes->value})})});
  resources.staticSmemBytes =
      sizeParameter(kernel, "splits") > 1 ? llvm::alignTo(arrivalBytes, wordBytes) : 0;
  return Verdict::accept();
}

/// Of each warp the ring, or the sums that take its place, largest score and total; the last key's
/// scores; the queries; the keys and values that the kernel makes, with their places, and the last one.
static int64_t decodeBytes(const HeadSizes& sizes, int64_t heads, int64_t warps, int64_t stages,
                           int64_t madeRows) {
  constexpr int64_t mostHeads = 8, sumPadding = 4, queryPadding = 16, placeBytes = 4;
  int64_t stored = madeRows + 1;
  int64_t sums = floatBytes * heads * (sizes.value + sumPadding);
  int64_t ring = std::max(stages * decodeStageBytes(sizes.key, sizes.value), sums);
  int64_t ofWarps = warps * (ring + floatBytes * 2 * mostHeads) + floatBytes * mostHeads;
  int64_t rows =
      halfBytes * (heads * (sizes.key + queryPadding) + stored * (sizes.key + sizes.value));
  return llvm::alignTo(ofWarps + rows + placeBytes * stored, wordBytes);
}

/// Of the parts of a row the largest scores and totals; in a cluster also this block's run of the
/// sums, a barrier, and how long runs are.
static int64_t exchangeBytes(const HeadSizes& sizes, int64_t heads, int64_t splits, bool cluster) {
  constexpr int64_t barrierBytes = 8, lengthBytes = 8;
  int64_t runs =
      cluster ? heads * sizes.value * floatBytes + splits * wordBytes + barrierBytes + lengthBytes
              : 0;
  return llvm::alignTo(runs + 2 * floatBytes * splits * heads, wordBytes);
}

/// Turns of the row's pairs, and what each warp normalises: a head and the lanes of its sum.
static int64_t chainBytes(AttentionRegion& region, int64_t warps) {
  int64_t bytes = 0, size = 0, lanes = 0;
  for (RopeOp rope : region.distinctRopes())
    bytes += llvm::alignTo(2 * floatBytes * rope.getInverseFrequencies().getType().getNumElements(),
                           wordBytes);
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value})
    if (chain->norm && chain->norm.getOrderAttr()) {
      size = std::max(size, chain->size);
      lanes = std::max(lanes, chain->norm.getOrderAttr().getLanes());
    }
  return bytes + warps * floatBytes * llvm::alignTo(size + lanes, wordBytes / floatBytes);
}

static Verdict fillDecode(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t mostSize = 256, mostHeads = 8, mostSplits = 64, mostRows = 16;
  constexpr int64_t mostStages = 16, mostSets = 2;
  VerdictOr<AttentionRegion> region = readAttentionRegion(kernel);
  if (!region)
    return region.refusal();
  std::optional<HeadSizes> sizes = sizesOf(kernel);
  int64_t heads = sizeParameter(kernel, "heads_per_tile"), splits = sizeParameter(kernel, "splits");
  int64_t warps = resources.threads / 32, stages = sizeParameter(kernel, "stages");
  int64_t sets = std::max<int64_t>(sizeParameter(kernel, "sets"), 1);
  int64_t made = region->writesCache() ? region->query.rows : 0;
  bool cluster = sizeParameter(kernel, "cluster_blocks") > 1;
  resources.blocksPerSm = sizeParameter(kernel, "blocks_per_sm");
  if (heads < 1 || heads > mostHeads || splits < 1 || splits > mostSplits ||
      resources.blocksPerSm < 1 || stages < 0 || stages > mostStages || sets > mostSets ||
      (sets > 1 && stages > 0) || std::max(sizes->key, sizes->value) > mostSize || made > mostRows)
    return refusal(kernel);
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread =
      std::max(stages, sets) * decodeStepKeys * halfBytes * (sizes->key + sizes->value) / 32;
  resources.dynamicSmemBytes = decodeBytes(*sizes, heads, warps, stages, made) +
                               exchangeBytes(*sizes, heads, splits, cluster) +
                               chainBytes(*region, warps);
  if (splits > 1 && !cluster)
    resources.staticSmemBytes = llvm::alignTo(arrivalBytes, wordBytes);
  return Verdict::accept();
}

/// Queries, later the results, and two steps of keys and values, rows padded by 16 bytes; the keys
/// that each row sees, and four bounds of them.
static Verdict fillPrefill(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t padding = 8;
  std::optional<HeadSizes> sizes = sizesOf(kernel);
  int64_t block = sizeParameter(kernel, "keys_per_block");
  int64_t rows = resources.threads / 2 * sizeParameter(kernel, "row_tiles");
  resources.blocksPerSm = sizeParameter(kernel, "blocks_per_sm");
  if (!sizes || block < 1 || rows < 1 || resources.blocksPerSm < 1)
    return refusal(kernel);
  int64_t keyPitch = detail::saturatingSum({sizes->key, padding});
  int64_t valuePitch = detail::saturatingSum({sizes->value, padding});
  int64_t stepElements =
      detail::saturatingProduct({block, detail::saturatingSum({keyPitch, valuePitch})});
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread = detail::saturatingProduct({halfBytes, stepElements}) / resources.threads;
  int64_t elements =
      detail::saturatingSum({detail::saturatingProduct({rows, std::max(keyPitch, valuePitch)}),
                             stepElements, stepElements});
  int64_t bytes = detail::saturatingSum(
      {detail::saturatingProduct({halfBytes, elements}), 2 * 4 * rows, 4 * 4, wordBytes - 1});
  resources.dynamicSmemBytes = bytes / wordBytes * wordBytes;
  return Verdict::accept();
}

/// Steps of keys that a warp takes of a cache that is full: keys over the warps that share them.
static PriceTerms splitTerms(KernelOp kernel) {
  constexpr int64_t lanes = 32;
  PriceTerms terms;
  auto op = findOp<AttentionOp>(kernel);
  int64_t splits = sizeParameter(kernel, "splits");
  if (!op || splits < 1)
    return terms;
  int64_t warps = std::max<int64_t>(1, sizeParameter(kernel, "threads") / lanes);
  terms.keySteps =
      llvm::divideCeil(cacheType(op.getKey()).getShape()[1], splits * warps * decodeStepKeys);
  return terms;
}

const ParameterKind decodeAttention = {"decode_attention", fillScalar, splitTerms};
const ParameterKind tensorDecodeAttention = {"tensor_decode_attention", fillDecode, splitTerms};
const ParameterKind tensorPrefillAttention = {"tensor_prefill_attention", fillPrefill};

} // namespace tenon::kernels::kinds
