#include "passes/schedule/ScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule::rules {

namespace {

constexpr int64_t cacheLineBytes = 64;

/// Accumulators of one block: rows of x times rows of the weight.
struct Block {
  int64_t rows, columns;
};

/// One row of x: four rows of the weight at once, to hide the latency of the multiply-add; more
/// streams, at the same place of pages, would compete for the sets of the first-level cache. More
/// rows: a block whose accumulators and operands
/// fill the registers.
Block chooseBlock(int64_t rows, const CpuTarget& target) {
  bool manyRegisters = target.registers >= 32;
  if (rows == 1)
    return {1, 4};
  return {std::min<int64_t>(rows, manyRegisters ? 6 : 3), manyRegisters ? 4 : 3};
}

/// Elements of K that the inner loop takes at once: whole vectors, and blocks where it decodes;
/// where weights are streamed, at least a cache line of each row, which is prefetched once a step.
int64_t chooseStep(const Encoding& encoding, bool isStreamed, bool isDecoded,
                   const CpuTarget& target) {
  int64_t step = isDecoded ? target.lanes : std::max(target.lanes, encoding.blockSize);
  if (isStreamed)
    step *= llvm::divideCeil(cacheLineBytes, encoding.bytesFor(step));
  return step;
}

/// Rows of the weight that a quarter of the second-level cache holds at `bytes` each, in whole
/// blocks; at most 32, which is enough to use each element of x often and leaves tiles for all
/// cores.
int64_t fittingColumns(int64_t bytes, const Block& block, const CpuTarget& target) {
  constexpr int64_t mostColumns = 32;
  return std::min(target.l2Bytes / 4 / bytes, mostColumns) / block.columns * block.columns;
}

/// Rows of the weight that are decoded to f32 in memory at once; 0: decode in registers, each time
/// anew. Worth it for block formats, whose decoding costs several instructions a vector, and rows
/// that use it again.
int64_t chooseDecodedColumns(RankedTensorType weight, int64_t rows, const Block& block,
                             const CpuTarget& target) {
  if (rows <= block.rows || !llvm::isa<BlockType>(weight.getElementType()))
    return 0;
  constexpr int64_t floatBytes = 4;
  return fittingColumns(weight.getShape().back() * floatBytes, block, target);
}

bool matches(KernelOp kernel) { return bool(soleOp<MatmulOp>(kernel)); }

/// A tile is some rows of the weight and all rows of x: its weights are read once from memory and
/// stay in a core's cache while the rows of x pass by.
ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  constexpr int64_t streamedBytes = 64 * 1024;
  auto op = soleOp<MatmulOp>(kernel);
  op.setOrderAttr(makeOrder(kernel.getContext(), target.lanes));
  RankedTensorType weight = op.getWeight().getType();
  int64_t depth = weight.getShape().back(), columns = weight.getShape().end()[-2];
  int64_t batches = weight.getNumElements() / (depth * columns);
  int64_t rows = op.getInput().getType().getNumElements() / (depth * batches);
  int64_t rowBytes = *getStorageBytes(weight) / (columns * batches);
  Block block = chooseBlock(rows, target);
  int64_t decoded = chooseDecodedColumns(weight, rows, block, target);
  // One pass of the rows of x over the weight: what counts is reading it.
  bool isStreamed = rows <= block.rows;
  int64_t perTile = decoded;
  if (isStreamed)
    perTile = streamedBytes / rowBytes / block.columns * block.columns;
  else if (decoded == 0)
    perTile = fittingColumns(rowBytes, block, target);
  perTile = std::max(perTile, block.columns);
  int64_t step = chooseStep(*getEncoding(weight.getElementType()), isStreamed, decoded > 0, target);
  int64_t tiles = batches * llvm::divideCeil(columns, perTile);
  // The next block of weight rows is asked for while this one is multiplied: hardware prefetchers
  // lose track where several short rows end at once. Measured 2026-11-21 on Zen 5, [1, 2048] x
  // [32768, 2048], one thread, CPU time on a loaded machine, GB/s without and with: q8_0 18, 35;
  // f16 24, 33; f32 31, 38.
  int64_t prefetchBytes = isStreamed ? block.columns * rowBytes : 0;
  return makeSchedule(kernel, "matmul", tiles,
                      {{"columns_per_tile", perTile},
                       {"column_block", block.columns},
                       {"row_block", block.rows},
                       {"step", step},
                       {"decoded_columns", decoded},
                       {"prefetch_bytes", prefetchBytes}});
}

} // namespace

const ScheduleRule matmul = {matches, choose};

} // namespace tenon::passes::schedule::rules
