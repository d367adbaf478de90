#include "kernels/cuda/Gemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/MatmulResults.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// y = x · Wᵀ on CUDA cores: a block of 256 threads takes `tile` rows and columns of y, a thread a
/// square of them, each one accumulator in ascending k: the order of one lane. For any element
/// types. Parameters: `vector`, elements that are loaded at once and divide the depth; `tile`, 16,
/// 32 or 64. Tiles run down the rows of y first, so that blocks that run together share rows of W.
static LogicalResult emitGemm(KernelContext& context) {
  MatmulOp op = findMatmul(context);
  if (!op)
    return failure();
  FailureOr<GemmKernel> kernel = context.read<GemmKernel>();
  if (failed(kernel))
    return failure();
  int64_t vector = kernel->schedule.vector;
  FailureOr<OrderAttr> order = orderOf(op);
  if (failed(order))
    return failure();
  if (order->getLanes() != 1 || order->getChunk() != 0)
    return op.emitOpError("expects an order of one chunk and one lane, but got ") << *order;
  MatmulExtents shape(op);
  if (!llvm::isPowerOf2_64(vector) || vector > 8 || shape.depth % vector != 0)
    return context.kernel.emitOpError("expects a vector of a power of two up to 8 that divides the "
                                      "depth, but got ")
           << vector;
  int64_t tile = kernel->schedule.tile, ofThread = tile / 16;
  int64_t rowTiles = llvm::divideCeil(shape.rows, tile),
          columnTiles = llvm::divideCeil(shape.columns, tile);
  if (failed(context.expectTiles(shape.batches * rowTiles * columnTiles)))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"gemm.cuh"};
  std::vector<Access> factors = {context.access(op.getInput()), context.access(op.getWeight())};
  CodeWriter& code =
      structure.begin(PhaseKind::MainLoop, factors, {{MemorySpace::Registers, "gemm"}});
  code.format("using Gemm = TiledGemm<%s, %s, %d, %d>;",
              deviceType(elementTypeOf(op.getInput().getType())),
              deviceType(elementTypeOf(op.getWeight().getType())), vector, tile);
  code.line("__shared__ Gemm::Shared shared;");
  code.line("Gemm gemm(shared);");
  code.format("const long long batch = tile / %d;", rowTiles * columnTiles);
  code.format("const long long firstRow = tile %% %d * %d;", rowTiles, tile);
  code.format("const long long firstColumn = tile / %d %% %d * %d;", rowTiles, columnTiles, tile);
  code.format("gemm.multiply(%s, %s, batch * %d, batch * %d, %d, %d, %d, firstRow, firstColumn);",
              context.pointer(op.getInput()), context.pointer(op.getWeight()), shape.rows,
              shape.columns, shape.rows, shape.columns, shape.depth);
  CodeWriter& store =
      structure.begin(PhaseKind::Store, {{MemorySpace::Registers, "gemm"}}, context.results());
  for (const Access& access : context.arguments(false))
    structure.phases.back().reads.push_back(access);
  store.format("const int column = static_cast<int>(firstColumn) + threadIdx.x %% 16 * %d;",
               ofThread);
  store.unroll();
  store.openFormat("for (int i = 0; i < %d; ++i)", ofThread);
  store.format("const long long batchRow = firstRow + threadIdx.x / 16 * %d + i;", ofThread);
  bool whole = shape.columns % ofThread == 0;
  store.openFormat("if (batchRow < %d%s)", shape.rows,
                   whole ? absl::StrFormat(" && column < %d", shape.columns) : "");
  store.format("const long long row = batch * %d + batchRow;", shape.rows);
  LogicalResult printed =
      printMatmulResults(context, op, store, "row", "column", "gemm.sums[i]", ofThread, !whole);
  store.close();
  store.close();
  return printed;
}

extern constexpr Emitter gemm = {GemmKernel::name, emitGemm};

} // namespace tenon::codegen::cuda::emitters
