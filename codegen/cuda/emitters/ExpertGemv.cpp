#include "kernels/cuda/ExpertGemv.h"
#include "codegen/cuda/RegionPrinter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Products with the experts that rows choose, bound by the bytes of their matrices: a warp takes
/// `columns_per_warp` rows of a matrix and reads each once for `pairs_at_once` pairs of a row of x
/// and an expert. A tile is some columns of one pair, whose expert it reads in the ids; or, with
/// `pairs_at_once`, some columns of one expert, which lists the pairs that it takes part in (the
/// order of the list changes no sum); or, beside a weighted sum, some columns of all pairs of a
/// row, which warps take in turn.
///
/// Parameters: those of `ExpertGemvSchedule`. The order has 32 · vector lanes.
class ExpertEmission {
public:
  ExpertEmission(KernelContext& context, ExpertGemvKernel kernel)
      : context(context), region(kernel.region), schedule(kernel.schedule),
        first(region.products.front()) {}

  LogicalResult emit();

private:
  LogicalResult check();
  void printPlace(CodeWriter& code);
  void printRows(CodeWriter& code);
  void printStep(CodeWriter& code);
  void printProducts(CodeWriter& code);
  LogicalResult printStore(CodeWriter& code);
  LogicalResult printExpert(CodeWriter& code);
  LogicalResult printSum(CodeWriter& code);
  LogicalResult storeYields(RegionPrinter& printer);
  std::string ids() { return context.pointer(first.getIds()); }
  int64_t pairs() const { return std::max<int64_t>(schedule.pairsAtOnce, 1); }
  int64_t perTile() const {
    return schedule.columnsPerWarp * (region.sum ? 1 : context.structure.threads / 32);
  }

  KernelContext& context;
  ExpertRegion region;
  ExpertGemvSchedule schedule;
  ExpertMatmulOp first;
};

} // namespace

LogicalResult ExpertEmission::check() {
  int64_t vector = schedule.vector;
  if (!llvm::isPowerOf2_64(vector) || region.depth % vector != 0)
    return context.kernel.emitOpError(
               "expects a vector of a power of two that divides the depth of "
               "the experts, but got ")
           << vector;
  for (ExpertMatmulOp op : region.products) {
    FailureOr<OrderAttr> order = orderOf(op);
    if (failed(order))
      return failure();
    bool whole = order->getChunk() == 0 || order->getChunk() >= region.depth;
    if (order->getLanes() != 32 * vector || order->getTree() != CombineTree::Halving || !whole)
      return op.emitOpError("expects an order of one chunk in ")
             << 32 * vector << " lanes that halve, but got " << *order;
  }
  auto products = static_cast<int64_t>(region.products.size());
  if (products * pairs() * schedule.columnsPerWarp * vector > 128)
    return context.kernel.emitOpError(
        "expects products, pairs_at_once, columns_per_warp and vector "
        "that fit into registers");
  if (region.sum && schedule.pairsAtOnce > 0)
    return context.kernel.emitOpError("expects no pairs_at_once beside a weighted sum, but got ")
           << schedule.pairsAtOnce;
  int64_t parts = schedule.pairsAtOnce > 0 ? region.experts : region.pairs();
  if (region.sum)
    parts = region.rows;
  return context.expectTiles(parts * llvm::divideCeil(region.columns, perTile()));
}

void ExpertEmission::printPlace(CodeWriter& code) {
  int64_t tilesOfPart = llvm::divideCeil(region.columns, perTile());
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const int firstColumn = static_cast<int>(tile %% %d) * %d;", tilesOfPart, perTile());
  if (region.sum) {
    code.format("const long long row = tile / %d;", tilesOfPart);
    code.format("__shared__ float parts[1][%d][%d];", region.chosen, perTile());
    return;
  }
  if (schedule.pairsAtOnce > 0) {
    code.format("const int expert = static_cast<int>(tile / %d);", tilesOfPart);
  } else {
    code.format("const long long pair = tile / %d;", tilesOfPart);
    code.format("const int id = %s[pair];", ids());
    code.format("const bool exists = id >= 0 && id < %d;", region.experts);
    code.line("const int expert = exists ? id : 0;");
  }
  code.format("__shared__ float parts[%d][%d][%d];", region.products.size(), pairs(), perTile());
}

/// The rows of W of a warp; columns behind the end repeat the last one and are not stored.
void ExpertEmission::printRows(CodeWriter& code) {
  code.format("long long weightRow[%d];", schedule.columnsPerWarp);
  code.unroll();
  code.format("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
  code.format("  weightRow[c] = static_cast<long long>(expert) * %d + min(firstColumn + %sc, %d);",
              region.columns,
              region.sum ? "" : absl::StrFormat("warp * %d + ", schedule.columnsPerWarp),
              region.columns - 1);
}

/// One step along the depth: the rows of W of each product, then every row of x in turn.
void ExpertEmission::printStep(CodeWriter& code) {
  std::string weightType = deviceType(elementTypeOf(first.getWeight().getType()));
  code.format("float w[%d][%d][%d];", region.products.size(), schedule.columnsPerWarp,
              schedule.vector);
  for (auto [index, product] : llvm::enumerate(region.products)) {
    code.unroll();
    code.format("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
    code.format("  decodeRow<%s>(w[%d][c], %s, weightRow[c], %d, k);", weightType, index,
                context.pointer(product.getWeight()), region.depth);
  }
  bool sameInput = llvm::all_of(region.products, [&](ExpertMatmulOp product) {
    return product.getInput() == first.getInput();
  });
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", pairs());
  for (auto [index, product] : llvm::enumerate(region.products)) {
    if (index == 0 || !sameInput) {
      code.format("float x%d[%d];", index, schedule.vector);
      code.format("loadVector(x%d, %s + inputRow[m] * %d + k);", index,
                  context.pointer(product.getInput()), region.depth);
    }
    code.unroll();
    code.format("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
    code.unroll();
    code.format("  for (int j = 0; j < %d; ++j)", schedule.vector);
    code.format("    sums[%d][m][c][j] = __fmaf_rn(x%d[j], w[%d][c][j], sums[%d][m][c][j]);", index,
                sameInput ? 0 : index, index, index);
  }
  code.close();
}

/// The sums of all products for the rows `inputRow`, in `parts`.
void ExpertEmission::printProducts(CodeWriter& code) {
  code.format("float sums[%d][%d][%d][%d] = {};", region.products.size(), pairs(),
              schedule.columnsPerWarp, schedule.vector);
  code.line("#pragma unroll 4");
  code.openFormat("for (int k = lane * %d; k < %d; k += %d)", schedule.vector, region.depth,
                  32 * schedule.vector);
  printStep(code);
  code.close();
  code.unroll();
  code.format("for (int p = 0; p < %d; ++p)", region.products.size());
  code.unroll();
  code.format("for (int m = 0; m < %d; ++m)", pairs());
  code.unroll();
  code.openFormat("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
  code.line("const float sum = combineLanes<32>(sums[p][m][c], nullptr);");
  code.line("if (lane == 0)");
  if (region.sum)
    code.line("  parts[p][j][c] = exists ? sum : 0.0f;");
  else
    code.format("  parts[p][m][warp * %d + c] = sum;", schedule.columnsPerWarp);
  code.close();
}

LogicalResult ExpertEmission::storeYields(RegionPrinter& printer) {
  llvm::SmallPtrSet<Value, 4> stored;
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  return success();
}

/// Stores what the region makes of the sums in `parts`: those of pair `pairOf(m)` where it exists,
/// zeros where it has no expert.
LogicalResult ExpertEmission::printStore(CodeWriter& code) {
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", pairs() * perTile(),
                  context.structure.threads);
  code.format("const int m = i / %d, inTile = i %% %d;", perTile(), perTile());
  code.line("const int column = firstColumn + inTile;");
  if (schedule.pairsAtOnce > 0) {
    code.openFormat("if (column < %d && begin + m < found)", region.columns);
    code.line("const int entry = listed[begin + m];");
    code.line("const bool exists = entry >= 0;");
    code.line("const long long pair = exists ? entry : ~entry;");
  } else {
    code.openFormat("if (column < %d)", region.columns);
  }
  llvm::ArrayRef<int64_t> shape = first.getType().getShape();
  RegionPrinter printer(context, shape, /*flat=*/false, /*width=*/1);
  printer.moveTo(code, {"pair", "column", ""});
  for (auto [index, product] : llvm::enumerate(region.products)) {
    code.format("float sum%d[1] = {exists ? roundTo<%s>(parts[%d][m][inTile]) : 0.0f};", index,
                deviceType(product.getType().getElementType()), index);
    printer.define(product.getResult(), absl::StrFormat("sum%d", index));
  }
  if (failed(storeYields(printer)))
    return failure();
  code.close();
  code.close();
  return success();
}

/// A tile of an expert: lists its pairs, the first expert's also those of none, as complements, and
/// multiplies them some at once.
LogicalResult ExpertEmission::printExpert(CodeWriter& code) {
  int64_t segment = std::min(ExpertGemvKernel::mostListed, region.pairs());
  code.format("__shared__ int listed[%d];", segment);
  code.line("__shared__ int found;");
  code.openFormat("for (int segment = 0; segment < %d; segment += %d)", region.pairs(), segment);
  code.line("if (threadIdx.x == 0)");
  code.line("  found = 0;");
  code.line("__syncthreads();");
  code.openFormat("for (int i = segment + threadIdx.x; i < min(segment + %d, %d); i += %d)",
                  segment, region.pairs(), context.structure.threads);
  code.format("const int id = %s[i];", ids());
  code.format("const bool exists = id >= 0 && id < %d;", region.experts);
  code.line("if (exists ? id == expert : expert == 0)");
  code.line("  listed[atomicAdd(&found, 1)] = exists ? i : ~i;");
  code.close();
  code.line("__syncthreads();");
  code.openFormat("for (int begin = 0; begin < found; begin += %d)", pairs());
  code.format("long long inputRow[%d];", pairs());
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", pairs());
  code.line("const int entry = listed[min(begin + m, found - 1)];");
  code.format("inputRow[m] = (entry >= 0 ? entry : ~entry) / %d;", region.sharing());
  code.close();
  printProducts(code);
  code.line("__syncthreads();");
  if (failed(printStore(code)))
    return failure();
  code.line("__syncthreads();");
  code.close();
  code.line("__syncthreads();");
  code.close();
  return success();
}

/// A tile of a row: its products, of which each warp takes whole ones, and their weighted sum.
LogicalResult ExpertEmission::printSum(CodeWriter& code) {
  code.openFormat("for (int j = warp; j < %d; j += %d)", region.chosen,
                  context.structure.threads / 32);
  code.format("const long long pair = row * %d + j;", region.chosen);
  code.format("const int id = %s[pair];", ids());
  code.format("const bool exists = id >= 0 && id < %d;", region.experts);
  code.line("const int expert = exists ? id : 0;");
  printRows(code);
  code.format("const long long inputRow[1] = {pair / %d};", region.sharing());
  printProducts(code);
  code.close();
  code.line("__syncthreads();");
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", perTile(),
                  context.structure.threads);
  code.line("const int column = firstColumn + i;");
  code.openFormat("if (column < %d)", region.columns);
  code.line("float total = 0.0f;");
  code.openFormat("for (int j = 0; j < %d; ++j)", region.chosen);
  code.format("const float weight = toFloat(%s[row * %d + j]);",
              context.pointer(region.sum.getWeights()), region.chosen);
  code.format("total = __fmaf_rn(weight, roundTo<%s>(parts[0][j][i]), total);",
              deviceType(first.getType().getElementType()));
  code.close();
  code.format("float result[1] = {roundTo<%s>(total)};",
              deviceType(region.sum.getType().getElementType()));
  llvm::ArrayRef<int64_t> shape = region.sum.getType().getShape();
  RegionPrinter printer(context, shape, /*flat=*/false, /*width=*/1);
  printer.moveTo(code, {"row", "column", ""});
  printer.define(region.sum.getResult(), "result");
  if (failed(storeYields(printer)))
    return failure();
  code.close();
  code.close();
  return success();
}

LogicalResult ExpertEmission::emit() {
  if (failed(check()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh"};
  std::vector<Access> reads = context.arguments(true);
  llvm::append_range(reads, context.arguments(false));
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  printPlace(code);
  if (region.sum)
    return printSum(code);
  printRows(code);
  if (schedule.pairsAtOnce > 0)
    return printExpert(code);
  code.format("const long long inputRow[1] = {pair / %d};", region.sharing());
  printProducts(code);
  code.line("__syncthreads();");
  return printStore(code);
}

static LogicalResult emitExpertGemv(KernelContext& context) {
  FailureOr<ExpertGemvKernel> kernel = context.read<ExpertGemvKernel>();
  return failed(kernel) ? failure() : ExpertEmission(context, *kernel).emit();
}

extern const Emitter expertGemv = {ExpertGemvKernel::name, emitExpertGemv};

} // namespace tenon::codegen::cuda::emitters
