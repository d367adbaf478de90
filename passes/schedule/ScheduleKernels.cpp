#include "passes/schedule/ScheduleKernels.h"

#include "ir/Dialect.h"
#include "passes/schedule/Scheduler.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "passes/schedule/ScheduleKernels.h.inc"

namespace {

class ScheduleKernelsPass : public impl::ScheduleKernelsPassBase<ScheduleKernelsPass> {
public:
  using ScheduleKernelsPassBase::ScheduleKernelsPassBase;
  explicit ScheduleKernelsPass(const ScheduleOptions& options) : given(options) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target) {
      module.emitError("expects a target to schedule for, '")
          << TenonDialect::targetAttrName << "'";
      return signalPassFailure();
    }
    ScheduleOptions options = given.value_or(readOptions());
    FailureOr<schedule::Scheduler> scheduler =
        schedule::Scheduler::create(module, target, options.use, options.times);
    if (failed(scheduler) || failed(scheduleAll(*scheduler)))
      signalPassFailure();
  }

private:
  std::optional<ScheduleOptions> given;

  ScheduleOptions readOptions() const {
    using kernels::LibraryGemms;
    return {.use = {libraries ? LibraryGemms::All : LibraryGemms::None, tf32}};
  }

  LogicalResult scheduleAll(const schedule::Scheduler& scheduler) {
    WalkResult result = getOperation().walk([&](KernelOp kernel) {
      ScheduleAttr schedule = scheduler.best(kernel, kernels::neighboursOf(kernel));
      if (!schedule) {
        kernel.emitOpError("expects a region that a schedule rule knows, but ")
            << scheduler.accepts(kernel).reason();
        return WalkResult::interrupt();
      }
      kernel.setScheduleAttr(schedule);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace

std::unique_ptr<Pass> createScheduleKernelsPass(const ScheduleOptions& options) {
  return std::make_unique<ScheduleKernelsPass>(options);
}

} // namespace tenon::passes
