#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/MatmulShape.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "ir/ProductRegion.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for very few rows of x, on sm_90 and later: every warp owns rows of W, far apart, and
/// brings them through a ring in shared memory by bulk copies that it issues itself. On an H200
/// that beats loads into registers and a ring shared by the block, whose cost is a barrier a piece
/// (measured 2026-11-20). Weights that are constant are on their way before the kernel waits for
/// the one before.
///
/// x lies in shared memory. Every block makes all of it: elementwise operations, and a norm whose
/// sums every block adds in the order of the norm's own kernel. Of several weights a warp takes the
/// same row of each that the epilogue joins, one after another.
///
/// Parameters: `threads`; `vector`, elements that a thread takes at once; `piece_elements`, a
/// multiple of 32 · vector, the part of a row in a stage of the ring; `stages`. The order has one
/// chunk of 32 · vector lanes. Tiles are blocks that take rows in turn, any number of them.
class GemvBulkEmission {
public:
  GemvBulkEmission(KernelContext& context, ProductRegion& region)
      : context(context), region(region), input(region.inputs.front()), op(region.first()),
        norm(NormTerms::of(input.norm)) {}

  LogicalResult emit();

private:
  LogicalResult readSchedule();
  LogicalResult checkOrders();
  void printRing(CodeWriter& code);
  LogicalResult printInput(CodeWriter& code);
  LogicalResult forInputVectors(CodeWriter& code,
                                llvm::function_ref<LogicalResult(RegionPrinter&)> body);
  LogicalResult printNorm(CodeWriter& code);
  void printNormSum(CodeWriter& code, const std::string& name, const std::string& term);
  LogicalResult storeYields(CodeWriter& code, RegionPrinter& printer, bool behindNorm);
  void printProduct(CodeWriter& code);
  LogicalResult printResults(CodeWriter& code);

  std::string inputType() { return deviceType(elementTypeOf(input.value.getType())); }
  std::string weightType() { return deviceType(elementTypeOf(op.getWeight().getType())); }
  /// Where elements from `k` on of row `m` lie in `input`.
  std::string place(const std::string& m, const std::string& k) const;

  KernelContext& context;
  ProductRegion& region;
  ProductRegion::Input input;    ///< of all products
  MatmulOp op;                   ///< the first product
  std::optional<NormTerms> norm; ///< of the prologue
  int64_t vector = 0, piece = 0, stages = 0, pieces = 0, warps = 0;
  int64_t pieceBytes = 0, lastBytes = 0;
  int64_t inputVector = 0; ///< elements of x of 16 bytes, at most `vector`
  int64_t paddedDepth = 0; ///< whole lanes
  int64_t ringBytes = 0;   ///< of all warps
  int64_t joined = 0;      ///< products of a group
};

} // namespace

LogicalResult GemvBulkEmission::checkOrders() {
  for (ProductRegion::Group& group : region.groups)
    for (auto [product, index] : group.products) {
      FailureOr<OrderAttr> order = orderOf(product);
      if (failed(order))
        return failure();
      bool whole = order->getChunk() == 0 || order->getChunk() >= input.depth;
      if (order->getLanes() != 32 * vector || order->getTree() != CombineTree::Halving || !whole)
        return product.emitOpError("expects an order of one chunk in ")
               << 32 * vector << " lanes, but got " << *order;
    }
  if (!norm)
    return success();
  FailureOr<OrderAttr> order = norm->order();
  if (failed(order))
    return failure();
  int64_t lanes = order->getLanes();
  bool whole = order->getChunk() == 0 || order->getChunk() >= input.depth;
  if (!whole || lanes % 32 != 0 || !llvm::isPowerOf2_64(lanes) || lanes > 1024 ||
      order->getTree() != CombineTree::Halving)
    return norm->op->emitOpError("expects an order of one chunk in at most 1024 lanes, a "
                                 "power of two and a multiple of 32, but got ")
           << *order;
  return success();
}

LogicalResult GemvBulkEmission::readSchedule() {
  FailureOr<int64_t> width = context.parameter("vector");
  FailureOr<int64_t> pieceElements = context.parameter("piece_elements");
  FailureOr<int64_t> stageCount = context.parameter("stages");
  if (failed(width) || failed(pieceElements) || failed(stageCount) ||
      failed(context.readResources()))
    return failure();
  vector = *width, piece = *pieceElements, stages = *stageCount;
  warps = context.structure.threads / 32;
  joined = region.joined();
  const Encoding& encoding = *getEncoding(op.getWeight().getType().getElementType());
  int64_t lanes = 32 * vector, rowBytes = encoding.bytesFor(input.depth);
  pieces = llvm::divideCeil(input.depth, piece);
  pieceBytes = encoding.bytesFor(piece);
  lastBytes = rowBytes - (pieces - 1) * pieceBytes;
  if (!context.architecture.isHopperOrLater())
    return op.emitOpError("expects sm_90 or later for the emitter gemv_bulk");
  if ((vector != 4 && vector != 8) || input.depth % vector != 0 || piece % lanes != 0 ||
      piece % encoding.blockSize != 0 || rowBytes % 16 != 0 || pieceBytes % 16 != 0 ||
      region.rows * vector > 64)
    return context.kernel.emitOpError("expects rows and pieces of multiples of 16 bytes and whole "
                                      "lanes, but got a vector of ")
           << vector << " and pieces of " << piece << " elements";
  if (failed(checkOrders()))
    return failure();
  paddedDepth = llvm::alignTo(input.depth, lanes);
  inputVector = std::min<int64_t>(vector, 16 / elementBytes(elementTypeOf(input.value.getType())));
  ringBytes = llvm::alignTo(warps * (stages * llvm::alignTo(pieceBytes, 128) + 8 * stages), 16);
  if (region.lines > std::numeric_limits<int32_t>::max() / (pieces * joined))
    return op.emitOpError("expects fewer than 2^31 pieces of rows");
  return success();
}

/// Vectors of 16 bytes of each lane stand together, so that a warp's loads meet no bank twice.
std::string GemvBulkEmission::place(const std::string& m, const std::string& k) const {
  std::string row = region.rows == 1 ? "" : absl::StrFormat("%s * %d + ", m, paddedDepth);
  if (inputVector == vector)
    return row + k;
  int64_t lanes = 32 * vector;
  return absl::StrFormat("%s%s / %d * %d + %s %% %d / %d * %d + %s / %d %% 32 * %d", row, k, lanes,
                         lanes, k, vector, inputVector, 32 * inputVector, k, vector, inputVector) +
         absl::StrFormat(" + %s %% %d", k, inputVector);
}

void GemvBulkEmission::printRing(CodeWriter& code) {
  code.format("using Ring = RowRing<%d, %d, %d, %d>;", stages, pieces, pieceBytes, lastBytes);
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const int workers = gridDim.x * %d;", warps);
  code.format("const int worker = static_cast<int>(tile) * %d + warp;", warps);
  code.format("const int lines = worker < %d ? (%d - worker) / workers + 1 : 0;", region.lines,
              region.lines - 1);
  code.open("auto rowAt = [&](int i) -> const unsigned char*");
  if (joined > 1)
    code.format("const int line = worker + i / %d * workers, product = i %% %d;", joined, joined);
  else
    code.line("const int line = worker + i * workers;");
  int64_t rowBytes = (pieces - 1) * pieceBytes + lastBytes;
  for (ProductRegion::Group& group : region.groups)
    for (auto [index, product] : llvm::enumerate(group.products)) {
      llvm::SmallVector<std::string> conditions;
      if (&group != &region.groups.back())
        conditions.push_back(absl::StrFormat("line < %d", group.firstLine + group.columns));
      if (index + 1 < group.products.size())
        conditions.push_back(absl::StrFormat("product == %d", index));
      if (!conditions.empty())
        code.format("if (%s)", llvm::join(conditions, " && "));
      code.format("%sreturn reinterpret_cast<const unsigned char*>(%s) + (line - %d) * %dLL;",
                  conditions.empty() ? "" : "  ", context.pointer(product.op.getWeight()),
                  group.firstLine, rowBytes);
    }
  code.close(";");
  code.format("Ring ring = {reinterpret_cast<Ring::Shared*>(memory)[warp], lines * %d};",
              pieces * joined);
  code.line("ring.start(rowAt);");
}

/// A loop over the vectors of the input, elements [k, k + inputVector) of row m; `body` prints
/// inside.
LogicalResult
GemvBulkEmission::forInputVectors(CodeWriter& code,
                                  llvm::function_ref<LogicalResult(RegionPrinter&)> body) {
  int64_t perRow = input.depth / inputVector;
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", region.rows * perRow,
                  context.structure.threads);
  code.format("const int m = i / %d, k = i %% %d * %d;", perRow, perRow, inputVector);
  RegionPrinter printer(context, shapeOf(input.value.getType()), /*flat=*/false, inputVector);
  printer.moveTo(code, {"static_cast<long long>(m)", "k", ""});
  LogicalResult printed = body(printer);
  code.close();
  return printed;
}

/// The results that the prologue makes, by the first block: those behind the norm, or the others.
LogicalResult GemvBulkEmission::storeYields(CodeWriter& code, RegionPrinter& printer,
                                            bool behindNorm) {
  llvm::SmallPtrSet<Operation*, 8> behind;
  if (norm) {
    behind.insert(norm->op);
    for (Operation* next = norm->op->getNextNode(); next; next = next->getNextNode())
      if (llvm::any_of(next->getOperands(),
                       [&](Value value) { return behind.contains(value.getDefiningOp()); }))
        behind.insert(next);
  }
  for (Value value : region.prologueYields) {
    if (behind.contains(value.getDefiningOp()) != behindNorm)
      continue;
    if (failed(printer.element(value)))
      return failure();
    code.open("if (tile == 0)");
    if (failed(printer.store(value)))
      return failure();
    code.close();
  }
  return success();
}

/// A sum over each row of the input of `term`, an expression of `x`, in the norm's order, into
/// the variable `name`.
void GemvBulkEmission::printNormSum(CodeWriter& code, const std::string& name,
                                    const std::string& term) {
  int64_t lanes = norm->order()->getLanes();
  code.format("__shared__ float %s_lanes[%d];", name, lanes);
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", lanes, context.structure.threads);
  code.line("float sum = 0.0f;");
  code.unroll();
  code.openFormat("for (int k = i; k < %d; k += %d)", input.depth, lanes);
  code.format("const float x = toFloat(input[%s]);", place("m", "k"));
  code.format("sum += %s;", term);
  code.close();
  code.format("%s_lanes[i] = sum;", name);
  code.close();
  code.line("__syncthreads();");
  code.format("const float %s = combineShared<%d>(%s_lanes);", name, lanes, name);
}

/// Turns the norm's input, which lies in shared memory, into the products' input in its place.
LogicalResult GemvBulkEmission::printNorm(CodeWriter& code) {
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  if (norm->hasMean()) {
    printNormSum(code, "total", "x");
    code.line(norm->meanStatement());
  }
  printNormSum(code, "squares", norm->squareOf("x"));
  code.line(norm->factorStatement());
  code.openFormat("for (int k = threadIdx.x * %d; k < %d; k += %d)", inputVector, input.depth,
                  inputVector * context.structure.threads);
  RegionPrinter printer(context, shapeOf(input.value.getType()), /*flat=*/false, inputVector);
  printer.moveTo(code, {"static_cast<long long>(m)", "k", ""});
  code.format("%s* const target = input + %s;", inputType(), place("m", "k"));
  code.format("float x[%d], hero[%d];", inputVector, inputVector);
  code.line("loadVector(x, target);");
  printer.define(norm->input, "x");
  llvm::SmallVector<std::string> elements;
  for (Value operand : norm->operands) {
    FailureOr<std::string> element = printer.element(operand);
    if (failed(element))
      return failure();
    elements.push_back(*element);
  }
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", inputVector);
  code.format("  hero[j] = roundTo<%s>(%s);",
              deviceType(elementTypeOf(norm->op->getResult(0).getType())),
              norm->resultOf("x[j]", elements));
  printer.define(norm->op->getResult(0), "hero");
  FailureOr<std::string> element = printer.element(input.value);
  if (failed(element))
    return failure();
  code.format("float y[%d];", inputVector);
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", inputVector);
  code.format("  y[j] = %s;", *element);
  code.line("storeVector(target, y);");
  if (failed(storeYields(code, printer, /*behindNorm=*/true)))
    return failure();
  code.close();
  code.line("__syncthreads();");
  code.close();
  return success();
}

LogicalResult GemvBulkEmission::printInput(CodeWriter& code) {
  Value staged = norm ? norm->input : input.value;
  code.format("%s* input = reinterpret_cast<%s*>(memory + %d);", inputType(), inputType(),
              ringBytes);
  bool padded = paddedDepth != input.depth;
  LogicalResult printed = forInputVectors(code, [&](RegionPrinter& printer) {
    FailureOr<std::string> element = printer.element(staged);
    if (failed(element) || failed(storeYields(code, printer, /*behindNorm=*/false)))
      return failure();
    code.format("float y[%d];", inputVector);
    code.unroll();
    code.format("for (int j = 0; j < %d; ++j)", inputVector);
    code.format("  y[j] = %s;", *element);
    code.format("storeVector(input + %s, y);", place("m", "k"));
    return success();
  });
  if (failed(printed))
    return failure();
  if (padded) {
    // A lane behind the row's end multiplies these and drops the product.
    int64_t behind = (paddedDepth - input.depth) / inputVector;
    code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", region.rows * behind,
                    context.structure.threads);
    code.format("const int m = i / %d, k = %d + i %% %d * %d;", behind, input.depth, behind,
                inputVector);
    code.format("const float zeros[%d] = {};", inputVector);
    code.format("storeVector(input + %s, zeros);", place("m", "k"));
    code.close();
  }
  code.line("__syncthreads();");
  return norm ? printNorm(code) : success();
}

/// The sums of one row of W, ring items from `firstItem` on, in lane m for row m of x.
void GemvBulkEmission::printProduct(CodeWriter& code) {
  code.format("float sums[%d][%d] = {};", region.rows, vector);
  code.openFormat("for (int piece = 0; piece < %d; ++piece)", pieces);
  code.line("const unsigned char* bytes = ring.take(firstItem + piece);");
  code.format("const int first = piece * %d;", piece);
  if (input.depth % piece == 0 || pieces == 1)
    code.format("constexpr int count = %d;", std::min(piece, input.depth));
  else
    code.format("const int count = min(%d, %d - first);", piece, input.depth);
  code.line("#pragma unroll 8");
  code.openFormat("for (int step = 0; step < count; step += %d)", 32 * vector);
  code.format("const int k = step + lane * %d;", vector);
  code.format("float w[%d] = {};", vector);
  code.line("if (k < count)");
  code.format("  decodeRow<%s>(w, bytes, 0, %d, k);", weightType(), input.depth);
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  code.unroll();
  code.openFormat("for (int h = 0; h < %d; ++h)", vector / inputVector);
  code.format("float x[%d];", inputVector);
  code.format("loadVector(x, input + m * %d + first + step + h * %d + lane * %d);", paddedDepth,
              32 * inputVector, inputVector);
  code.unroll();
  code.openFormat("for (int j = 0; j < %d; ++j)", inputVector);
  code.format("float& sum = sums[m][h * %d + j];", inputVector);
  // A lane without an element keeps its sum, sign of zero included.
  code.format("sum = k < count ? __fmaf_rn(x[j], w[h * %d + j], sum) : sum;", inputVector);
  code.close();
  code.close();
  code.close();
  code.close();
  code.line("ring.release(firstItem + piece, rowAt);");
  code.close();
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  code.line("const float total = combineWarpLanes(sums[m]);");
  code.line("if (lane == m)");
  code.line("  results[product][0] = total;");
  code.close();
}

/// The epilogues and stores of a line: lane m has row m.
LogicalResult GemvBulkEmission::printResults(CodeWriter& code) {
  code.openFormat("if (lane < %d)", region.rows);
  for (ProductRegion::Group& group : region.groups) {
    bool several = region.groups.size() > 1;
    if (several)
      code.openFormat("if (line >= %d && line < %d)", group.firstLine,
                      group.firstLine + group.columns);
    code.format("const int column = line - %d;", group.firstLine);
    RegionPrinter printer(context, group.products.front().op.getType().getShape(), /*flat=*/false,
                          /*width=*/1);
    printer.moveTo(code, {"static_cast<long long>(lane)", "column", ""});
    for (auto [index, product] : llvm::enumerate(group.products)) {
      Type element = product.op.getType().getElementType();
      if (!element.isF32())
        code.format("results[%d][0] = roundTo<%s>(results[%d][0]);", index, deviceType(element),
                    index);
      printer.define(product.op.getResult(), absl::StrFormat("results[%d]", index));
    }
    for (Value yielded : group.yields)
      if (failed(printer.store(yielded)))
        return failure();
    if (several)
      code.close();
  }
  code.close();
  return success();
}

LogicalResult GemvBulkEmission::emit() {
  if (failed(readSchedule()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh", "bulk.cuh"};
  std::vector<Access> weights;
  for (ProductRegion::Group& group : region.groups)
    for (ProductRegion::Product product : group.products)
      weights.push_back(context.access(product.op.getWeight()));
  printRing(structure.begin(PhaseKind::Load, weights, {{MemorySpace::Shared, "ring"}}));
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  // What the prologue makes for others is stored with the rest: one store phase holds both.
  bool stores = !region.prologueYields.empty();
  CodeWriter& prologue =
      stores ? structure.begin(PhaseKind::Store, reads, context.results())
             : structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Shared, "input"}});
  if (failed(printInput(prologue)))
    return failure();
  reads.push_back({MemorySpace::Shared, "ring"});
  reads.push_back({MemorySpace::Shared, "input"});
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.open("for (int i = 0; i < lines; ++i)");
  code.line("const int line = worker + i * workers;");
  code.format("float results[%d][1] = {};", joined);
  code.unroll();
  code.openFormat("for (int product = 0; product < %d; ++product)", joined);
  code.format("const int firstItem = (i * %d + product) * %d;", joined, pieces);
  printProduct(code);
  code.close();
  LogicalResult printed = printResults(code);
  code.close();
  return printed;
}

static LogicalResult emitGemvBulk(KernelContext& context) {
  ProductRegion region;
  if (std::string reason = readProductRegion(context.kernel, region); !reason.empty())
    return context.kernel.emitOpError("has no emitter: ") << reason;
  if (region.inputs.size() > 1)
    return context.kernel.emitOpError("expects products of one input");
  return GemvBulkEmission(context, region).emit();
}

const Emitter gemvBulk = {"gemv_bulk", emitGemvBulk};

} // namespace tenon::codegen::cuda::emitters
