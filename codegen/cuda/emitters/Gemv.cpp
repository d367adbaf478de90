#include "kernels/cuda/Gemv.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/MatmulResults.h"
#include "kernels/regions/MatmulExtents.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for a few rows of x, bound by the bytes of W: a warp takes `columns_per_warp` rows of
/// W, or one chunk of them, and reads each once for all rows of x. `split` warps of a block share
/// rows of W, a chunk of the order each; the chunks are added in ascending order.
///
/// Parameters: those of `GemvSchedule`. The order has 32 · vector lanes.
class GemvEmission {
public:
  GemvEmission(KernelContext& context, MatmulOp op) : context(context), op(op), shape(op) {}

  LogicalResult emit();

private:
  LogicalResult readSchedule();
  void printPlace(CodeWriter& code);
  void printMainLoop(CodeWriter& code);
  void printStep(CodeWriter& code);
  LogicalResult printStore(CodeWriter& code);

  KernelContext& context;
  MatmulOp op;
  MatmulExtents shape;
  int64_t vector = 0, columns = 0, split = 0, chunk = 0;
  int64_t warpGroups = 0; ///< groups of `split` warps in a block
  int64_t tilesPerBatch = 0;
};

} // namespace

LogicalResult GemvEmission::readSchedule() {
  FailureOr<GemvKernel> kernel = context.read<GemvKernel>();
  FailureOr<OrderAttr> order = orderOf(op);
  if (failed(kernel) || failed(order))
    return failure();
  vector = kernel->schedule.vector;
  columns = kernel->schedule.columnsPerWarp;
  split = kernel->schedule.split;
  chunk = order->getChunk() == 0 ? shape.depth : order->getChunk();
  if (!llvm::isPowerOf2_64(vector) || vector > 8 || shape.depth % vector != 0)
    return context.kernel.emitOpError("expects a vector of a power of two up to 8 that divides the "
                                      "depth, but got ")
           << vector;
  if (order->getLanes() != 32 * vector || order->getTree() != CombineTree::Halving ||
      (split > 1 && chunk % (32 * vector) != 0) ||
      llvm::divideCeil(shape.depth, chunk) != static_cast<uint64_t>(split))
    return op.emitOpError("expects an order of ")
           << 32 * vector << " lanes in " << split << " chunks of whole lanes, but got " << *order;
  if (context.structure.threads / 32 % split != 0 || shape.rows * columns * vector > 128)
    return context.kernel.emitOpError("expects split to divide the warps, and rows, "
                                      "columns_per_warp and vector that fit into registers");
  warpGroups = context.structure.threads / 32 / split;
  tilesPerBatch = llvm::divideCeil(shape.columns, warpGroups * columns);
  return context.expectTiles(shape.batches * tilesPerBatch);
}

void GemvEmission::printPlace(CodeWriter& code) {
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const int group = warp / %d, part = warp %% %d;", split, split);
  code.format("const long long batch = tile / %d;", tilesPerBatch);
  code.format("const int firstColumn = static_cast<int>(tile %% %d) * %d;", tilesPerBatch,
              warpGroups * columns);
}

/// One step along the depth: loads the weights, then every row of x in turn.
void GemvEmission::printStep(CodeWriter& code) {
  std::string weightType = deviceType(elementTypeOf(op.getWeight().getType()));
  code.format("float w[%d][%d];", columns, vector);
  code.unroll();
  code.format("for (int c = 0; c < %d; ++c)", columns);
  code.format("  decodeRow<%s>(w[c], %s, weightRow[c], %d, k);", weightType,
              context.pointer(op.getWeight()), shape.depth);
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", shape.rows);
  code.format("float x[%d];", vector);
  code.format("loadVector(x, %s + (batch * %d + m) * %d + k);", context.pointer(op.getInput()),
              shape.rows, shape.depth);
  code.unroll();
  code.format("for (int c = 0; c < %d; ++c)", columns);
  code.unroll();
  code.format("  for (int j = 0; j < %d; ++j)", vector);
  code.line("    sums[m][c][j] = __fmaf_rn(x[j], w[c][j], sums[m][c][j]);");
  code.close();
}

void GemvEmission::printMainLoop(CodeWriter& code) {
  printPlace(code);
  code.format("float sums[%d][%d][%d] = {};", shape.rows, columns, vector);
  // Columns after the end repeat the last one and are not stored.
  code.format("long long weightRow[%d];", columns);
  code.unroll();
  code.format("for (int c = 0; c < %d; ++c)", columns);
  code.format("  weightRow[c] = batch * %d + min(firstColumn + group * %d + c, %d);", shape.columns,
              columns, shape.columns - 1);
  code.format("const int end = min(%d, (part + 1) * %d);", shape.depth, chunk);
  code.line("#pragma unroll 4");
  code.openFormat("for (int k = part * %d + lane * %d; k < end; k += %d)", chunk, vector,
                  32 * vector);
  printStep(code);
  code.close();
  code.format("__shared__ float parts[%d][%d][%d];", warpGroups, split, shape.rows * columns);
  code.unroll();
  code.format("for (int m = 0; m < %d; ++m)", shape.rows);
  code.unroll();
  code.openFormat("for (int c = 0; c < %d; ++c)", columns);
  code.line("const float sum = combineLanes<32>(sums[m][c], nullptr);");
  code.line("if (lane == 0)");
  code.format("  parts[group][part][m * %d + c] = sum;", columns);
  code.close();
  code.line("__syncthreads();");
}

LogicalResult GemvEmission::printStore(CodeWriter& code) {
  int64_t perGroup = shape.rows * columns;
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", warpGroups * perGroup,
                  context.structure.threads);
  // Neighbours in i are neighbours in y.
  code.format("const int inTile = i %% %d, m = i / %d;", warpGroups * columns,
              warpGroups * columns);
  code.format("const int from = inTile / %d, output = m * %d + inTile %% %d;", columns, columns,
              columns);
  code.line("const int column = firstColumn + inTile;");
  code.openFormat("if (column < %d)", shape.columns);
  code.line("float sum[1] = {parts[from][0][output]};");
  if (split > 1) {
    code.unroll();
    code.format("for (int p = 1; p < %d; ++p)", split);
    code.line("  sum[0] += parts[from][p][output];");
  }
  code.format("const long long row = batch * %d + m;", shape.rows);
  LogicalResult printed =
      printMatmulResults(context, op, code, "row", "column", "sum", 1, /*guarded=*/false);
  code.close();
  code.close();
  return printed;
}

LogicalResult GemvEmission::emit() {
  if (failed(readSchedule()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh"};
  printMainLoop(structure.begin(PhaseKind::MainLoop,
                                {context.access(op.getInput()), context.access(op.getWeight())},
                                {{MemorySpace::Shared, "parts"}}));
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Shared, "parts"});
  return printStore(structure.begin(PhaseKind::Store, reads, context.results()));
}

static LogicalResult emitGemv(KernelContext& context) {
  MatmulOp op = findMatmul(context);
  return op ? GemvEmission(context, op).emit() : failure();
}

extern constexpr Emitter gemv = {GemvKernel::name, emitGemv};

} // namespace tenon::codegen::cuda::emitters
