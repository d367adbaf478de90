#include "codegen/cuda/KernelSource.h"

#include "absl/strings/str_format.h"
#include "codegen/cuda/DependentLaunch.h"
#include "codegen/cuda/LargestSearch.h"
#include "kernels/KernelKind.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

absl::StatusOr<Architecture> readArchitecture(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  if (!target)
    return absl::InvalidArgumentError("expects a module with a target");
  for (auto feature : target.getFeatures().getAsRange<StringAttr>()) {
    llvm::StringRef number = feature.getValue();
    int capability;
    if (number.consume_front("sm_") && !number.consumeInteger(10, capability) && capability >= 80)
      return Architecture{feature.getValue().str(), capability,
                          target.getProperty("registers_per_sm").value_or(0),
                          target.getProperty("smem_bytes_per_block").value_or(0)};
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "expects a CUDA target with a feature sm_80 or later, but got %s", target.getName().str()));
}

FailureOr<KernelSource> printKernel(KernelOp kernel, const Architecture& architecture,
                                    std::vector<MemorySpace> spaces, bool stamps) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  if (!schedule)
    return kernel.emitOpError("expects a schedule");
  const Emitter* emitter = findEmitter(schedule.getEmitter());
  if (!emitter)
    return kernel.emitOpError("expects a schedule of an emitter that CUDA has, but got ")
           << schedule;
  KernelContext context(kernel, architecture, std::move(spaces));
  if (failed(emitter->emit(context)))
    return failure();
  surroundSearch(context);
  if (failed(context.expectWritten()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.stamps = stamps;
  if (Verdict verdict = finishPhases(structure); !verdict)
    return kernel.emitOpError(verdict.reason());
  return KernelSource{structure.symbol, structure.print(), context.blockResources(), structure.pdl,
                      structure.tensorMaps};
}

} // namespace tenon::codegen::cuda
