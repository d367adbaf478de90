#include "kernels/cpu/GemmBlock.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace tenon::kernels {

/// Of quants, what `quantized_matmul` unpacks.
bool isMultiplied(MatmulOp op) {
  constexpr std::string_view unpacked[] = {"q8_0", "q4_0", "q4_k", "q6_k"};
  std::string_view name = getEncoding(op.getWeight().getType().getElementType())->name;
  return !op.isQuantized() || llvm::is_contained(unpacked, name);
}

/// One row of x: four rows of the weight at once, to hide the latency of the multiply-add; more
/// streams, at the same place of pages, would compete for the sets of the first-level cache. More
/// rows: a block whose accumulators and operands fill the registers.
GemmBlock chooseGemmBlock(int64_t rows, const CpuTarget& target) {
  bool manyRegisters = target.registers >= 32;
  if (rows == 1)
    return {1, 4};
  return {std::min<int64_t>(rows, manyRegisters ? 6 : 3), manyRegisters ? 4 : 3};
}

/// Elements of K that the inner loop takes at once: whole vectors and blocks, and at least a cache
/// line of each row of the weight, which is prefetched once a step.
int64_t chooseGemmStep(const Encoding& encoding, const CpuTarget& target) {
  constexpr int64_t cacheLineBytes = 64;
  int64_t step = std::max(target.lanes, encoding.blockSize);
  return step * llvm::divideCeil(cacheLineBytes, encoding.bytesFor(step));
}

int64_t chooseStreamedColumns(int64_t rowBytes, const GemmBlock& block) {
  constexpr int64_t streamedBytes = int64_t(64) * 1024;
  return std::max(streamedBytes / rowBytes / block.columns * block.columns, block.columns);
}

} // namespace tenon::kernels

namespace tenon::kernels::rules {

namespace {

/// y [batches, rows, columns] = x [batches, rows, depth] · W [batches, columns, depth]ᵀ.
struct Shape {
  int64_t batches, rows, columns, depth, weightRowBytes;
};

Shape getShape(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  int64_t depth = weight.getShape().back(), columns = weight.getShape().end()[-2];
  int64_t batches = weight.getNumElements() / (depth * columns);
  int64_t rows = op.getInput().getType().getNumElements() / (depth * batches);
  return {batches, rows, columns, depth, *getStorageBytes(weight) / (columns * batches)};
}

bool matches(KernelOp kernel) {
  MatmulOp op = soleOp<MatmulOp>(kernel);
  return op && isMultiplied(op);
}

/// One pass of the rows of x over the weight: what counts is reading it. A tile is some rows of the
/// weight and all rows of x.
ScheduleAttr chooseStreaming(KernelOp kernel, const Shape& shape, const GemmBlock& block,
                             const CpuTarget& target) {
  MatmulOp op = soleOp<MatmulOp>(kernel);
  int64_t perTile = chooseStreamedColumns(shape.weightRowBytes, block);
  // The next block of weight rows is asked for while this one is multiplied: hardware prefetchers
  // lose track where several short rows end at once. Measured 2026-11-21 on Zen 5, [1, 2048] x
  // [32768, 2048], one thread, CPU time on a loaded machine, GB/s without and with: q8_0 18, 35;
  // f16 24, 33; f32 31, 38.
  return makeSchedule(
      kernel, "matmul", shape.batches * llvm::divideCeil(shape.columns, perTile),
      {{"columns_per_tile", perTile},
       {"column_block", block.columns},
       {"row_block", block.rows},
       {"step", chooseGemmStep(*getEncoding(op.getWeight().getType().getElementType()), target)},
       {"prefetch_bytes", block.columns * shape.weightRowBytes}});
}

/// Many rows of x: weights are decoded once for all of them, a part of K at a time so that what is
/// decoded (an eighth of the second-level cache) and the sums (a quarter) stay near. A tile is at
/// most 64 rows of the weight, in whole blocks and, for storing, whole vectors; fewer where there
/// would be less than 16 tiles for the cores to share.
///
/// Measured 2026-11-21 with a prototype in C++ on Zen 5, two threads, 64 rows of x times f16
/// weights [8192, 2048] and [2048, 8192], GFLOP/s of 518: parts of 256 elements 360, 362; 512: 371,
/// 382; 1,024: 359, 374; 32 rows a tile and 512: 365, 367; without prefetching 330, 337.
ScheduleAttr choosePacked(KernelOp kernel, const Shape& shape, const GemmBlock& block,
                          const CpuTarget& target) {
  constexpr int64_t floatBytes = 4, mostColumns = 64, mostDepth = 512, leastTiles = 16;
  MatmulOp op = soleOp<MatmulOp>(kernel);
  const Encoding& encoding = *getEncoding(op.getWeight().getType().getElementType());
  int64_t unit = std::max(target.lanes, encoding.blockSize);
  int64_t depthBlock =
      std::min<int64_t>(std::max(mostDepth, unit), llvm::alignTo(shape.depth, unit));
  int64_t granule = std::lcm(block.columns, target.lanes);
  int64_t fitting = target.l2Bytes / 8 / (depthBlock * floatBytes);
  int64_t wanted = std::min({fitting, mostColumns, shape.columns / leastTiles});
  int64_t perTile = std::max(wanted / granule, int64_t(1)) * granule;
  int64_t mostRows = target.l2Bytes / 4 / (perTile * target.lanes * floatBytes);
  int64_t passes = llvm::divideCeil(shape.rows, std::max(mostRows, block.rows));
  return makeSchedule(kernel, "packed_matmul",
                      shape.batches * llvm::divideCeil(shape.columns, perTile),
                      {{"columns_per_tile", perTile},
                       {"column_block", block.columns},
                       {"row_block", block.rows},
                       {"rows_per_pass", llvm::divideCeil(shape.rows, passes)},
                       {"depth_block", depthBlock}});
}

/// Rows of x and native vectors of columns whose sums fill the registers: each sum is a vector of
/// integers and one of what the block's earlier groups, or blocks, gave.
GemmBlock chooseQuantizedBlock(int64_t rows, const CpuTarget& target) {
  constexpr int64_t vectors = 2;
  int64_t most = target.registers >= 32 ? 6 : 2, blocks = llvm::divideCeil(rows, most);
  return {static_cast<int64_t>(llvm::divideCeil(rows, blocks)), vectors};
}

/// Quants times quants. A tile streams as much as one of a GEMM of floats does, in whole blocks
/// of columns, but there are at least 16 tiles for the cores to share. The sums of a pass lie in
/// the first-level cache.
ScheduleAttr chooseQuantized(KernelOp kernel, const Shape& shape, const CpuTarget& target) {
  constexpr int64_t streamedBytes = int64_t(64) * 1024, leastTiles = 16, mostRows = 256;
  GemmBlock block = chooseQuantizedBlock(shape.rows, target);
  int64_t columns = block.columns * target.lanes;
  int64_t wanted = std::min(streamedBytes / shape.weightRowBytes, shape.columns / leastTiles);
  int64_t perTile = std::max(wanted / columns, int64_t(1)) * columns;
  int64_t passes = llvm::divideCeil(shape.rows, mostRows);
  return makeSchedule(kernel, "quantized_matmul",
                      shape.batches * llvm::divideCeil(shape.columns, perTile),
                      {{"columns_per_tile", perTile},
                       {"column_vectors", block.columns},
                       {"row_block", block.rows},
                       {"rows_per_pass", llvm::divideCeil(shape.rows, passes)},
                       {"prefetch_bytes", columns * shape.weightRowBytes}});
}

ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  MatmulOp op = soleOp<MatmulOp>(kernel);
  if (op.isQuantized()) {
    op.setOrderAttr(makeOrder(kernel.getContext(), /*lanes=*/1));
    return chooseQuantized(kernel, getShape(op), target);
  }
  op.setOrderAttr(makeOrder(kernel.getContext(), target.lanes));
  Shape shape = getShape(op);
  GemmBlock block = chooseGemmBlock(shape.rows, target);
  return shape.rows <= block.rows ? chooseStreaming(kernel, shape, block, target)
                                  : choosePacked(kernel, shape, block, target);
}

/// Tiles of half, twice and four times as many columns, in whole blocks; the sums stay as they are.
llvm::SmallVector<ScheduleAttr> alternatives(KernelOp kernel, const CpuTarget& target) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  Shape shape = getShape(soleOp<MatmulOp>(kernel));
  int64_t perTile = *schedule.getParameter("columns_per_tile");
  int64_t granule = std::lcm(*schedule.getParameter("column_block"), target.lanes);
  llvm::SmallVector<ScheduleAttr> others;
  for (int64_t wanted : {perTile / 2, 2 * perTile, 4 * perTile}) {
    int64_t columns = wanted / granule * granule;
    if (columns == 0 || columns == perTile || columns > shape.columns)
      continue;
    llvm::SmallVector<NamedAttribute> parameters(schedule.getParameters().getValue());
    for (NamedAttribute& parameter : parameters)
      if (parameter.getName() == "columns_per_tile")
        parameter.setValue(Builder(kernel.getContext()).getI64IntegerAttr(columns));
    others.push_back(ScheduleAttr::get(kernel.getContext(), schedule.getEmitter(),
                                       shape.batches * llvm::divideCeil(shape.columns, columns),
                                       DictionaryAttr::get(kernel.getContext(), parameters)));
  }
  return others;
}

} // namespace

extern const ScheduleRule matmul = {matches, choose, alternatives};

} // namespace tenon::kernels::rules
