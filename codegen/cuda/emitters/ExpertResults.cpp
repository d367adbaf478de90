#include "codegen/cuda/emitters/ExpertResults.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

/// What the operations after the GEMMs read: arguments, and rows of tables.
llvm::SetVector<Value> ExpertResults::operandsAfter() {
  llvm::SetVector<Value> found;
  for (auto op : context.kernel.getBlock().getOps<ElementwiseOpInterface>())
    for (Value operand : op->getOperands())
      if (operand.getDefiningOp<EmbeddingOp>() ||
          (llvm::isa<BlockArgument>(operand) &&
           !isBlockQuantized(elementTypeOf(operand.getType()))))
        found.insert(operand);
  return found;
}

/// The variable of an operand after the GEMMs.
std::string ExpertResults::nameOf(Value operand) {
  auto embedding = operand.getDefiningOp<EmbeddingOp>();
  if (!embedding)
    return "early_" + context.pointer(operand);
  return absl::StrFormat("early_%s_%s", context.pointer(embedding.getTable()),
                         llvm::isa<BlockArgument>(embedding.getIds())
                             ? context.pointer(embedding.getIds())
                             : "chosen");
}

/// The id of a row of a table, where the region chooses it or takes the pair's expert by it.
std::string ExpertResults::idOf(EmbeddingOp op) {
  bool isExpert = region.choice || op.getIds() == region.gemms.front().getIds();
  return isExpert ? "id" : context.pointer(op.getIds()) + "[pair]";
}

/// Whether a thread's element of a row of a table can wait in a register as it lies in memory.
static bool isPlain(EmbeddingOp op) {
  return !isBlockQuantized(op.getTable().getType().getElementType());
}

/// Of what the region chooses, the pair's expert is known.
void ExpertResults::defineChosen(RegionPrinter& printer) {
  if (region.choice)
    printer.defineId(region.choice->best.getIndices(), "id");
}

LogicalResult ExpertResults::preload(CodeWriter& code) {
  if (region.sum && region.chosen <= context.structure.threads) {
    code.format("%s early_weight;", deviceType(elementTypeOf(region.sum.getWeights().getType())));
    code.format("if (threadIdx.x < %d)", region.chosen);
    code.format("  early_weight = %s[row * %d + threadIdx.x];",
                context.pointer(region.sum.getWeights()), region.chosen);
  }
  llvm::SetVector<Value> operands = operandsAfter();
  if (operands.empty() || !hasOneElement())
    return success();
  for (Value operand : operands) {
    auto embedding = operand.getDefiningOp<EmbeddingOp>();
    Value kept = embedding && isPlain(embedding) ? Value(embedding.getTable()) : operand;
    code.format("%s %s;", deviceType(elementTypeOf(kept.getType())), nameOf(operand));
  }
  code.format("if (const int column = firstColumn + static_cast<int>(threadIdx.x);");
  code.openFormat("    threadIdx.x < %d && column < %d)", perTile, region.columns);
  Value last = region.sum ? region.sum.getResult() : region.gemms.front().getResult();
  RegionPrinter printer(context, shapeOf(last.getType()), /*flat=*/false, /*width=*/1);
  printer.moveTo(code, {region.sum ? "row" : "pair", "column", ""});
  defineChosen(printer);
  for (Value operand : operands) {
    if (auto argument = llvm::dyn_cast<BlockArgument>(operand)) {
      code.format("%s = *(%s);", nameOf(operand), printer.address(argument));
      continue;
    }
    if (auto embedding = operand.getDefiningOp<EmbeddingOp>(); isPlain(embedding)) {
      llvm::ArrayRef<int64_t> table = embedding.getTable().getType().getShape();
      std::string id = idOf(embedding);
      code.format("%s = %s[static_cast<long long>(%s >= 0 && %s < %d ? %s : 0) * %d + column];",
                  nameOf(operand), context.pointer(embedding.getTable()), id, id, table[0], id,
                  table[1]);
      continue;
    }
    FailureOr<std::string> element = printer.element(operand);
    if (failed(element))
      return failure();
    code.line("for (int j = 0; j < 1; ++j)");
    code.format("  %s = fromFloat<%s>(%s);", nameOf(operand),
                deviceType(elementTypeOf(operand.getType())), *element);
  }
  code.close();
  return success();
}

void ExpertResults::keep(CodeWriter& code) {
  if (!region.sum)
    return;
  int64_t threads = context.structure.threads;
  code.format("__shared__ float weights[%d];", region.chosen);
  code.format("for (int j = threadIdx.x; j < %d; j += %d)", region.chosen, threads);
  code.format("  weights[j] = toFloat(%s);",
              region.chosen <= threads
                  ? "early_weight"
                  : absl::StrFormat("%s[row * %d + j]", context.pointer(region.sum.getWeights()),
                                    region.chosen));
}

/// What `preload` has loaded.
void ExpertResults::defineEarly(CodeWriter& code, RegionPrinter& printer) {
  if (!hasOneElement())
    return;
  for (Value operand : operandsAfter()) {
    std::string name = nameOf(operand), value = absl::StrFormat("toFloat(%s)", name);
    if (auto embedding = operand.getDefiningOp<EmbeddingOp>(); embedding && isPlain(embedding)) {
      std::string id = idOf(embedding);
      value = absl::StrFormat("%s >= 0 && %s < %d ? roundTo<%s>(%s) : 0.0f", id, id,
                              embedding.getTable().getType().getShape()[0],
                              deviceType(elementTypeOf(operand.getType())), value);
    }
    code.format("const float wide_%s[1] = {%s};", name, value);
    printer.define(operand, "wide_" + name);
  }
}

bool ExpertResults::hasOneElement() const {
  return pairsAtOnce == 0 && perTile <= context.structure.threads;
}

/// Begins what each of `count` elements of a tile takes, of number `i`.
void ExpertResults::openElements(CodeWriter& code, int64_t count) {
  if (!hasOneElement())
    return code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", count,
                           context.structure.threads);
  code.openFormat("if (const int i = threadIdx.x; i < %d)", count);
}

LogicalResult ExpertResults::storeYields(RegionPrinter& printer) {
  llvm::SmallPtrSet<Value, 4> stored;
  for (Value yielded : context.kernel.getYield().getValues())
    if (!(region.choice && region.choice->gives(yielded)) && stored.insert(yielded).second &&
        failed(printer.store(yielded)))
      return failure();
  return success();
}

/// Stores what the region makes of the sums in `parts`: those of pair `m` where it exists,
/// zeros where it has no expert.
LogicalResult ExpertResults::printStore(CodeWriter& code) {
  openElements(code, std::max<int64_t>(pairsAtOnce, 1) * perTile);
  code.format("const int m = i / %d, inTile = i %% %d;", perTile, perTile);
  code.line("const int column = firstColumn + inTile;");
  if (pairsAtOnce > 0) {
    code.openFormat("if (column < %d && begin + m < found)", region.columns);
    code.line("const int entry = listed[begin + m];");
    code.line("const bool exists = entry >= 0;");
    code.line("const long long pair = exists ? entry : ~entry;");
  } else {
    code.openFormat("if (column < %d)", region.columns);
  }
  llvm::ArrayRef<int64_t> shape = region.gemms.front().getType().getShape();
  RegionPrinter printer(context, shape, /*flat=*/false, /*width=*/1);
  printer.moveTo(code, {"pair", "column", ""});
  defineChosen(printer);
  defineEarly(code, printer);
  for (auto [index, gemm] : llvm::enumerate(region.gemms)) {
    code.format("float sum%d[1] = {exists ? roundTo<%s>(parts[%d][m][inTile]) : 0.0f};", index,
                deviceType(gemm.getType().getElementType()), index);
    printer.define(gemm.getResult(), absl::StrFormat("sum%d", index));
  }
  if (failed(storeYields(printer)))
    return failure();
  code.close();
  code.close();
  return success();
}

/// The weighted sum of a row's `parts`.
LogicalResult ExpertResults::printSum(CodeWriter& code) {
  openElements(code, perTile);
  code.line("const int column = firstColumn + i;");
  code.openFormat("if (column < %d)", region.columns);
  code.line("float total = 0.0f;");
  code.line("#pragma unroll 8");
  code.openFormat("for (int j = 0; j < %d; ++j)", region.chosen);
  code.format("total = __fmaf_rn(weights[j], roundTo<%s>(parts[0][j][i]), total);",
              deviceType(region.gemms.front().getType().getElementType()));
  code.close();
  code.format("float result[1] = {roundTo<%s>(total)};",
              deviceType(region.sum.getType().getElementType()));
  llvm::ArrayRef<int64_t> shape = region.sum.getType().getShape();
  RegionPrinter printer(context, shape, /*flat=*/false, /*width=*/1);
  printer.moveTo(code, {"row", "column", ""});
  defineEarly(code, printer);
  printer.define(region.sum.getResult(), "result");
  if (failed(storeYields(printer)))
    return failure();
  code.close();
  code.close();
  return success();
}

LogicalResult ExpertResults::print(CodeWriter& code) {
  return region.sum ? printSum(code) : printStore(code);
}

} // namespace tenon::codegen::cuda
