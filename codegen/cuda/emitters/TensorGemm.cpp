#include "kernels/cuda/TensorGemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/MatmulResults.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Checks what tensor cores ask: factors of one 16-bit type, one batch, rows of
/// multiples of 16 bytes. What the instruction adds has no order of its own: the operation must
/// carry none.
static LogicalResult checkFactors(KernelContext& context, MatmulOp op, const MatmulExtents& shape) {
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

/// Many rows of x: a block of 256 threads takes `tile_rows`, 64 or 128, rows and 128 columns of y.
/// Tiles run down the rows first, so that blocks that run together share rows of W.
static LogicalResult emitTensorGemm(KernelContext& context) {
  MatmulOp op = findMatmul(context);
  if (!op)
    return failure();
  FailureOr<TensorGemmKernel> kernel = context.read<TensorGemmKernel>();
  if (failed(kernel))
    return failure();
  MatmulExtents shape(op);
  int64_t tileRows = kernel->schedule.tileRows;
  int64_t rowTiles = llvm::divideCeil(shape.rows, tileRows);
  if (failed(checkFactors(context, op, shape)) ||
      failed(context.expectTiles(rowTiles * llvm::divideCeil(shape.columns, 128))))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"mma.cuh"};
  CodeWriter& code = structure.begin(
      PhaseKind::MainLoop, {context.access(op.getInput()), context.access(op.getWeight())},
      {{MemorySpace::Registers, "gemm"}});
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.format("TensorGemm<%s, %d> gemm(memory);",
              deviceType(elementTypeOf(op.getInput().getType())), tileRows);
  code.format("const long long firstRow = tile %% %d * %d;", rowTiles, tileRows);
  code.format("const long long firstColumn = tile / %d * 128;", rowTiles);
  code.format("gemm.multiply(%s, %s, %d, %d, %d, firstRow, firstColumn);",
              context.pointer(op.getInput()), context.pointer(op.getWeight()), shape.rows,
              shape.columns, shape.depth);
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Registers, "gemm"});
  CodeWriter& store = structure.begin(PhaseKind::Store, reads, context.results());
  store.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  store.unroll();
  store.openFormat("for (int i = 0; i < %d; ++i)", 2 * (tileRows / 32));
  store.format("const long long row = firstRow + warp / 4 * %d + i * 8 + lane / 4;", tileRows / 2);
  store.unroll();
  store.open("for (int c = 0; c < 4; ++c)");
  store.line(
      "const int column = static_cast<int>(firstColumn) + warp % 4 * 32 + c * 8 + lane % 4 * "
      "2;");
  bool even = shape.columns % 2 == 0;
  store.openFormat("if (row < %d && column < %d)", shape.rows, shape.columns);
  store.line("float sums[2] = {gemm.sums[i / 2][c][i % 2 * 2], "
             "gemm.sums[i / 2][c][i % 2 * 2 + 1]};");
  LogicalResult printed =
      printMatmulResults(context, op, store, "row", "column", "sums", 2, /*guarded=*/!even);
  store.close();
  store.close();
  store.close();
  return printed;
}

extern constexpr Emitter tensorGemm = {TensorGemmKernel::name, emitTensorGemm};

} // namespace tenon::codegen::cuda::emitters
