#include "kernels/cuda/ExpertChoice.h"
#include "codegen/cuda/Emitter.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// True for an order that halves `lanes` lanes or, where not 0, any number from `atLeast` on, of
/// one chunk of a row of `length`.
static bool halves(OrderAttr order, int64_t length, int64_t lanes, int64_t atLeast) {
  bool whole = order.getChunk() == 0 || order.getChunk() >= length;
  return whole && order.getTree() == CombineTree::Halving &&
         (lanes == 0 ? order.getLanes() >= atLeast : order.getLanes() == lanes);
}

/// Softmax of a row's scores, its largest elements and their weights, a warp a row: all of a row is
/// in its registers.
static LogicalResult emitExpertChoice(KernelContext& context) {
  FailureOr<ExpertChoiceKernel> kernel = context.read<ExpertChoiceKernel>();
  if (failed(kernel))
    return failure();
  constexpr int64_t warp = 32, lanes = 4 * warp;
  auto chosen = static_cast<int64_t>(kernel->best.getK());
  FailureOr<OrderAttr> order = orderOf(kernel->softmax);
  if (failed(order))
    return failure();
  if (!halves(*order, kernel->experts, lanes, 0))
    return kernel->softmax.emitOpError("expects an order of one chunk in ")
           << lanes << " lanes that halve, but got " << *order;
  if (kernel->sum) {
    FailureOr<OrderAttr> ofSum = orderOf(kernel->sum);
    if (failed(ofSum))
      return failure();
    if (!halves(*ofSum, chosen, 0, chosen))
      return kernel->sum.emitOpError("expects an order of one chunk in at least ")
             << chosen << " lanes that halve, but got " << *ofSum;
  }
  if (context.structure.threads != warp)
    return context.kernel.emitOpError("expects blocks of one warp, but got ")
           << context.structure.threads << " threads";
  if (failed(context.expectTiles(kernel->rows)))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"expert_choice.cuh"};
  CodeWriter& code = structure.begin(PhaseKind::Store, {context.access(kernel->softmax.getInput())},
                                     context.results());
  code.format("ExpertChoice<%d, %d> choice;", kernel->experts, chosen);
  code.format("choice.soften(%s + tile * %d);", context.pointer(kernel->softmax.getInput()),
              kernel->experts);
  code.line("choice.search();");
  if (kernel->sum)
    code.line("const float sum = choice.sum();");
  code.openFormat("if (threadIdx.x < %d)", chosen);
  auto store = [&](Value value, const char* expression) {
    for (const std::string& pointer : context.destinations(value))
      code.format("%s[tile * %d + threadIdx.x] = %s;", pointer, chosen, expression);
  };
  store(kernel->best.getValues(), "choice.own.value");
  store(kernel->best.getIndices(), "choice.own.index");
  if (kernel->weights)
    store(kernel->weights.getResult(), "choice.own.value / sum");
  code.close();
  return success();
}

extern const Emitter expertChoice = {ExpertChoiceKernel::name, emitExpertChoice};

} // namespace tenon::codegen::cuda::emitters
