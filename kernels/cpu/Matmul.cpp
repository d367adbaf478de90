#include "kernels/cpu/Matmul.h"

#include "kernels/cpu/GemmBlock.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

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

namespace tenon::kernels::cpu {

static std::optional<PartTile> tileOfColumns(Operation* op, int64_t columnsPerTile) {
  auto matmul = llvm::dyn_cast<MatmulOp>(op);
  if (!matmul || matmul.getType().getRank() == 0)
    return std::nullopt;
  return PartTile::ofColumns(columnsPerTile, matmul.getType());
}

std::optional<PartTile> DotBlockSchedule::tileOf(Operation* op) const {
  return tileOfColumns(op, columnsPerTile);
}

std::optional<PartTile> PackedMatmulSchedule::tileOf(Operation* op) const {
  return tileOfColumns(op, columnsPerTile);
}

std::optional<PartTile> QuantizedMatmulSchedule::tileOf(Operation* op) const {
  return tileOfColumns(op, columnsPerTile);
}

/// A GEMM of floats, or of quants.
template <typename Kernel> static VerdictOr<Kernel> readMatmul(KernelOp kernel, bool isQuantized) {
  MatmulOp op = soleOp<MatmulOp>(kernel);
  if (op && op.isQuantized() != isQuantized)
    return Refusal{"expects " +
                   std::string(isQuantized ? "a quantised input" : "an input of floats") +
                   " for this emitter, but got " + detail::formatType(op.getInput().getType())};
  return readSole<Kernel>(kernel);
}

VerdictOr<MatmulKernel> MatmulKernel::read(KernelOp kernel) {
  return readMatmul<MatmulKernel>(kernel, /*isQuantized=*/false);
}

VerdictOr<PackedMatmulKernel> PackedMatmulKernel::read(KernelOp kernel) {
  return readMatmul<PackedMatmulKernel>(kernel, /*isQuantized=*/false);
}

VerdictOr<QuantizedMatmulKernel> QuantizedMatmulKernel::read(KernelOp kernel) {
  return readMatmul<QuantizedMatmulKernel>(kernel, /*isQuantized=*/true);
}

namespace kinds {
extern constexpr CpuKernelKind matmul = kindOf<MatmulKernel>();
extern constexpr CpuKernelKind packedMatmul = kindOf<PackedMatmulKernel>();
extern constexpr CpuKernelKind quantizedMatmul = kindOf<QuantizedMatmulKernel>();
} // namespace kinds

namespace {

/// A GEMM, and the bytes of a row of its weight.
struct Shape : MatmulExtents {
  explicit Shape(MatmulOp op)
      : MatmulExtents(op),
        weightRowBytes(*getStorageBytes(op.getWeight().getType()) / (columns * batches)) {}

  int64_t tilesOf(int64_t columnsPerTile) const {
    return batches * static_cast<int64_t>(llvm::divideCeil(columns, columnsPerTile));
  }

  int64_t weightRowBytes;
};

const Encoding& weightEncoding(MatmulOp op) {
  return *getEncoding(op.getWeight().getType().getElementType());
}

/// One pass of the rows of x over the weight: what counts is reading it. A tile is some rows of the
/// weight and all rows of x.
MatmulKernel chooseStreaming(MatmulOp op, const Shape& shape, const GemmBlock& block,
                             const CpuTarget& target) {
  int64_t perTile = chooseStreamedColumns(shape.weightRowBytes, block);
  // The next block of weight rows is asked for while this one is multiplied: hardware prefetchers
  // lose track where several short rows end at once. Measured 2026-11-21 on Zen 5, [1, 2048] x
  // [32768, 2048], one thread, CPU time on a loaded machine, GB/s without and with: q8_0 18, 35;
  // f16 24, 33; f32 31, 38.
  return {op,
          {.tiles = shape.tilesOf(perTile),
           .columnsPerTile = perTile,
           .columnBlock = block.columns,
           .rowBlock = block.rows,
           .step = chooseGemmStep(weightEncoding(op), target),
           .prefetchBytes = block.columns * shape.weightRowBytes}};
}

/// Many rows of x: weights are decoded once for all of them, a part of K at a time so that what is
/// decoded (an eighth of the second-level cache) and the sums (a quarter) stay near. A tile is at
/// most 64 rows of the weight, in whole blocks and, for storing, whole vectors; fewer where there
/// would be less than 16 tiles for the cores to share.
///
/// Measured 2026-11-21 with a prototype in C++ on Zen 5, two threads, 64 rows of x times f16
/// weights [8192, 2048] and [2048, 8192], GFLOP/s of 518: parts of 256 elements 360, 362; 512: 371,
/// 382; 1,024: 359, 374; 32 rows a tile and 512: 365, 367; without prefetching 330, 337.
PackedMatmulKernel choosePacked(MatmulOp op, const Shape& shape, const GemmBlock& block,
                                const CpuTarget& target) {
  constexpr int64_t floatBytes = 4, mostColumns = 64, mostDepth = 512, leastTiles = 16;
  int64_t unit = std::max(target.lanes, weightEncoding(op).blockSize);
  int64_t depthBlock =
      std::min<int64_t>(std::max(mostDepth, unit), llvm::alignTo(shape.depth, unit));
  int64_t granule = std::lcm(block.columns, target.lanes);
  int64_t fitting = target.l2Bytes / 8 / (depthBlock * floatBytes);
  int64_t wanted = std::min({fitting, mostColumns, shape.columns / leastTiles});
  int64_t perTile = std::max(wanted / granule, int64_t(1)) * granule;
  int64_t mostRows = target.l2Bytes / 4 / (perTile * target.lanes * floatBytes);
  int64_t passes = llvm::divideCeil(shape.rows, std::max(mostRows, block.rows));
  return {op,
          {.tiles = shape.tilesOf(perTile),
           .columnsPerTile = perTile,
           .columnBlock = block.columns,
           .rowBlock = block.rows,
           .rowsPerPass = static_cast<int64_t>(llvm::divideCeil(shape.rows, passes)),
           .depthBlock = depthBlock}};
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
QuantizedMatmulKernel chooseQuantized(MatmulOp op, const Shape& shape, const CpuTarget& target) {
  constexpr int64_t streamedBytes = int64_t(64) * 1024, leastTiles = 16, mostRows = 256;
  GemmBlock block = chooseQuantizedBlock(shape.rows, target);
  int64_t columns = block.columns * target.lanes;
  int64_t wanted = std::min(streamedBytes / shape.weightRowBytes, shape.columns / leastTiles);
  int64_t perTile = std::max(wanted / columns, int64_t(1)) * columns;
  int64_t passes = llvm::divideCeil(shape.rows, mostRows);
  return {op,
          {.tiles = shape.tilesOf(perTile),
           .columnsPerTile = perTile,
           .columnVectors = block.columns,
           .rowBlock = block.rows,
           .rowsPerPass = static_cast<int64_t>(llvm::divideCeil(shape.rows, passes)),
           .prefetchBytes = columns * shape.weightRowBytes}};
}

} // namespace

AnyMatmulKernel chooseMatmul(MatmulOp op, const CpuTarget& target) {
  Shape shape(op);
  op.setOrderAttr(makeOrder(op.getContext(), op.isQuantized() ? 1 : target.lanes));
  if (op.isQuantized())
    return chooseQuantized(op, shape, target);
  GemmBlock block = chooseGemmBlock(shape.rows, target);
  if (shape.rows <= block.rows)
    return chooseStreaming(op, shape, block, target);
  return choosePacked(op, shape, block, target);
}

ScheduleAttr printWithColumns(AnyMatmulKernel kernel, int64_t columns, int64_t tiles) {
  auto print = [&](auto& matmul) {
    matmul.schedule.columnsPerTile = columns;
    matmul.schedule.tiles = tiles;
    return printSchedule(matmul.op.getContext(), matmul.name, matmul.schedule);
  };
  return std::visit(print, kernel);
}

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) {
  MatmulOp op = soleOp<MatmulOp>(kernel);
  return op && isMultiplied(op);
}

static ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  auto print = [&](const auto& matmul) {
    return printSchedule(kernel.getContext(), matmul.name, matmul.schedule);
  };
  return std::visit(print, chooseMatmul(soleOp<MatmulOp>(kernel), target));
}

/// Tiles of half, twice and four times as many columns, in whole blocks; the sums stay as they are.
template <typename Kernel>
static llvm::SmallVector<ScheduleAttr> alternativesOf(KernelOp kernel, const CpuTarget& target) {
  VerdictOr<Kernel> matmul = Kernel::read(kernel);
  if (!matmul)
    return {};
  Shape shape(matmul->op);
  int64_t perTile = matmul->schedule.columnsPerTile;
  int64_t granule = matmul->schedule.columnGranule(target.lanes);
  llvm::SmallVector<ScheduleAttr> others;
  for (int64_t wanted : {perTile / 2, 2 * perTile, 4 * perTile})
    if (int64_t columns = wanted / granule * granule;
        columns > 0 && columns != perTile && columns <= shape.columns)
      others.push_back(printWithColumns(*matmul, columns, shape.tilesOf(columns)));
  return others;
}

static llvm::SmallVector<ScheduleAttr> alternatives(KernelOp kernel, const CpuTarget& target) {
  llvm::StringRef kind = kernel.getScheduleAttr().getEmitter();
  if (kind == MatmulKernel::name)
    return alternativesOf<MatmulKernel>(kernel, target);
  return kind == PackedMatmulKernel::name ? alternativesOf<PackedMatmulKernel>(kernel, target)
                                          : alternativesOf<QuantizedMatmulKernel>(kernel, target);
}

extern const ScheduleRule matmul = {matches, choose, alternatives};

} // namespace tenon::kernels::cpu::rules
