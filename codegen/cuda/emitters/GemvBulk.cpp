#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/MatmulShape.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for very few rows of x, on sm_90 and later: every warp owns rows of W, far apart, and
/// brings them through a ring in shared memory by bulk copies that it issues itself. On an H200
/// that beats loads into registers and a ring shared by the block, whose cost is a barrier a piece
/// (measured 2026-11-20). Weights that are constant are on their way before the kernel waits for
/// the one before. x lies in shared memory as f32, so that no warp converts it again.
///
/// Parameters: `threads`; `vector`, elements that a thread takes at once; `piece_elements`, a
/// multiple of 32 · vector, the part of a row in a stage of the ring; `stages`. The order has one
/// chunk of 32 · vector lanes. Tiles are blocks that take rows in turn, any number of them.
class GemvBulkEmission {
public:
  GemvBulkEmission(KernelContext& context, MatmulOp op) : context(context), op(op), shape(op) {}

  LogicalResult emit();

private:
  LogicalResult readSchedule();
  void printRing(CodeWriter& code);
  void printInput(CodeWriter& code);
  void printLoop(CodeWriter& code);
  LogicalResult printRow(CodeWriter& code);

  KernelContext& context;
  MatmulOp op;
  MatmulShape shape;
  int64_t vector = 0, piece = 0, stages = 0, pieces = 0, warps = 0;
  int64_t pieceBytes = 0, lastBytes = 0;
  int64_t paddedDepth = 0; ///< whole lanes
  int64_t ringBytes = 0;   ///< of all warps
};

} // namespace

LogicalResult GemvBulkEmission::readSchedule() {
  FailureOr<int64_t> width = context.parameter("vector");
  FailureOr<int64_t> pieceElements = context.parameter("piece_elements");
  FailureOr<int64_t> stageCount = context.parameter("stages");
  FailureOr<OrderAttr> order = orderOf(op);
  if (failed(width) || failed(pieceElements) || failed(stageCount) || failed(order) ||
      failed(context.readThreads()))
    return failure();
  vector = *width, piece = *pieceElements, stages = *stageCount;
  warps = context.structure.threads / 32;
  const Encoding& encoding = *getEncoding(op.getWeight().getType().getElementType());
  int64_t lanes = 32 * vector, rowBytes = encoding.bytesFor(shape.depth);
  pieces = llvm::divideCeil(shape.depth, piece);
  pieceBytes = encoding.bytesFor(piece);
  lastBytes = rowBytes - (pieces - 1) * pieceBytes;
  if (!context.architecture.isHopperOrLater() || shape.batches != 1)
    return op.emitOpError("expects sm_90 or later and one batch for the emitter gemv_bulk");
  if ((vector != 4 && vector != 8) || shape.depth % vector != 0 || piece % lanes != 0 ||
      piece % encoding.blockSize != 0 || rowBytes % 16 != 0 || pieceBytes % 16 != 0 ||
      shape.rows * vector > 64)
    return context.kernel.emitOpError("expects rows and pieces of multiples of 16 bytes and whole "
                                      "lanes, but got a vector of ")
           << vector << " and pieces of " << piece << " elements";
  if (order->getLanes() != lanes || order->getTree() != CombineTree::Halving ||
      order->getChunk() != 0)
    return op.emitOpError("expects an order of one chunk in ")
           << lanes << " lanes, but got " << *order;
  paddedDepth = llvm::alignTo(shape.depth, lanes);
  ringBytes = llvm::alignTo(warps * (stages * llvm::alignTo(pieceBytes, 128) + 8 * stages), 16);
  if (shape.columns > std::numeric_limits<int32_t>::max() / pieces)
    return op.emitOpError("expects fewer than 2^31 pieces of rows");
  return success();
}

void GemvBulkEmission::printRing(CodeWriter& code) {
  code.format("using Ring = RowRing<%d, %d, %d, %d>;", stages, pieces, pieceBytes, lastBytes);
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const int workers = gridDim.x * %d;", warps);
  code.format("const int worker = static_cast<int>(tile) * %d + warp;", warps);
  code.format("const int rows = worker < %d ? (%d - worker) / workers + 1 : 0;", shape.columns,
              shape.columns - 1);
  code.format("Ring ring = {reinterpret_cast<Ring::Shared*>(memory)[warp], reinterpret_cast<const "
              "unsigned char*>(%s), worker, workers, rows * %d};",
              context.pointer(op.getWeight()), pieces);
  code.line("ring.start();");
}

/// x as f32 in shared memory, zeros behind its end; four elements of each lane stand together, so
/// that a warp's loads of 16 bytes meet no bank twice.
void GemvBulkEmission::printInput(CodeWriter& code) {
  code.format("float* input = reinterpret_cast<float*>(memory + %d);", ringBytes);
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", shape.rows * paddedDepth / 4,
                  context.structure.threads);
  code.format("const int m = i / %d, k = i %% %d * 4;", paddedDepth / 4, paddedDepth / 4);
  code.line("float x[4] = {};");
  code.format("if (k < %d)", shape.depth);
  code.format("  loadVector(x, %s + m * %d + k);", context.pointer(op.getInput()), shape.depth);
  code.format("const int place = k / %d * %d + k %% %d / 4 * 128 + k / %d %% 32 * 4;", 32 * vector,
              32 * vector, vector, vector);
  code.format("storeVector(input + m * %d + place, x);", paddedDepth);
  code.close();
  code.line("__syncthreads();");
}

LogicalResult GemvBulkEmission::printRow(CodeWriter& code) {
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", shape.rows);
  code.line("const float total = combineWarpLanes(sums[m]);");
  code.line("if (lane == m)");
  code.line("  sum[0] = total;");
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", vector);
  code.line("  sums[m][j] = 0.0f;");
  code.close();
  code.openFormat("if (lane < %d)", shape.rows);
  code.line("const int column = worker + item / PIECES * workers;");
  LogicalResult printed =
      printMatmulResults(context, op, code, "static_cast<long long>(lane)", "column", "sum", 1,
                         /*guarded=*/false);
  code.close();
  return printed;
}

void GemvBulkEmission::printLoop(CodeWriter& code) {
  std::string weightType = deviceType(elementTypeOf(op.getWeight().getType()));
  code.line("const unsigned char* bytes = ring.take(item);");
  code.format("const int first = item %% PIECES * %d;", piece);
  if (shape.depth % piece == 0 || pieces == 1)
    code.format("constexpr int count = %d;", std::min(piece, shape.depth));
  else
    code.format("const int count = min(%d, %d - first);", piece, shape.depth);
  code.line("#pragma unroll 8");
  code.openFormat("for (int step = 0; step < count; step += %d)", 32 * vector);
  code.format("const int k = step + lane * %d;", vector);
  code.format("float w[%d] = {};", vector);
  code.line("if (k < count)");
  code.format("  decodeRow<%s>(w, bytes, 0, %d, k);", weightType, shape.depth);
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", shape.rows);
  code.format("float x[%d];", vector);
  code.unroll();
  code.openFormat("for (int h = 0; h < %d; ++h)", vector / 4);
  code.format("const float4 four = *reinterpret_cast<const float4*>(input + m * %d + first + step "
              "+ h * 128 + lane * 4);",
              paddedDepth);
  code.line("x[4 * h] = four.x, x[4 * h + 1] = four.y;");
  code.line("x[4 * h + 2] = four.z, x[4 * h + 3] = four.w;");
  code.close();
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", vector);
  // A lane without an element keeps its sum, sign of zero included.
  code.format("  sums[m][j] = k < count ? __fmaf_rn(x[j], w[j], sums[m][j]) : sums[m][j];");
  code.close();
  code.close();
  code.line("ring.release(item);");
}

LogicalResult GemvBulkEmission::emit() {
  if (failed(readSchedule()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh", "bulk.cuh"};
  structure.declarations.format("constexpr int PIECES = %d;", pieces);
  structure.dynamicSmemBytes = ringBytes + 4 * shape.rows * paddedDepth;
  printRing(structure.begin(PhaseKind::Load, {context.access(op.getWeight())},
                            {{MemorySpace::Shared, "ring"}}));
  printInput(structure.begin(PhaseKind::Prologue, {context.access(op.getInput())},
                             {{MemorySpace::Shared, "input"}}));
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  reads.push_back({MemorySpace::Shared, "ring"});
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.format("float sums[%d][%d] = {};", shape.rows, vector);
  code.open("for (int item = 0; item < ring.items; ++item)");
  printLoop(code);
  code.line("if (item % PIECES != PIECES - 1)");
  code.line("  continue;");
  code.line("float sum[1];");
  LogicalResult printed = printRow(code);
  code.close();
  return printed;
}

static LogicalResult emitGemvBulk(KernelContext& context) {
  MatmulOp op = findMatmul(context);
  return op ? GemvBulkEmission(context, op).emit() : failure();
}

const Emitter gemvBulk = {"gemv_bulk", emitGemvBulk};

} // namespace tenon::codegen::cuda::emitters
