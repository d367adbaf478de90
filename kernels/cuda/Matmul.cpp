#include "kernels/cuda/CudaScheduleRule.h"

#include <limits>

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cuda_rules {

namespace {

/// y [batches, rows, columns], the sum over `depth`.
struct Extents {
  int64_t batches, rows, columns, depth;
};

bool isHero(Operation& op) { return llvm::isa<MatmulOp>(op); }

bool matches(KernelOp kernel, const CudaTarget&) {
  return refuse(forms::cudaMatmul, kernel).empty();
}

Extents extentsOf(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  int64_t depth = weight.getShape().back(), columns = weight.getShape().end()[-2];
  int64_t batches = weight.getNumElements() / (columns * depth);
  return {batches, op.getInput().getType().getNumElements() / (depth * batches), columns, depth};
}

/// Chunks of whole lanes, one a warp: enough warps that few rows of W still fill the memory system
/// (`gemv_warps` of the target).
int64_t chooseSplit(const Extents& extents, int64_t lanes, int64_t warps,
                    const CudaTarget& target) {
  for (int64_t split = warps; split > 1; split /= 2) {
    int64_t chunk = llvm::alignTo(llvm::divideCeil(extents.depth, split), lanes);
    bool useful = extents.batches * extents.columns * (split / 2) < target.gemvWarps;
    if (useful && chunk >= 2 * lanes &&
        llvm::divideCeil(extents.depth, chunk) == static_cast<uint64_t>(split))
      return split;
  }
  return 1;
}

ScheduleAttr chooseGemv(KernelOp kernel, MatmulOp op, const Extents& extents,
                        const CudaTarget& target) {
  constexpr int64_t threads = 256, warps = threads / 32;
  int64_t vector =
      dividingPower(extents.depth, op.getWeight().getType().getElementType().isF32() ? 4 : 8);
  int64_t lanes = 32 * vector;
  int64_t columns = extents.rows == 1 && extents.columns >= 16384 ? 2 : 1;
  int64_t split = chooseSplit(extents, lanes, warps, target);
  int64_t chunk = split == 1 ? 0 : llvm::alignTo(llvm::divideCeil(extents.depth, split), lanes);
  op.setOrderAttr(makeOrder(kernel.getContext(), lanes, chunk));
  int64_t perTile = warps / split * columns;
  return makeSchedule(
      kernel, "gemv", extents.batches * llvm::divideCeil(extents.columns, perTile),
      {{"threads", threads}, {"vector", vector}, {"columns_per_warp", columns}, {"split", split}});
}

/// Rows from which on libraries compute GEMMs.
int64_t fewestLibraryRows(const CudaTarget& target) {
  switch (target.libraries.gemms) {
  case LibraryGemms::None:
    return std::numeric_limits<int64_t>::max();
  case LibraryGemms::ManyRows:
    return std::max(target.libraryRows, mostFewRows + 1);
  case LibraryGemms::All:
    return target.libraryRows;
  }
}

/// Whether the kernel is a product that cuBLASLt computes: factors of one plain type, the result in
/// that type or f32, and rows enough that a library's tiles are used.
bool suitsLibrary(KernelOp kernel, MatmulOp op, const Extents& extents, const CudaTarget& target) {
  Type input = op.getInput().getType().getElementType();
  Type weight = op.getWeight().getType().getElementType(), result = op.getType().getElementType();
  return soleOp<MatmulOp>(kernel) && extents.batches == 1 &&
         extents.rows >= fewestLibraryRows(target) && input == weight &&
         (result == input || result.isF32()) && op.getInput() != op.getWeight();
}

/// A workspace of 32 MiB, what NVIDIA recommends for Hopper (cuBLAS documentation,
/// cublasSetWorkspace).
ScheduleAttr chooseLibrary(KernelOp kernel, MatmulOp op, const CudaTarget& target) {
  constexpr int64_t workspaceBytes = 32 << 20;
  if (target.libraries.tf32 && op.getInput().getType().getElementType().isF32())
    return makeSchedule(kernel, "cublaslt", /*tiles=*/1,
                        {{"workspace_bytes", workspaceBytes}, {"tf32", 1}});
  return makeSchedule(kernel, "cublaslt", /*tiles=*/1, {{"workspace_bytes", workspaceBytes}});
}

/// Tiles of 128 rows, or of 64 where those would leave multiprocessors without work.
ScheduleAttr chooseTensorGemm(KernelOp kernel, const Extents& extents, const CudaTarget& target) {
  constexpr int64_t tileColumns = 128;
  auto tiles = [&](int64_t rows) {
    return static_cast<int64_t>(llvm::divideCeil(extents.rows, rows) *
                                llvm::divideCeil(extents.columns, tileColumns));
  };
  int64_t tileRows = extents.rows > 64 && tiles(128) >= target.sms ? 128 : 64;
  return makeSchedule(kernel, "tensor_gemm", tiles(tileRows), {{"tile_rows", tileRows}});
}

ScheduleAttr choose(KernelOp kernel, const CudaTarget& target) {
  constexpr int64_t tile = 64;
  auto op = llvm::cast<MatmulOp>(*llvm::find_if(kernel.getBlock(), isHero));
  Extents extents = extentsOf(op);
  op.removeOrderAttr(); // tensor cores have none
  if (suitsLibrary(kernel, op, extents, target))
    return chooseLibrary(kernel, op, target);
  if (suitsBulkCopies(op, target))
    return scheduleBulkCopies(op, target);
  ProductRegion region;
  if (!findSearch(kernel) && readProducts(kernel, region).empty() &&
      suitsHopperGemm(region, target))
    return scheduleHopperGemm(region, target);
  if (suitsTensorCores(op) && extents.rows > mostFewRows)
    return chooseTensorGemm(kernel, extents, target);
  if (suitsTensorCores(op) && extents.rows > 1)
    return scheduleFewRows(op, target);
  if (extents.rows <= mostFewRows)
    return chooseGemv(kernel, op, extents, target);
  op.setOrderAttr(makeOrder(kernel.getContext(), /*lanes=*/1));
  int64_t tiles = extents.batches * llvm::divideCeil(extents.rows, tile) *
                  llvm::divideCeil(extents.columns, tile);
  return makeSchedule(kernel, "gemm", tiles, {{"vector", dividingPower(extents.depth, 4)}});
}

} // namespace

const CudaScheduleRule matmul = {matches, choose, &forms::cudaMatmul, nullptr, bulkAlternatives};

} // namespace tenon::kernels::cuda_rules
