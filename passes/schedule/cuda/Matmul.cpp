#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule::cuda_rules {

namespace {

/// y [batches, rows, columns], the sum over `depth`.
struct Extents {
  int64_t batches, rows, columns, depth;
};

bool isHero(Operation& op) { return llvm::isa<MatmulOp>(op); }

bool matches(KernelOp kernel) { return refuse(forms::cudaMatmul, kernel).empty(); }

Extents extentsOf(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  int64_t depth = weight.getShape().back(), columns = weight.getShape().end()[-2];
  int64_t batches = weight.getNumElements() / (columns * depth);
  return {batches, op.getInput().getType().getNumElements() / (depth * batches), columns, depth};
}

/// Chunks of whole lanes, one a warp: enough warps that few rows of W still fill the memory system
/// (measured on an H200, 2026-11-20: split K for 4,096 rows and fewer).
int64_t chooseSplit(const Extents& extents, int64_t lanes, int64_t warps) {
  constexpr int64_t wantedWarps = 16384;
  for (int64_t split = warps; split > 1; split /= 2) {
    int64_t chunk = llvm::alignTo(llvm::divideCeil(extents.depth, split), lanes);
    bool useful = extents.batches * extents.columns * (split / 2) < wantedWarps;
    if (useful && chunk >= 2 * lanes &&
        llvm::divideCeil(extents.depth, chunk) == static_cast<uint64_t>(split))
      return split;
  }
  return 1;
}

ScheduleAttr chooseGemv(KernelOp kernel, MatmulOp op, const Extents& extents) {
  constexpr int64_t threads = 256, warps = threads / 32;
  int64_t vector =
      dividingPower(extents.depth, op.getWeight().getType().getElementType().isF32() ? 4 : 8);
  int64_t lanes = 32 * vector;
  int64_t columns = extents.rows == 1 && extents.columns >= 16384 ? 2 : 1;
  int64_t split = chooseSplit(extents, lanes, warps);
  int64_t chunk = split == 1 ? 0 : llvm::alignTo(llvm::divideCeil(extents.depth, split), lanes);
  op.setOrderAttr(makeOrder(kernel.getContext(), lanes, chunk));
  int64_t perTile = warps / split * columns;
  return makeSchedule(
      kernel, "gemv", extents.batches * llvm::divideCeil(extents.columns, perTile),
      {{"threads", threads}, {"vector", vector}, {"columns_per_warp", columns}, {"split", split}});
}

/// Whether warps should bring whole rows of W through rings of bulk copies: rows of multiples of 16
/// bytes, enough of them for a few warps on every multiprocessor, and an x that fits beside the
/// rings. Measured on an H200, 2026-11-21 (bench/cuda, f16, one row, µs, rings against registers):
/// 2048x2048 3.6, 4.1; 3072x2048 5.0, 5.6; 2048x8192 11.3, 13.2; 4096x4096 10.3, 13.0; but
/// 16384x2048 18.7, 17.5; 28672x4096 57.3, 55.2; 128256x2048 135, 119; without room for x
/// 4096x14336 38.3, 36.8. Blocks, which cost more to decode, gain at many rows too: q8_0
/// 28672x4096 52.8, 72.4.
bool suitsBulkCopies(MatmulOp op, const Extents& extents, const CudaTarget& target) {
  constexpr int64_t mostRows = 2, mostPlainColumns = 16384, mostInputBytes = 40 * 1024;
  const Encoding& encoding = *getEncoding(op.getWeight().getType().getElementType());
  int64_t rowBytes = encoding.bytesFor(extents.depth);
  return target.bulkCopies && extents.batches == 1 && extents.rows <= mostRows &&
         extents.depth % 8 == 0 && rowBytes % 16 == 0 && rowBytes >= 2048 &&
         extents.columns >= 8 * target.sms &&
         (encoding.isBlockQuantized() || extents.columns < mostPlainColumns) &&
         4 * extents.rows * extents.depth <= mostInputBytes;
}

/// Two stages of 4 KB a warp, 8 warps a block, two blocks a multiprocessor: the best of what was
/// measured on an H200, 2026-11-20 (65 dependent products of a Llama-1B decode step).
ScheduleAttr chooseGemvBulk(KernelOp kernel, MatmulOp op, const Extents& extents,
                            const CudaTarget& target) {
  constexpr int64_t threads = 256, stageBytes = 4096, stages = 2, blocksPerSm = 2;
  const Encoding& encoding = *getEncoding(op.getWeight().getType().getElementType());
  int64_t vector = encoding.name == "f32" ? 4 : 8, lanes = 32 * vector;
  int64_t piece = stageBytes / encoding.bytesFor(lanes) * lanes;
  op.setOrderAttr(makeOrder(kernel.getContext(), lanes));
  int64_t tiles =
      std::min<int64_t>(blocksPerSm * target.sms, llvm::divideCeil(extents.columns, threads / 32));
  return makeSchedule(
      kernel, "gemv_bulk", tiles,
      {{"threads", threads}, {"vector", vector}, {"piece_elements", piece}, {"stages", stages}});
}

/// Whether the kernel is a product that cuBLASLt computes: factors of one plain type, the result in
/// that type or f32, and rows enough that a library's tiles are used.
bool suitsLibrary(KernelOp kernel, MatmulOp op, const Extents& extents, const CudaTarget& target) {
  constexpr int64_t leastRows = 16;
  Type input = op.getInput().getType().getElementType();
  Type weight = op.getWeight().getType().getElementType(), result = op.getType().getElementType();
  return target.libraries && soleOp<MatmulOp>(kernel) && extents.batches == 1 &&
         extents.rows >= leastRows && input == weight && (result == input || result.isF32()) &&
         op.getInput() != op.getWeight();
}

/// A workspace of 32 MiB, what NVIDIA recommends for Hopper (cuBLAS documentation,
/// cublasSetWorkspace).
ScheduleAttr chooseLibrary(KernelOp kernel) {
  return makeSchedule(kernel, "cublaslt", /*tiles=*/1, {{"workspace_bytes", 32 << 20}});
}

/// Whether tensor cores can multiply the factors as they are.
bool suitsTensorCores(MatmulOp op, const Extents& extents) {
  Type type = op.getInput().getType().getElementType();
  return type == op.getWeight().getType().getElementType() && !type.isF32() &&
         extents.batches == 1 && extents.depth % 8 == 0;
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
  constexpr int64_t mostGemvRows = 16, tile = 64;
  auto op = llvm::cast<MatmulOp>(*llvm::find_if(kernel.getBlock(), isHero));
  Extents extents = extentsOf(op);
  op.removeOrderAttr(); // tensor cores have none
  if (suitsLibrary(kernel, op, extents, target))
    return chooseLibrary(kernel);
  if (suitsBulkCopies(op, extents, target))
    return chooseGemvBulk(kernel, op, extents, target);
  if (suitsTensorCores(op, extents) && extents.rows > mostGemvRows)
    return chooseTensorGemm(kernel, extents, target);
  if (suitsTensorCores(op, extents) && extents.rows > 1)
    return makeSchedule(kernel, "narrow_gemm", llvm::divideCeil(extents.columns, 16),
                        {{"threads", 256}});
  if (extents.rows <= mostGemvRows)
    return chooseGemv(kernel, op, extents);
  op.setOrderAttr(makeOrder(kernel.getContext(), /*lanes=*/1));
  int64_t tiles = extents.batches * llvm::divideCeil(extents.rows, tile) *
                  llvm::divideCeil(extents.columns, tile);
  return makeSchedule(kernel, "gemm", tiles, {{"vector", dividingPower(extents.depth, 4)}});
}

} // namespace

const CudaScheduleRule matmul = {matches, choose, &forms::cudaMatmul};

} // namespace tenon::passes::schedule::cuda_rules
