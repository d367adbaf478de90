#include "passes/schedule/ScheduleKernels.h"

#include "ir/Dialect.h"
#include "passes/schedule/ScheduleRule.h"
#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "passes/schedule/ScheduleKernels.h.inc"

namespace {

class ScheduleKernelsPass : public impl::ScheduleKernelsPassBase<ScheduleKernelsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target) {
      module.emitError("expects a target to schedule for, '")
          << TenonDialect::targetAttrName << "'";
      return signalPassFailure();
    }
    LogicalResult scheduled = target.getDevice() == DeviceKind::Cuda
                                  ? scheduleAll(schedule::findCudaRule, readCudaTarget(target))
                                  : scheduleAll(schedule::findRule, readCpuTarget(target));
    if (failed(scheduled))
      signalPassFailure();
  }

private:
  template <typename Rule, typename Target>
  LogicalResult scheduleAll(const Rule* (*findRule)(KernelOp), FailureOr<Target> target) {
    if (failed(target))
      return failure();
    WalkResult result = getOperation().walk([&](KernelOp kernel) {
      const Rule* rule = findRule(kernel);
      if (!rule) {
        kernel.emitOpError("expects a region that a schedule rule knows, but no rule matches");
        return WalkResult::interrupt();
      }
      kernel.setScheduleAttr(rule->choose(kernel, *target));
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  FailureOr<schedule::CudaTarget> readCudaTarget(TargetAttr target) {
    std::optional<int64_t> sms = target.getProperty("sms");
    if (!sms || *sms < 1)
      return getOperation().emitError("expects positive sms in target ") << target.getName();
    int capability = 0;
    for (auto feature : target.getFeatures().getAsRange<StringAttr>()) {
      llvm::StringRef number = feature.getValue();
      if (number.consume_front("sm_"))
        number.consumeInteger(10, capability);
    }
    return schedule::CudaTarget{*sms, /*bulkCopies=*/capability >= 90};
  }

  FailureOr<schedule::CpuTarget> readCpuTarget(TargetAttr target) {
    ModuleOp module = getOperation();
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
