#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/Emitters.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

namespace {

/// What the kernels on tensor cores read of their operation: [M, Hq, D] queries, [S, C, Hkv, D]
/// keys, [S, C, Hkv, Dv] values, all of one 16-bit type, and positive scores' scale.
struct Operands {
  explicit Operands(AttentionOp op)
      : op(op), query(shapeOf(op.getQuery().getType())), key(shapeOf(op.getKey().getType())),
        value(shapeOf(op.getValue().getType())), sharing(query[1] / key[2]) {}

  LogicalResult verify(int64_t sizeMultiple) {
    Type type = elementTypeOf(op.getQuery().getType());
    if (type.isF32() || type != elementTypeOf(op.getKey().getType()) ||
        type != elementTypeOf(op.getValue().getType()) || type != op.getType().getElementType())
      return op.emitOpError("expects one 16-bit type for an emitter on tensor cores, but got ")
             << op->getOperandTypes() << " and " << op.getType();
    if (query[2] % sizeMultiple != 0 || value[3] % sizeMultiple != 0 || query[2] > 256 ||
        value[3] > 256)
      return op.emitOpError("expects heads of at most 256 elements, multiples of ")
             << sizeMultiple << ", but got " << query[2] << " and " << value[3];
    if (key[1] > std::numeric_limits<int32_t>::max() / 2 ||
        key[0] > std::numeric_limits<int32_t>::max())
      return op.emitOpError("expects a cache of at most 2^30 positions and 2^31 sequences");
    if (op.getScale().convertToDouble() <= 0)
      return op.emitOpError("expects a positive scale on tensor cores, but got ")
             << op.getScale().convertToDouble();
    if (op.getOrderAttr())
      return op.emitOpError("expects no order on tensor cores, but got ") << op.getOrderAttr();
    return success();
  }

  std::string type() { return deviceType(elementTypeOf(op.getQuery().getType())); }
  int64_t window() {
    return std::min<int64_t>(op.getWindow(), std::numeric_limits<int32_t>::max());
  }
  std::string scale() {
    return absl::StrFormat("ScoreScale{%s, %s}", floatLiteral(op.getScale().convertToDouble()),
                           floatLiteral(op.getSoftcap().convertToDouble()));
  }

  AttentionOp op;
  llvm::ArrayRef<int64_t> query, key, value;
  int64_t sharing; ///< query heads of a key head
};

/// Attention of single rows: a block takes `heads_per_tile` query heads of a row that share a key
/// head, and one of at most `splits` parts of its keys; their number and size depend on the row's
/// keys alone. The block that comes last combines the parts in ascending order.
///
/// Parameters: `threads`, `heads_per_tile`, `splits`, `blocks_per_sm` for the registers. Tiles are
/// numbered by split, row, head.
class TensorDecodeAttention {
public:
  TensorDecodeAttention(KernelContext& context, AttentionOp op)
      : context(context), op(op), shapes(op) {}

  LogicalResult emit();

private:
  LogicalResult readSchedule();
  void printRange(CodeWriter& code);
  void printAttention(CodeWriter& code);
  void printStore(CodeWriter& code);
  /// Of the parts of a row's heads in scratch memory: sums, largest score and total of each; whole
  /// words of 16 bytes.
  int64_t unitFloats() { return llvm::alignTo(splits * heads * (shapes.value[3] + 2), 4); }

  KernelContext& context;
  AttentionOp op;
  Operands shapes;
  int64_t heads = 0, splits = 0, warps = 0, units = 0;
};

} // namespace

LogicalResult TensorDecodeAttention::readSchedule() {
  FailureOr<int64_t> headsPerTile = context.parameter("heads_per_tile");
  FailureOr<int64_t> mostSplits = context.parameter("splits");
  if (failed(headsPerTile) || failed(mostSplits) || failed(context.readResources()) ||
      failed(shapes.verify(8)))
    return failure();
  heads = *headsPerTile, splits = *mostSplits, warps = context.structure.threads / 32;
  if (heads > 8 || shapes.sharing % heads != 0 || splits < 1 || splits > 64)
    return context.kernel.emitOpError("expects at most 64 splits and heads_per_tile of at most 8 "
                                      "that divides the ")
           << shapes.sharing << " query heads of a key head, but got " << splits << " and "
           << heads;
  units = shapes.query[0] * shapes.query[1] / heads;
  return context.expectTiles(units * splits);
}

void TensorDecodeAttention::printRange(CodeWriter& code) {
  int64_t perRow = shapes.query[1] / heads;
  bool oneSequence = op.getSequences().getType().getNumElements() == 1;
  code.format("using Kernel = DecodeAttention<%s, %d, %d, %d, %d>;", shapes.type(), heads,
              shapes.query[2], shapes.value[3], warps);
  code.format("const int split = static_cast<int>(tile / %d);", units);
  code.format("const long long unit = tile %% %d;", units);
  code.format("const int row = static_cast<int>(unit / %d);", perRow);
  code.format("const int firstHead = static_cast<int>(unit %% %d) * %d;", perRow, heads);
  code.format("const KeyRange range = findKeys(%s[%s], %s[row], %d, %d, %s, %d);",
              context.pointer(op.getSequences()), oneSequence ? "0" : "row",
              context.pointer(op.getPositions()), shapes.key[0], shapes.key[1],
              op.getCausal() ? "true" : "false", shapes.window());
  code.line("const bool empty = range.begin >= range.end;");
  code.format("const KeySplit cut(empty ? 1 : range.end - range.begin, %d, %d * Kernel::step);",
              splits, warps);
  code.line("if (split >= cut.parts)");
  code.line("  return;");
}

void TensorDecodeAttention::printAttention(CodeWriter& code) {
  llvm::ArrayRef<int64_t> key = shapes.key, value = shapes.value;
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Kernel::Shared& shared = *reinterpret_cast<Kernel::Shared*>(memory);");
  code.line("Kernel kernel;");
  // Where the row has no keys the sequence may be outside the cache.
  code.format("const long long head = (empty ? 0 : (long long)range.sequence * %d) + firstHead / "
              "%d;",
              key[1] * key[2], shapes.sharing);
  code.format("kernel.keys = %s + head * %d;", context.pointer(op.getKey()), key[3]);
  code.format("kernel.values = %s + head * %d;", context.pointer(op.getValue()), value[3]);
  code.format("kernel.keyStride = %d;", key[2] * key[3]);
  code.format("kernel.valueStride = %d;", value[2] * value[3]);
  code.line("const int begin = range.begin + split * cut.keys;");
  code.line("kernel.end = min(range.end, begin + cut.keys);");
  code.format("kernel.loadQuery(%s + ((long long)row * %d + firstHead) * %d);",
              context.pointer(op.getQuery()), shapes.query[1], shapes.query[2]);
  code.line("if (!empty)");
  code.format("  kernel.attend(begin, %s);", shapes.scale());
  code.line("kernel.share(shared);");
}

void TensorDecodeAttention::printStore(CodeWriter& code) {
  code.open("auto store = [&](int h, int d, float4 sums)");
  code.line("float values[4] = {sums.x, sums.y, sums.z, sums.w};");
  code.line("if (empty)");
  code.line("  values[0] = values[1] = values[2] = values[3] = 0.0f;");
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("storeVector(%s + ((long long)row * %d + firstHead + h) * %d + d, values);",
                pointer, shapes.query[1], shapes.value[3]);
  code.close(";");
  bool combines = splits > 1;
  code.format("finishDecode<Kernel, %d, %d, %d, %d>(shared, %s, %s, split, cut.parts, store);",
              heads, shapes.value[3], warps, splits,
              combines ? absl::StrFormat("attentionParts + unit * %d", unitFloats()) : "nullptr",
              combines ? "attentionArrivals + unit" : "nullptr");
}

LogicalResult TensorDecodeAttention::emit() {
  if (failed(readSchedule()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"tensor_attention.cuh"};
  if (splits > 1) {
    structure.declarations.format("__device__ __align__(16) float attentionParts[%d];",
                                  units * unitFloats());
    structure.declarations.format("__device__ unsigned attentionArrivals[%d];", units);
  }
  printRange(structure.begin(PhaseKind::Prologue,
                             {context.access(op.getSequences()), context.access(op.getPositions())},
                             {{MemorySpace::Registers, "range"}}));
  printAttention(structure.begin(
      PhaseKind::MainLoop,
      {context.access(op.getQuery()), context.access(op.getKey()), context.access(op.getValue())},
      {{MemorySpace::Shared, "shared"}}));
  std::vector<Access> writes = context.results();
  if (splits > 1)
    writes.push_back({MemorySpace::Scratch, "attentionParts"});
  printStore(structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "shared"}}, writes));
  return success();
}

/// Attention of many rows of one sequence: a block takes a query head of `threads` / 2 · `row_tiles`
/// rows and all keys that they see. Blocks with the most keys, those of the last rows, come first.
///
/// Parameters: `threads`; `row_tiles`, 1 or 2, of 16 rows a warp; `keys_per_block`;
/// `blocks_per_sm`.
static LogicalResult emitPrefill(KernelContext& context, AttentionOp op) {
  Operands shapes(op);
  FailureOr<int64_t> rowTiles = context.parameter("row_tiles");
  FailureOr<int64_t> keysPerBlock = context.parameter("keys_per_block");
  if (failed(rowTiles) || failed(keysPerBlock) || failed(context.readResources()) ||
      failed(shapes.verify(16)))
    return failure();
  if (op.getSequences().getType().getNumElements() != 1)
    return op.emitOpError("expects one sequence for the emitter tensor_prefill_attention, but got ")
           << op.getSequences().getType();
  if (*rowTiles < 1 || *rowTiles > 2 || *keysPerBlock % 16 != 0 || *keysPerBlock > 64)
    return context.kernel.emitOpError("expects row_tiles of 1 or 2 and keys_per_block of 16, 32, "
                                      "48 or 64, but got ")
           << *rowTiles << " and " << *keysPerBlock;
  llvm::ArrayRef<int64_t> query = shapes.query, key = shapes.key, value = shapes.value;
  PhaseStructure& structure = context.structure;
  int64_t warps = structure.threads / 32, rows = warps * *rowTiles * 16;
  int64_t blocks = llvm::divideCeil(query[0], rows);
  if (failed(context.expectTiles(blocks * query[1])))
    return failure();
  structure.headers = {"tensor_attention.cuh"};
  std::string sequences = context.pointer(op.getSequences());
  CodeWriter& code = structure.begin(PhaseKind::MainLoop, context.arguments(false),
                                     {{MemorySpace::Shared, "kernel"}});
  for (const Access& access : context.arguments(true))
    structure.phases.back().reads.push_back(access);
  code.format("using Kernel = PrefillAttention<%s, %d, %d, %d, %d, %d>;", shapes.type(), query[2],
              value[3], warps, *rowTiles, *keysPerBlock);
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Kernel kernel(*reinterpret_cast<Kernel::Shared*>(memory));");
  code.format("const int head = static_cast<int>(tile %% %d);", query[1]);
  code.format("const int first = (%d - static_cast<int>(tile / %d)) * Kernel::rows;", blocks - 1,
              query[1]);
  code.format("const int count = min(Kernel::rows, %d - first);", query[0]);
  code.format("kernel.findRanges(%s[0], %s + first, count, %d, %d, %s, %d);", sequences,
              context.pointer(op.getPositions()), key[0], key[1], op.getCausal() ? "true" : "false",
              shapes.window());
  code.format("const long long cache = (long long)%s[0] * %d + head / %d;", sequences,
              key[1] * key[2], shapes.sharing);
  code.format("kernel.attend(%s + ((long long)first * %d + head) * %d, %d, count, %s + cache * %d, "
              "%d, %s + cache * %d, %d, %s);",
              context.pointer(op.getQuery()), query[1], query[2], query[1] * query[2],
              context.pointer(op.getKey()), key[3], key[2] * key[3], context.pointer(op.getValue()),
              value[3], value[2] * value[3], shapes.scale());
  code.line("kernel.finish();");
  CodeWriter& store =
      structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "kernel"}}, context.results());
  store.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  store.openFormat("for (int i = lane; i < %d; i += 32)", *rowTiles * 2 * value[3]);
  store.format("const int row = warp * %d + i / %d, d = i %% %d * 8;", *rowTiles * 16, value[3] / 8,
               value[3] / 8);
  store.open("if (row < count)");
  store.line("const uint4 bits = *reinterpret_cast<const uint4*>(&kernel.shared.query[row][d]);");
  for (const std::string& pointer : context.destinations(op.getResult()))
    store.format("*reinterpret_cast<uint4*>(%s + ((long long)(first + row) * %d + head) * %d + d) "
                 "= bits;",
                 pointer, query[1], value[3]);
  store.close();
  store.close();
  return success();
}

static LogicalResult emitTensorDecode(KernelContext& context) {
  auto op = context.soleOp<AttentionOp>();
  return op ? TensorDecodeAttention(context, op).emit() : failure();
}

static LogicalResult emitTensorPrefill(KernelContext& context) {
  auto op = context.soleOp<AttentionOp>();
  return op ? emitPrefill(context, op) : failure();
}

const Emitter tensorDecodeAttention = {"tensor_decode_attention", emitTensorDecode};
const Emitter tensorPrefillAttention = {"tensor_prefill_attention", emitTensorPrefill};

} // namespace tenon::codegen::cuda::emitters
