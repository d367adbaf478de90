#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/MatmulShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

/// Checks what both kernels on tensor cores ask: factors of one 16-bit type, one batch, rows of
/// multiples of 16 bytes. What the instruction adds has no order of its own: the operation must
/// carry none.
static LogicalResult checkFactors(KernelContext& context, MatmulOp op, const MatmulShape& shape) {
  Type type = elementTypeOf(op.getInput().getType());
  if (type != elementTypeOf(op.getWeight().getType()) || type.isF32() || shape.batches != 1 ||
      shape.depth % 8 != 0)
    return op.emitOpError("expects factors of one 16-bit type, one batch and a depth of a multiple "
                          "of 8 for the emitter ")
           << context.schedule().getEmitter();
  if (op.getOrderAttr())
    return op.emitOpError("expects no order on tensor cores, but got ") << op.getOrderAttr();
  return success();
}

/// Up to 16 rows of x: a block of `threads` takes 16 rows of W, a warp a part of the depth; the
/// parts are added in ascending order. A thread loads 16 bytes of each factor at a time, of W those
/// of `batch` steps of 32 elements together.
/// Parameters: `threads`, at most 512; `batch`, at most 8; `blocks_per_sm` for the registers.
static LogicalResult emitNarrowGemm(KernelContext& context) {
  MatmulOp op = findMatmul(context);
  FailureOr<int64_t> batch = context.parameter("batch");
  if (!op || failed(batch) || failed(context.readResources()))
    return failure();
  MatmulShape shape(op);
  if (context.structure.threads > 512 || *batch < 1 || *batch > 8)
    return context.kernel.emitOpError("expects at most 512 threads and a batch of 1 to 8, but got ")
           << context.structure.threads << " and " << *batch;
  if (failed(checkFactors(context, op, shape)) ||
      failed(context.expectTiles(llvm::divideCeil(shape.columns, 16))))
    return failure();
  if (shape.rows > 16)
    return op.emitOpError("expects at most 16 rows for the emitter narrow_gemm");
  PhaseStructure& structure = context.structure;
  structure.headers = {"mma.cuh"};
  int64_t warps = structure.threads / 32, tiles = llvm::divideCeil(shape.rows, 8);
  int64_t part = llvm::alignTo(llvm::divideCeil(shape.depth, warps), 32);
  std::string type = deviceType(elementTypeOf(op.getInput().getType()));
  std::string weight = context.pointer(op.getWeight());
  CodeWriter& code = structure.begin(
      PhaseKind::MainLoop, {context.access(op.getInput()), context.access(op.getWeight())},
      {{MemorySpace::Shared, "parts"}});
  code.format("__shared__ float parts[%d][%d][16];", warps, 8 * tiles);
  code.line("const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;");
  code.line("const int firstColumn = static_cast<int>(tile) * 16;");
  code.format("const int begin = min(warp * %d, %d), end = min(begin + %d, %d);", part, shape.depth,
              part, shape.depth);
  code.format("NarrowProduct<%s, %d, %d> product;", type, tiles, *batch);
  // Columns behind the end repeat the last one and are not stored.
  for (auto [name, offset] : {std::pair("low", 0), std::pair("high", 8)})
    code.format("const %s* %s = %s + min(firstColumn + g + %d, %d) * %dLL;", type, name, weight,
                offset, shape.columns - 1, shape.depth);
  code.format("product.multiply(low, high, %s, %d, %d, begin, end);",
              context.pointer(op.getInput()), shape.rows, shape.depth);
  code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", tiles);
  code.unroll();
  code.line("for (int j = 0; j < 4; ++j)");
  code.line("  parts[warp][8 * i + 2 * t + j % 2][g + j / 2 * 8] = product.sums[i][j];");
  code.close();
  code.line("__syncthreads();");
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Shared, "parts"});
  CodeWriter& store = structure.begin(PhaseKind::Store, reads, context.results());
  store.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", 16 * shape.rows,
                   structure.threads);
  store.line("const int m = i / 16, column = firstColumn + i % 16;");
  store.openFormat("if (column < %d)", shape.columns);
  store.line("float sum[1] = {parts[0][m][i % 16]};");
  store.unroll();
  store.format("for (int p = 1; p < %d; ++p)", warps);
  store.line("  sum[0] += parts[p][m][i % 16];");
  LogicalResult printed = printMatmulResults(context, op, store, "static_cast<long long>(m)",
                                             "column", "sum", 1, /*guarded=*/false);
  store.close();
  store.close();
  return printed;
}

/// Many rows of x: a block of 256 threads takes `tile_rows`, 64 or 128, rows and 128 columns of y.
/// Tiles run down the rows first, so that blocks that run together share rows of W.
static LogicalResult emitTensorGemm(KernelContext& context) {
  MatmulOp op = findMatmul(context);
  FailureOr<int64_t> tileRows = context.parameter("tile_rows");
  if (!op || failed(tileRows) || failed(context.readResources()))
    return failure();
  MatmulShape shape(op);
  if (*tileRows != 64 && *tileRows != 128)
    return context.kernel.emitOpError("expects tile_rows of 64 or 128, but got ") << *tileRows;
  int64_t rowTiles = llvm::divideCeil(shape.rows, *tileRows);
  if (failed(checkFactors(context, op, shape)) ||
      failed(context.expectTiles(rowTiles * llvm::divideCeil(shape.columns, 128))))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"mma.cuh"};
  CodeWriter& code = structure.begin(
      PhaseKind::MainLoop, {context.access(op.getInput()), context.access(op.getWeight())},
      {{MemorySpace::Registers, "product"}});
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.format("TensorProduct<%s, %d> product(memory);",
              deviceType(elementTypeOf(op.getInput().getType())), *tileRows);
  code.format("const long long firstRow = tile %% %d * %d;", rowTiles, *tileRows);
  code.format("const long long firstColumn = tile / %d * 128;", rowTiles);
  code.format("product.multiply(%s, %s, %d, %d, %d, firstRow, firstColumn);",
              context.pointer(op.getInput()), context.pointer(op.getWeight()), shape.rows,
              shape.columns, shape.depth);
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Registers, "product"});
  CodeWriter& store = structure.begin(PhaseKind::Store, reads, context.results());
  store.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  store.unroll();
  store.openFormat("for (int i = 0; i < %d; ++i)", 2 * (*tileRows / 32));
  store.format("const long long row = firstRow + warp / 4 * %d + i * 8 + lane / 4;", *tileRows / 2);
  store.unroll();
  store.open("for (int c = 0; c < 4; ++c)");
  store.line(
      "const int column = static_cast<int>(firstColumn) + warp % 4 * 32 + c * 8 + lane % 4 * "
      "2;");
  bool even = shape.columns % 2 == 0;
  store.openFormat("if (row < %d && column < %d)", shape.rows, shape.columns);
  store.line("float sums[2] = {product.sums[i / 2][c][i % 2 * 2], "
             "product.sums[i / 2][c][i % 2 * 2 + 1]};");
  LogicalResult printed =
      printMatmulResults(context, op, store, "row", "column", "sums", 2, /*guarded=*/!even);
  store.close();
  store.close();
  store.close();
  return printed;
}

const Emitter narrowGemm = {"narrow_gemm", emitNarrowGemm};
const Emitter tensorGemm = {"tensor_gemm", emitTensorGemm};

} // namespace tenon::codegen::cuda::emitters
