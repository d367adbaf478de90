#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/ProductLayout.h"
#include "kernels/cuda/ScheduleKind.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::kinds {

static constexpr int64_t floatBytes = 4, wordBytes = 16;

static int64_t rowsOf(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  int64_t batches = ShapedType::getNumElements(weight.getShape().drop_back(2));
  return op.getInput().getType().getNumElements() / weight.getShape().back() / batches;
}

/// Those of a loop over the depth with `sums` accumulators a thread.
static int64_t registersOf(int64_t sums) {
  constexpr int64_t least = 64, sumsOfLeast = 16, most = 255;
  int64_t more = detail::saturatingProduct({2, std::max<int64_t>(sums - sumsOfLeast, 0)});
  return std::min<int64_t>(most, llvm::alignTo(least + std::min(more, most), 8));
}

/// Partial sums of each warp; loads unrolled four times, the words of blocks and their parts.
static bool fillGemv(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t unrolled = 4, leastOfBlocks = 128;
  auto op = findOp<MatmulOp>(kernel);
  int64_t columns = sizeParameter(kernel, "columns_per_warp");
  int64_t vector = sizeParameter(kernel, "vector");
  if (!op || columns < 1 || vector < 1)
    return false;
  resources.registers = registersOf(detail::saturatingProduct({rowsOf(op), columns, vector}));
  if (getEncoding(op.getWeight().getType().getElementType())->isBlockQuantized())
    resources.registers = std::clamp(resources.registers + 16, leastOfBlocks, mostRegisters);
  resources.bytesAThread = unrolled * wordBytes * columns;
  resources.staticSmemBytes =
      detail::saturatingProduct({floatBytes * (resources.threads / 32), rowsOf(op), columns});
  return true;
}

/// The factors' parts of one step, transposed, with four floats of padding a row.
static bool fillGemm(KernelOp, BlockResources& resources) {
  constexpr int64_t depth = 16, pitch = 64 + 4;
  resources.registers = 80;
  resources.staticSmemBytes = 2 * depth * pitch * floatBytes;
  return true;
}

/// Rings of pieces of 16 rows of W, sums of each warp's part of the depth, norms in front.
static bool fillNarrowGemm(KernelOp kernel, BlockResources& resources) {
  auto op = findOp<MatmulOp>(kernel);
  int64_t stages = sizeParameter(kernel, "stages"), warps = resources.threads / 32;
  resources.blocksPerSm = sizeParameter(kernel, "blocks_per_sm");
  constexpr int64_t mostRows = 16;
  if (!op || stages < 1 || resources.blocksPerSm < 1 || rowsOf(op) > mostRows)
    return false;
  llvm::SmallSetVector<Value, 2> norms;
  for (auto product : kernel.getBlock().getOps<MatmulOp>())
    if (!llvm::isa<BlockArgument>(product.getInput()))
      norms.insert(product.getInput());
  NarrowGemmMemory memory = {rowsOf(op)};
  resources.registers = mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread = stages * 4 * wordBytes;
  resources.dynamicSmemBytes =
      detail::saturatingProduct({warps * memory.pieceBytes, stages}) + warps * memory.partBytes();
  for (Value norm : norms) {
    int64_t depth = llvm::cast<RankedTensorType>(norm.getType()).getShape().back();
    resources.dynamicSmemBytes =
        detail::saturatingSum({resources.dynamicSmemBytes, memory.inputBytes(depth)});
  }
  return true;
}

/// A ring of three stages of 32 elements of the depth, rows padded to 40; two are on their way.
static bool fillTensorGemm(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t columns = 128, pitchBytes = 80, stages = 3;
  int64_t rows = sizeParameter(kernel, "tile_rows");
  int64_t stageBytes = (rows + columns) * pitchBytes;
  resources.registers = 64 + rows / 2;
  resources.tensorCores = true;
  resources.dynamicSmemBytes = stages * stageBytes;
  resources.bytesAThread = (stages - 1) * stageBytes / resources.threads;
  return true;
}

/// Rings of the warps, the inputs and the sums (ProductLayout).
static bool fillGemvBulk(KernelOp kernel, BlockResources& resources) {
  ProductRegion region;
  ProductLayout layout;
  if (!readProductRegion(kernel, region).empty() ||
      !layOutProducts(region, kernel.getScheduleAttr(), layout).empty())
    return false;
  bool isBlockQuantized =
      getEncoding(region.first().getWeight().getType().getElementType())->isBlockQuantized();
  constexpr int64_t least = 72, leastOfBlocks = 104; // words of a block and their parts
  resources.registers =
      std::max(registersOf(region.rows * layout.vector), isBlockQuantized ? leastOfBlocks : least);
  // Weights of norms and x wait in registers; the rings leave a multiprocessor one block all the same.
  bool hasNorm =
      llvm::any_of(region.inputs, [](const ProductRegion::Input& input) { return input.norm; });
  // Rows of x share the loads of quants, beyond the registers that a second block would leave.
  bool sharesQuants = layout.onTensorCores && region.rows > 1;
  resources.blocksPerSm = sharesQuants ? 1 : 0;
  if (hasNorm || layout.held || sharesQuants)
    resources.registers = mostRegisters;
  resources.dynamicSmemBytes = layout.smemBytes;
  resources.bytesAThread = layout.stages * layout.stageBytes / 32;
  return true;
}

const ScheduleKind gemv = {"gemv", fillGemv};
const ScheduleKind gemm = {"gemm", fillGemm, /*fixedThreads=*/256};
const ScheduleKind narrowGemm = {"narrow_gemm", fillNarrowGemm};
const ScheduleKind tensorGemm = {"tensor_gemm", fillTensorGemm, /*fixedThreads=*/256};
const ScheduleKind gemvBulk = {"gemv_bulk", fillGemvBulk};

} // namespace tenon::kernels::kinds
