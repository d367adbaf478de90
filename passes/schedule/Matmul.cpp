#include "passes/schedule/ScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule::rules {

namespace {

/// Accumulators of one block: rows of x times rows of the weight.
struct Block {
  int64_t rows, columns;
};

/// One row of x: many rows of the weight at once, each an accumulator, to hide the latency of the
/// multiply-add and keep many loads in flight. More rows: a block whose accumulators and operands
/// fill the registers.
Block chooseBlock(int64_t rows, const CpuTarget& target) {
  if (rows == 1)
    return {1, 8};
  if (target.registers >= 32)
    return rows < 6 ? Block{rows, 4} : Block{6, 4};
  return rows < 3 ? Block{rows, 4} : Block{3, 4};
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
  int64_t perTile = (rows == 1 ? streamedBytes : target.l2Bytes / 4) / rowBytes;
  perTile = std::max(perTile / block.columns, int64_t{1}) * block.columns;
  int64_t tiles = batches * llvm::divideCeil(columns, perTile);
  return makeSchedule(
      kernel, "matmul", tiles,
      {{"columns_per_tile", perTile}, {"column_block", block.columns}, {"row_block", block.rows}});
}

} // namespace

const ScheduleRule matmul = {matches, choose};

} // namespace tenon::passes::schedule::rules
