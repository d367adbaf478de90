#include "ir/schedules/ScheduleKind.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::schedules {

namespace {

constexpr int64_t floatBytes = 4, wordBytes = 16, halfBytes = 2;

/// Elements of a head, of keys and of values; of a cache [S, C, H, D].
struct HeadSizes {
  int64_t key, value, capacity;
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
  return HeadSizes{key.getShape()[3], value.getShape()[3], value.getShape()[1],
                   value.getElementType()};
}

/// Whether a block arrived last, where several share a row. Shared memory is counted in words.
static constexpr int64_t arrivalBytes = 1;

/// Query, scores of a step, and sums of each group of threads that shares a value.
static bool fillScalar(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t batch = 4; // keys on their way together
  std::optional<HeadSizes> sizes = sizesOf(kernel);
  int64_t heads = sizeParameter(kernel, "heads_per_tile");
  int64_t block = sizeParameter(kernel, "keys_per_block");
  std::optional<int64_t> split = kernel.getScheduleAttr().getParameter("keys_per_split");
  if (!sizes || heads < 1 || block < 1 || !split)
    return false;
  int64_t vector = 1, widest = wordBytes / getEncoding(sizes->valueElement)->blockBytes;
  while (2 * vector <= widest && sizes->value % (2 * vector) == 0)
    vector *= 2;
  int64_t groups = resources.threads / std::max<int64_t>(sizes->value / vector, 1);
  resources.registers = 44 + heads * (vector + 1) + batch * (heads + vector);
  resources.bytesAThread = batch * wordBytes;
  resources.dynamicSmemBytes = detail::saturatingProduct(
      {floatBytes, detail::saturatingSum(
                       {detail::saturatingProduct({heads, sizes->key}), heads * block + 3 * heads,
                        detail::saturatingProduct({groups, heads, sizes->value})})});
  resources.staticSmemBytes = sizes->capacity > *split ? llvm::alignTo(arrivalBytes, wordBytes) : 0;
  return true;
}

/// Sums, largest score and total of each warp; of the parts of a row the largest and the totals.
static bool fillDecode(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t keysOfWarp = 16, mostHeads = 8;
  std::optional<HeadSizes> sizes = sizesOf(kernel);
  int64_t heads = sizeParameter(kernel, "heads_per_tile"), splits = sizeParameter(kernel, "splits");
  int64_t warps = resources.threads / 32;
  resources.blocksPerSm = sizeParameter(kernel, "blocks_per_sm");
  if (!sizes || heads < 1 || splits < 1 || resources.blocksPerSm < 1)
    return false;
  resources.registers = boundedRegisters(resources);
  resources.tensorCores = true;
  resources.bytesAThread =
      detail::saturatingProduct(
          {keysOfWarp * halfBytes, detail::saturatingSum({sizes->key, sizes->value})}) /
      32;
  resources.dynamicSmemBytes =
      detail::saturatingSum({detail::saturatingProduct({floatBytes * warps * heads, sizes->value}),
                             2 * floatBytes * warps * mostHeads});
  resources.staticSmemBytes =
      llvm::alignTo(2 * floatBytes * splits * heads + arrivalBytes, wordBytes);
  return true;
}

/// Queries, later the results, and two steps of keys and values, rows padded by 16 bytes; the keys
/// that each row sees, and four bounds of them.
static bool fillPrefill(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t padding = 8;
  std::optional<HeadSizes> sizes = sizesOf(kernel);
  int64_t block = sizeParameter(kernel, "keys_per_block");
  int64_t rows = resources.threads / 2 * sizeParameter(kernel, "row_tiles");
  resources.blocksPerSm = sizeParameter(kernel, "blocks_per_sm");
  if (!sizes || block < 1 || rows < 1 || resources.blocksPerSm < 1)
    return false;
  int64_t keyPitch = detail::saturatingSum({sizes->key, padding});
  int64_t valuePitch = detail::saturatingSum({sizes->value, padding});
  int64_t stepElements =
      detail::saturatingProduct({block, detail::saturatingSum({keyPitch, valuePitch})});
  resources.registers = boundedRegisters(resources);
  resources.tensorCores = true;
  resources.bytesAThread = detail::saturatingProduct({halfBytes, stepElements}) / resources.threads;
  int64_t elements =
      detail::saturatingSum({detail::saturatingProduct({rows, std::max(keyPitch, valuePitch)}),
                             stepElements, stepElements});
  int64_t bytes = detail::saturatingSum(
      {detail::saturatingProduct({halfBytes, elements}), 2 * 4 * rows, 4 * 4, wordBytes - 1});
  resources.dynamicSmemBytes = bytes / wordBytes * wordBytes;
  return true;
}

const ScheduleKind decodeAttention = {"decode_attention", fillScalar};
const ScheduleKind tensorDecodeAttention = {"tensor_decode_attention", fillDecode};
const ScheduleKind tensorPrefillAttention = {"tensor_prefill_attention", fillPrefill};

} // namespace tenon::schedules
