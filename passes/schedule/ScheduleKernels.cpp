#include "passes/schedule/ScheduleKernels.h"

#include "ir/Dialect.h"
#include "passes/schedule/ScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "passes/schedule/ScheduleKernels.h.inc"

namespace {

class ScheduleKernelsPass : public impl::ScheduleKernelsPassBase<ScheduleKernelsPass> {
public:
  void runOnOperation() override {
    FailureOr<schedule::CpuTarget> target = readTarget();
    if (failed(target))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](KernelOp kernel) {
      const schedule::ScheduleRule* rule = schedule::findRule(kernel);
      if (!rule) {
        kernel.emitOpError("expects a region that a schedule rule knows, but no rule matches");
        return WalkResult::interrupt();
      }
      kernel.setScheduleAttr(rule->choose(kernel, *target));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  FailureOr<schedule::CpuTarget> readTarget() {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target)
      return module.emitError("expects a target to schedule for, '")
             << TenonDialect::targetAttrName << "'";
    if (target.getDevice() != DeviceKind::Cpu)
      return module.emitError("expects a CPU to schedule for, but got ") << target.getName();
    std::optional<int64_t> bits = target.getProperty("vector_bits");
    std::optional<int64_t> registers = target.getProperty("vector_registers");
    std::optional<int64_t> l2Bytes = target.getProperty("l2_bytes");
    if (!bits || !llvm::isPowerOf2_64(*bits) || *bits < 128 || *bits > 512)
      return module.emitError("expects vector_bits of 128, 256 or 512 in target ")
             << target.getName();
    if (!registers || *registers < 8 || !l2Bytes || *l2Bytes < 1)
      return module.emitError(
                 "expects at least 8 vector_registers and positive l2_bytes in target ")
             << target.getName();
    return schedule::CpuTarget{*bits / 32, *registers, *l2Bytes};
  }
};

} // namespace
} // namespace tenon::passes
