#include "passes/schedule/Scheduler.h"

#include "kernels/cpu/Sequence.h"
#include "kernels/cuda/LibraryGemm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::passes::schedule {

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

FailureOr<Scheduler> Scheduler::create(ModuleOp module, TargetAttr target, LibraryUse use,
                                       const cost::MeasuredTimes* times) {
  Scheduler scheduler;
  scheduler.times = times;
  if (target.getDevice() == DeviceKind::Cuda) {
    VerdictOr<CudaTarget> cuda = CudaTarget::read(target, use);
    if (!cuda)
      return module.emitError(cuda.reason());
    scheduler.cuda = *cuda;
    return scheduler;
  }
  FailureOr<CpuTarget> cpu = readCpuTarget(module, target);
  if (failed(cpu))
    return failure();
  scheduler.cpu = *cpu;
  return scheduler;
}

/// True where the region makes or multiplies quants of activations.
static bool worksOnQuants(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), [](Operation& op) {
    auto matmul = llvm::dyn_cast<MatmulOp>(op);
    return llvm::isa<QuantizeOp>(op) || (matmul && matmul.isQuantized());
  });
}

/// The first rule that matches; null if there is none.
static const CudaScheduleRule* findRule(KernelOp kernel, const CudaTarget& target) {
  if (worksOnQuants(kernel))
    return nullptr;
  for (const CudaScheduleRule* rule : allCudaRules())
    if (rule->matches(kernel, target))
      return rule;
  return nullptr;
}
static const ScheduleRule* findRule(KernelOp kernel, const CpuTarget&) {
  for (bool composes : {false, true})
    for (const ScheduleRule* rule : allCpuRules())
      if (rule->composes == composes && rule->matches(kernel))
        return rule;
  return nullptr;
}

static Verdict acceptsRegion(KernelOp kernel, const CudaTarget& target) {
  if (worksOnQuants(kernel))
    return Refusal{"no emitter for CUDA quantises activations or multiplies quants"};
  for (const CudaScheduleRule* rule : allCudaRules())
    if (rule->accepts)
      if (Verdict verdict = rule->accepts(kernel, target); !verdict)
        return verdict;
  return Verdict::accept();
}
static Verdict acceptsRegion(KernelOp kernel, const CpuTarget&) {
  return cpu::acceptsSequence(kernel);
}

std::optional<int64_t> Scheduler::measured(KernelOp kernel, ScheduleAttr schedule) const {
  ScheduleAttr before = kernel.getScheduleAttr();
  kernel.setScheduleAttr(schedule);
  std::optional<int64_t> ns = times->find(cost::contentKey(kernel));
  before ? kernel.setScheduleAttr(before) : void(kernel.removeScheduleAttr());
  return ns;
}

ScheduleAttr Scheduler::best(KernelOp kernel, Neighbours neighbours) const {
  ScheduleAttr chosen = choose(kernel, neighbours);
  std::optional<int64_t> least = chosen && times ? measured(kernel, chosen) : std::nullopt;
  if (!least)
    return chosen;
  ScheduleAttr best = chosen, before = kernel.getScheduleAttr();
  kernel.setScheduleAttr(chosen);
  for (ScheduleAttr other : alternatives(kernel))
    if (std::optional<int64_t> ns = measured(kernel, other); ns && *ns < *least)
      least = ns, best = other;
  before ? kernel.setScheduleAttr(before) : void(kernel.removeScheduleAttr());
  return best;
}

llvm::SmallVector<ScheduleAttr> Scheduler::alternatives(KernelOp kernel) const {
  auto ask = [&](const auto* rule, const auto& target) {
    return rule && rule->alternatives ? rule->alternatives(kernel, target)
                                      : llvm::SmallVector<ScheduleAttr>();
  };
  return cuda ? ask(findRule(kernel, *cuda), *cuda) : ask(findRule(kernel, *cpu), *cpu);
}

ScheduleAttr Scheduler::choose(KernelOp kernel, Neighbours neighbours) const {
  if (cuda) {
    const CudaScheduleRule* rule = findRule(kernel, *cuda);
    return rule ? rule->choose(kernel, *cuda, neighbours) : ScheduleAttr();
  }
  const ScheduleRule* rule = findRule(kernel, *cpu);
  return rule ? rule->choose(kernel, *cpu) : ScheduleAttr();
}

/// What the rule for the region's hero says against it; where no rule has a hero there, what is
/// known: the operation that only ever stands alone.
static Refusal refuseForm(KernelOp kernel) {
  for (const CudaScheduleRule* rule : allCudaRules())
    if (rule->form && concerns(*rule->form, kernel))
      if (Verdict verdict = acceptsForm(*rule->form, kernel); !verdict)
        return verdict.refusal();
  for (Operation& op : kernel.getBlock().without_terminator())
    if (!isElementOperation(op))
      return {
          ("no emitter computes " + op.getName().stripDialect() + " together with others").str()};
  return {"no emitter computes such a region"};
}

template <typename Target> static Verdict askRules(KernelOp kernel, const Target& target) {
  if (findRule(kernel, target))
    return Verdict::accept();
  if (Verdict verdict = acceptsRegion(kernel, target); !verdict)
    return verdict;
  return refuseForm(kernel);
}

Verdict Scheduler::accepts(KernelOp kernel) const {
  return cuda ? askRules(kernel, *cuda) : askRules(kernel, *cpu);
}

Verdict Scheduler::suitsLibrary(KernelOp kernel) const {
  auto op = findOp<MatmulOp>(kernel);
  bool isPlain =
      op && op.getInput().getType().getElementType() == op.getWeight().getType().getElementType();
  if (!cuda || !isPlain || !allowsLibrary(op, *cuda) || !acceptsForm(forms::cudaMatmul, kernel))
    return Verdict::accept();
  VerdictOr<LibraryGemmRegion> region = readLibraryGemm(kernel);
  return region ? Verdict::accept() : region.refusal();
}

} // namespace tenon::passes::schedule
