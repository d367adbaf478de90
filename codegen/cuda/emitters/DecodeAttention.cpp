#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/Emitters.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Attention of single rows: a block takes `heads_per_tile` query heads of one row that share a key
/// head, and the keys of one split, `keys_per_split` positions that start at a multiple of it.
/// Where a row has several splits, each leaves its maximum, total and sums in scratch memory of the
/// kernel, and the block that comes last combines them in ascending order: the result does not
/// depend on which one that is.
///
/// Parameters: `threads`, `heads_per_tile`, `keys_per_split`, `keys_per_block` (a step of the
/// online softmax). Tiles are numbered by split, row, head: a launch of fewer tiles, for a bucket
/// of short sequences, leaves out splits that none of its rows has.
class DecodeAttentionEmission {
public:
  DecodeAttentionEmission(KernelContext& context, AttentionOp op)
      : context(context), op(op), query(shapeOf(op.getQuery().getType())),
        key(shapeOf(op.getKey().getType())), value(shapeOf(op.getValue().getType())) {}

  LogicalResult emit();

private:
  LogicalResult readSchedule();
  void printRange(CodeWriter& code);
  void printAttention(CodeWriter& code);
  void printStore(CodeWriter& code);
  void storeElement(CodeWriter& code, const std::string& element);

  KernelContext& context;
  AttentionOp op;
  llvm::ArrayRef<int64_t> query, key, value; ///< [M, Hq, D], [S, C, Hkv, D], [S, C, Hkv, Dv]
  int64_t heads = 0, split = 0, splits = 0, block = 0, units = 0;
};

} // namespace

LogicalResult DecodeAttentionEmission::readSchedule() {
  FailureOr<int64_t> headsPerTile = context.parameter("heads_per_tile");
  FailureOr<int64_t> keysPerSplit = context.parameter("keys_per_split");
  FailureOr<int64_t> keysPerBlock = context.parameter("keys_per_block");
  if (failed(headsPerTile) || failed(keysPerSplit) || failed(keysPerBlock) ||
      failed(context.readResources()))
    return failure();
  heads = *headsPerTile, split = *keysPerSplit, block = *keysPerBlock;
  int64_t shared = query[1] / key[2];
  if (shared % heads != 0 || heads > 8)
    return context.kernel.emitOpError("expects heads_per_tile of at most 8 that divides the ")
           << shared << " query heads of a key head, but got " << heads;
  if (block % 32 != 0 || split % block != 0)
    return context.kernel.emitOpError("expects keys_per_block to be a multiple of 32 and "
                                      "keys_per_split of it, but got ")
           << block << " and " << split;
  if (key[1] > std::numeric_limits<int32_t>::max() || key[0] > std::numeric_limits<int32_t>::max())
    return op.emitOpError("expects a cache of at most 2^31 - 1 sequences and positions");
  splits = llvm::divideCeil(key[1], split);
  units = query[0] * query[1] / heads;
  return context.expectTiles(units * splits);
}

void DecodeAttentionEmission::printRange(CodeWriter& code) {
  int64_t perRow = query[1] / heads;
  bool oneSequence = op.getSequences().getType().getNumElements() == 1;
  int64_t window = std::min<int64_t>(op.getWindow(), std::numeric_limits<int32_t>::max());
  code.format("const int split = static_cast<int>(tile / %d);", units);
  code.format("const long long unit = tile %% %d;", units);
  code.format("const int row = static_cast<int>(unit / %d);", perRow);
  code.format("const int firstHead = static_cast<int>(unit %% %d) * %d;", perRow, heads);
  code.format("const KeyRange range = findKeys(%s[%s], %s[row], %d, %d, %s, %d);",
              context.pointer(op.getSequences()), oneSequence ? "0" : "row",
              context.pointer(op.getPositions()), key[0], key[1], op.getCausal() ? "true" : "false",
              window);
  code.line("const bool empty = range.begin >= range.end;");
  code.format("const int firstSplit = range.begin / %d;", split);
  code.format("const int lastSplit = empty ? firstSplit : (range.end - 1) / %d;", split);
  code.line("if (empty ? split != 0 : split < firstSplit || split > lastSplit)");
  code.line("  return;");
}

void DecodeAttentionEmission::printAttention(CodeWriter& code) {
  std::string keyType = deviceType(elementTypeOf(op.getKey().getType()));
  std::string valueType = deviceType(elementTypeOf(op.getValue().getType()));
  code.format("using Kernel = Attention<%s, %s, %d, %d, %d, %d, %d>;", keyType, valueType, heads,
              query[2], value[3], context.structure.threads, block);
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Kernel kernel(*reinterpret_cast<Kernel::Shared*>(memory));");
  code.format("kernel.loadQuery(%s + ((long long)row * %d + firstHead) * %d);",
              context.pointer(op.getQuery()), query[1], query[2]);
  code.format("const int begin = max(range.begin, split * %d);", split);
  code.format("const int end = static_cast<int>(min((long long)range.end, (split + 1LL) * %d));",
              split);
  // Where the row has no keys the sequence may be outside the cache.
  code.format("const long long cache = empty ? 0 : (long long)range.sequence * %d;",
              key[1] * key[2]);
  code.format("const int keyHead = firstHead / %d;", query[1] / key[2]);
  code.format("kernel.attend(%s + (cache + keyHead) * %d, %s + (cache + keyHead) * %d, %d, %d, "
              "empty ? 0 : begin, empty ? 0 : end, %s, %s);",
              context.pointer(op.getKey()), key[3], context.pointer(op.getValue()), value[3],
              key[2] * key[3], value[2] * value[3], floatLiteral(op.getScale().convertToDouble()),
              floatLiteral(op.getSoftcap().convertToDouble()));
}

void DecodeAttentionEmission::storeElement(CodeWriter& code, const std::string& element) {
  std::string type = deviceType(op.getType().getElementType());
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", heads * value[3],
                  context.structure.threads);
  code.format("const int h = i / %d, d = i %% %d;", value[3], value[3]);
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("%s[((long long)row * %d + firstHead) * %d + i] = fromFloat<%s>(%s);", pointer,
                query[1], value[3], type, element);
  code.close();
}

void DecodeAttentionEmission::printStore(CodeWriter& code) {
  code.open(splits > 1 ? "if (firstSplit == lastSplit)" : "");
  storeElement(code, "empty ? 0.0f : kernel.output(h, d) / kernel.shared.total[h]");
  if (splits > 1)
    code.line("return;");
  code.close();
  if (splits == 1)
    return;
  code.format("using Parts = AttentionParts<%d, %d>;", heads, value[3]);
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", heads * value[3],
                  context.structure.threads);
  code.format("const int h = i / %d, d = i %% %d;", value[3], value[3]);
  code.format("float* part = Parts::at(attentionParts, unit, %d, split, h);", splits);
  code.line("part[2 + d] = kernel.output(h, d);");
  code.open("if (d == 0)");
  code.line("part[0] = kernel.shared.largest[h];");
  code.line("part[1] = kernel.shared.total[h];");
  code.close();
  code.close();
  code.line("if (!arrivesLast(attentionArrivals + unit, lastSplit - firstSplit + 1))");
  code.line("  return;");
  storeElement(code, absl::StrFormat("Parts::combine(attentionParts, unit, %d, firstSplit, "
                                     "lastSplit, h, d)",
                                     splits));
}

LogicalResult DecodeAttentionEmission::emit() {
  if (failed(readSchedule()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"attention.cuh"};
  if (splits > 1) {
    structure.declarations.format("__device__ float attentionParts[%d];",
                                  units * splits * heads * (value[3] + 2));
    structure.declarations.format("__device__ unsigned attentionArrivals[%d];", units);
  }
  printRange(structure.begin(PhaseKind::Prologue,
                             {context.access(op.getSequences()), context.access(op.getPositions())},
                             {{MemorySpace::Registers, "range"}}));
  printAttention(structure.begin(
      PhaseKind::MainLoop,
      {context.access(op.getQuery()), context.access(op.getKey()), context.access(op.getValue())},
      {{MemorySpace::Shared, "kernel"}}));
  std::vector<Access> writes = context.results();
  if (splits > 1)
    writes.push_back({MemorySpace::Scratch, "attentionParts"});
  printStore(structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "kernel"}}, writes));
  return success();
}

static LogicalResult emitDecodeAttention(KernelContext& context) {
  auto op = context.soleOp<AttentionOp>();
  return op ? DecodeAttentionEmission(context, op).emit() : failure();
}

const Emitter decodeAttention = {"decode_attention", emitDecodeAttention};

} // namespace tenon::codegen::cuda::emitters
