#include "codegen/cuda/emitters/RowAttention.h"

#include <limits>

#include "ir/AttentionRows.h"

using namespace mlir;

namespace tenon::codegen::cuda {

RowAttention::RowAttention(KernelContext& kernelContext, AttentionOp attention)
    : context(kernelContext), op(attention), query(shapeOf(op.getQuery().getType())),
      keyCache(op.getKey().getType(), op.getBlockTable()),
      valueCache(op.getValue().getType(), op.getBlockTable()), sharing(query[1] / keyCache.heads) {}

LogicalResult RowAttention::read(int64_t headsPerTile, int64_t mostSplits) {
  heads = headsPerTile, splits = mostSplits;
  if (heads > 8 || sharing % heads != 0)
    return context.kernel.emitOpError("expects heads_per_tile of at most 8 that divides the ")
           << sharing << " query heads of a key head, but got " << heads;
  if (keyCache.capacity > std::numeric_limits<int32_t>::max() / 2 ||
      keyCache.sequences > std::numeric_limits<int32_t>::max())
    return op.emitOpError("expects a cache of at most 2^30 positions and 2^31 - 1 sequences, but "
                          "got ")
           << keyCache.capacity << " and " << keyCache.sequences;
  units = op.getType().getShape()[0] * query[1] / heads;
  return context.expectTiles(units * splits);
}

std::vector<Access> RowAttention::rangeReads() {
  std::vector<Access> reads = {context.access(op.getSequences()),
                               context.access(op.getPositions())};
  if (op.getBlockTable())
    reads.push_back(context.access(op.getBlockTable()));
  return reads;
}

std::string RowAttention::sequenceOf(const std::string& row) {
  AttentionRows of(op);
  std::string index = of.sequences == 1 ? "0"
                      : of.rows == 1    ? row
                                        : absl::StrFormat("%s / %d", row, of.rows);
  return absl::StrFormat("%s[%s]", context.pointer(op.getSequences()), index);
}

void RowAttention::printRange(CodeWriter& code, const std::string& leastKeys,
                              const std::string& step, bool byPart) {
  int64_t perRow = query[1] / heads;
  int64_t window = std::min<int64_t>(op.getWindow(), std::numeric_limits<int32_t>::max());
  code.format("const int part = static_cast<int>(tile %s %d);", byPart ? "/" : "%",
              byPart ? units : splits);
  code.format("const long long unit = tile %s %d;", byPart ? "%" : "/", byPart ? units : splits);
  code.format("const int row = static_cast<int>(unit / %d);", perRow);
  code.format("const int firstHead = static_cast<int>(unit %% %d) * %d;", perRow, heads);
  code.format("const int keyHead = firstHead / %d;", sharing);
  code.format("using Cache = %s;", deviceCache(keyCache));
  if (keyCache.isRing())
    code.format("const RingKeys range = findRingKeys<Cache>(%s, %s[row], %d);", sequenceOf("row"),
                context.pointer(op.getPositions()), window);
  else
    code.format("const KeyRange range = findKeys<Cache>(%s, %s[row], %s, %d);", sequenceOf("row"),
                context.pointer(op.getPositions()), op.getCausal() ? "true" : "false", window);
  code.line("const bool empty = range.begin >= range.end;");
  code.format("const KeySplit cut(empty ? 1 : range.end - range.begin, %d, %s, %s);", splits,
              leastKeys, step);
  code.line("if (part >= cut.parts)");
  code.line("  return;");
  code.line("const int begin = empty ? 0 : range.begin + part * cut.keys;");
  code.line("const int end = empty ? 0 : part == cut.parts - 1 ? range.end : begin + cut.keys;");
  if (keyCache.isPaged()) {
    code.format("const int* const blocks = Cache::blocksOf(%s, empty ? 0 : range.sequence);",
                context.pointer(op.getBlockTable()));
    return;
  }
  // Where the row has no keys the sequence may be outside the cache.
  // Not the head of sequence 0: that takes 8 bytes beyond the registers (NVRTC 13.0).
  code.line(
      "const long long cacheHead = empty ? keyHead : Cache::headRow(range.sequence, 0, keyHead);");
}

std::string RowAttention::keyPointer(const std::string& base) {
  return absl::StrFormat("%s + cacheHead * %d", base, headUnits(keyCache));
}

std::string RowAttention::valuePointer(const std::string& base) {
  return absl::StrFormat("%s + cacheHead * %d", base, headUnits(valueCache));
}

std::string RowAttention::headRows(const std::string& base, const std::string& first) {
  return keyCache.isPaged() ? "{" + base + ", blocks, keyHead}" : "{" + first + "}";
}

std::string RowAttention::resultPointer(const std::string& destination, const std::string& index) {
  return absl::StrFormat("%s + ((long long)row * %d + firstHead) * %d + %s", destination, query[1],
                         valueCache.size, index);
}

} // namespace tenon::codegen::cuda
