#include "kernels/cuda/ExpertChoice.h"
#include "codegen/cuda/emitters/ChoicePrinter.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Softmax of a row's scores, its largest elements and their weights, a warp a row: all of a row is
/// in its registers.
static LogicalResult emitExpertChoice(KernelContext& context) {
  FailureOr<ExpertChoiceKernel> kernel = context.read<ExpertChoiceKernel>();
  if (failed(kernel))
    return failure();
  constexpr int64_t warp = 32;
  ChoicePrinter printer(context, kernel->region);
  if (failed(printer.check()))
    return failure();
  if (context.structure.threads != warp)
    return context.kernel.emitOpError("expects blocks of one warp, but got ")
           << context.structure.threads << " threads";
  if (failed(context.expectTiles(kernel->region.rows)))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"expert_choice.cuh"};
  CodeWriter& code = structure.begin(
      PhaseKind::Store, {context.access(kernel->region.softmax.getInput())}, context.results());
  printer.print(code, "tile");
  printer.printStores(code, "tile");
  return success();
}

extern constexpr Emitter expertChoice = {ExpertChoiceKernel::name, emitExpertChoice};

} // namespace tenon::codegen::cuda::emitters
