#include "passes/schedule/Scheduler.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule {

static FailureOr<CudaTarget> readCudaTarget(ModuleOp module, TargetAttr target,
                                            bool libraries) {
  std::optional<int64_t> sms = target.getProperty("sms");
  if (!sms || *sms < 1)
    return module.emitError("expects positive sms in target ") << target.getName();
  int capability = 0;
  for (auto feature : target.getFeatures().getAsRange<StringAttr>()) {
    llvm::StringRef number = feature.getValue();
    if (number.consume_front("sm_"))
      number.consumeInteger(10, capability);
  }
  return CudaTarget{*sms, /*bulkCopies=*/capability >= 90, libraries};
}

static FailureOr<CpuTarget> readCpuTarget(ModuleOp module, TargetAttr target) {
  std::optional<int64_t> bits = target.getProperty("vector_bits");
  std::optional<int64_t> registers = target.getProperty("vector_registers");
  std::optional<int64_t> l2Bytes = target.getProperty("l2_bytes");
  if (!bits || !llvm::isPowerOf2_64(*bits) || *bits < 128 || *bits > 512)
    return module.emitError("expects vector_bits of 128, 256 or 512 in target ")
           << target.getName();
  if (!registers || *registers < 8 || !l2Bytes || *l2Bytes < 1)
    return module.emitError("expects at least 8 vector_registers and positive l2_bytes in target ")
           << target.getName();
  return CpuTarget{*bits / 32, *registers, *l2Bytes};
}

FailureOr<Scheduler> Scheduler::create(ModuleOp module, TargetAttr target, bool libraries) {
  if (target.getDevice() == DeviceKind::Cuda) {
    FailureOr<CudaTarget> cuda = readCudaTarget(module, target, libraries);
    return failed(cuda) ? FailureOr<Scheduler>() : Scheduler(*cuda);
  }
  FailureOr<CpuTarget> cpu = readCpuTarget(module, target);
  return failed(cpu) ? FailureOr<Scheduler>() : Scheduler(*cpu);
}

/// The first rule that matches; null if there is none.
template <typename Rule>
static const Rule* findRule(llvm::ArrayRef<const Rule*> rules, KernelOp kernel) {
  auto found = llvm::find_if(rules, [&](const Rule* rule) { return rule->matches(kernel); });
  return found == rules.end() ? nullptr : *found;
}

ScheduleAttr Scheduler::best(KernelOp kernel) const {
  if (cuda) {
    const CudaScheduleRule* rule = findRule(allCudaRules(), kernel);
    return rule ? rule->choose(kernel, *cuda) : ScheduleAttr();
  }
  const ScheduleRule* rule = findRule(allCpuRules(), kernel);
  return rule ? rule->choose(kernel, *cpu) : ScheduleAttr();
}

/// What the rule for the region's hero says against it; where no rule has a hero there, what is
/// known: the operation that only ever stands alone.
template <typename Rule>
static std::string explainNoRule(llvm::ArrayRef<const Rule*> rules, KernelOp kernel) {
  if (findRule(rules, kernel))
    return "";
  for (const Rule* rule : rules)
    if (rule->form && concerns(*rule->form, kernel))
      return tenon::refuse(*rule->form, kernel);
  for (Operation& op : kernel.getBlock().without_terminator())
    if (!isElementOperation(op))
      return ("no emitter computes " + op.getName().stripDialect() + " together with others").str();
  return "no emitter computes such a region";
}

std::string Scheduler::refuse(KernelOp kernel) const {
  return cuda ? explainNoRule(allCudaRules(), kernel) : explainNoRule(allCpuRules(), kernel);
}

} // namespace tenon::passes::schedule
