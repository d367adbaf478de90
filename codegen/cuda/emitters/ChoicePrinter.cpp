#include "codegen/cuda/emitters/ChoicePrinter.h"

using namespace mlir;

namespace tenon::codegen::cuda {

/// True for an order that halves `lanes` lanes or, where that is 0, any number from `atLeast` on,
/// of one chunk of a row of `length`.
static bool halves(OrderAttr order, int64_t length, int64_t lanes, int64_t atLeast) {
  bool whole = order.getChunk() == 0 || order.getChunk() >= length;
  return whole && order.getTree() == CombineTree::Halving &&
         (lanes == 0 ? order.getLanes() >= atLeast : order.getLanes() == lanes);
}

LogicalResult ChoicePrinter::check() {
  constexpr int64_t lanes = 128;
  FailureOr<OrderAttr> order = orderOf(region.softmax);
  if (failed(order))
    return failure();
  if (!halves(*order, region.experts, lanes, 0))
    return region.softmax.emitOpError("expects an order of one chunk in ")
           << lanes << " lanes that halve, but got " << *order;
  if (!region.sum)
    return success();
  FailureOr<OrderAttr> ofSum = orderOf(region.sum);
  if (failed(ofSum))
    return failure();
  if (!halves(*ofSum, region.chosen(), 0, region.chosen()))
    return region.sum.emitOpError("expects an order of one chunk in at least ")
           << region.chosen() << " lanes that halve, but got " << *ofSum;
  return success();
}

void ChoicePrinter::print(CodeWriter& code, const std::string& row) {
  code.format("ExpertChoice<%d, %d> choice;", region.experts, region.chosen());
  printLoad(code, row);
  code.line("choice.soften();");
  code.line("choice.search();");
}

void ChoicePrinter::printLoad(CodeWriter& code, const std::string& row) {
  code.format("choice.load(%s + %s * %d);", context.pointer(region.softmax.getInput()), row,
              region.experts);
}

void ChoicePrinter::printStores(CodeWriter& code, const std::string& row) {
  if (region.sum)
    code.line("const float sum = choice.sum();");
  code.openFormat("if (threadIdx.x < %d)", region.chosen());
  auto store = [&](Value value, const char* expression) {
    for (const std::string& pointer : context.destinations(value))
      code.format("%s[%s * %d + threadIdx.x] = %s;", pointer, row, region.chosen(), expression);
  };
  store(region.best.getValues(), "choice.own.value");
  store(region.best.getIndices(), "choice.own.index");
  if (region.weights)
    store(region.weights.getResult(), "choice.own.value / sum");
  code.close();
}

void ChoicePrinter::printScoresOfPair(CodeWriter& code) {
  code.format("const long long row = pair / %d;", region.chosen());
  code.format("ExpertChoice<%d, %d> choice;", region.experts, region.chosen());
  code.line("if (threadIdx.x < 32)");
  printLoad(code, "row");
}

void ChoicePrinter::printOfPair(CodeWriter& code, int64_t tiles) {
  code.format("__shared__ int chosen[%d];", region.chosen());
  code.open("if (threadIdx.x < 32)");
  code.line("choice.soften();");
  code.line("choice.search();");
  code.format("if (threadIdx.x < %d)", region.chosen());
  code.line("  chosen[threadIdx.x] = choice.own.index;");
  code.openFormat("if (tile %% %d == 0)", tiles);
  printStores(code, "row");
  code.close();
  code.close();
  code.line("__syncthreads();");
}

} // namespace tenon::codegen::cuda
