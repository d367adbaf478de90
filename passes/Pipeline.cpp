#include "passes/Pipeline.h"

#include "absl/strings/str_format.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/fusion/FuseKernels.h"
#include "passes/memory/VerifyPlan.h"
#include "passes/quantize/ExpandWeights.h"
#include "passes/relax/DeferNorms.h"
#include "passes/schedule/ScheduleKernels.h"
#include "passes/simplify/raise/Raise.h"
#include "support/Diagnostics.h"
#include "support/Status.h"

using namespace mlir;

namespace tenon::passes {

Phase getPhase(ModuleOp module) {
  auto phase = module->getAttrOfType<PhaseAttr>(TenonDialect::phaseAttrName);
  return phase ? phase.getValue() : Phase::Input;
}

/// What every phase promises of a function: one block of `tenon` operations between tensors.
static LogicalResult verifyFunction(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError("expects a body of one block");
  for (Type type : function.getArgumentTypes())
    if (!llvm::isa<RankedTensorType>(type) || !getStorageBytes(type))
      return function.emitOpError("expects arguments that are tensors of static shape, but got ")
             << type;
  for (Type type : function.getResultTypes()) {
    auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    if (!tensor || !getStorageBytes(type) || llvm::isa<BlockType>(tensor.getElementType()))
      return function.emitOpError(
                 "expects results that are tensors of static shape and plain elements, but got ")
             << type;
  }
  for (Operation& op : function.getBody().front().without_terminator())
    if (!llvm::isa_and_nonnull<TenonDialect>(op.getDialect()))
      return op.emitOpError("expects operations of the tenon dialect in a function");
  return success();
}

static LogicalResult verifyModule(ModuleOp module) {
  if (failed(mlir::verify(module)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    if (failed(verifyFunction(function)))
      return failure();
    if (getPhase(module) == Phase::Planned && failed(verifyPlan(function)))
      return failure();
  }
  return success();
}

/// Adds what takes a simplified module to the phase `fused`.
static void addFusion(PassManager& manager, const FusionOptions& options) {
  if (options.plan == Plan::Vanilla)
    manager.addNestedPass<func::FuncOp>(createDecomposePass());
  manager.addPass(createQuantizeActivationsPass());
  manager.addPass(createExpandWeightsPass(options));
  manager.addPass(createFuseKernelsPass(options));
}

/// Adds what takes a module from the phase before `phase` to `phase`.
static void addPasses(PassManager& manager, Phase phase, const PipelineOptions& options) {
  switch (phase) {
  case Phase::Input:
    return;
  case Phase::Simplified:
    return manager.addPass(createSimplifyPass(
        {.disabledRaises = options.fusion.disabledRaises, .raised = options.raised}));
  case Phase::Fused:
    return addFusion(manager, options.fusion);
  case Phase::Scheduled:
    manager.addPass(createScheduleKernelsPass(
        ScheduleOptions{.use = libraryUse(options.fusion), .times = options.fusion.times}));
    if (options.fusion.plan == Plan::Split)
      manager.addPass(createSplitKernelsPass());
    return;
  case Phase::Planned:
    return manager.addNestedPass<func::FuncOp>(createPlanMemoryPass());
  }
}

/// The predicted ns of each function of `module`, were it fused; nothing of that is reported.
static FailureOr<llvm::StringMap<int64_t>> priceFunctions(ModuleOp module, FusionOptions options) {
  std::vector<FunctionFusion> functions;
  options.report = nullptr;
  options.functions = &functions;
  options.inspect = {};
  OwningOpRef<ModuleOp> copy = module.clone();
  PassManager manager(module.getContext());
  addFusion(manager, options);
  if (failed(manager.run(*copy)))
    return failure();
  llvm::StringMap<int64_t> prices;
  for (const FunctionFusion& function : functions)
    prices[function.function] = function.plannedNs;
  return prices;
}

/// Notes that the norms of `function` stay, because of `reason`.
static void keepNorms(std::vector<NormDeferral>& deferrals, llvm::StringRef function,
                      const std::string& reason) {
  for (NormDeferral& norm : deferrals)
    if (norm.function == function && norm.refusal.empty())
      norm.refusal = reason;
}

/// Takes the functions of `relaxed` into `module` that are predicted to take less time there.
static LogicalResult takeFaster(ModuleOp module, ModuleOp relaxed, const FusionOptions& options,
                                std::vector<NormDeferral>& deferrals) {
  FailureOr<llvm::StringMap<int64_t>> exactNs = priceFunctions(module, options),
                                      relaxedNs = priceFunctions(relaxed, options);
  if (failed(exactNs) || failed(relaxedNs))
    return failure();
  for (auto function : module.getOps<func::FuncOp>()) {
    llvm::StringRef name = function.getName();
    int64_t before = exactNs->lookup(name), after = relaxedNs->lookup(name);
    if (after < before)
      function.getBody().takeBody(relaxed.lookupSymbol<func::FuncOp>(name).getBody());
    else
      keepNorms(deferrals, name,
                absl::StrFormat("the function would take %.1f us instead of %.1f", after / 1e3,
                                before / 1e3));
  }
  return success();
}

/// Defers norms where the plan is one that asks what is fastest, `auto`, and it is predicted to be
/// faster for a function as a whole; under `fused` and `split` wherever it may be done. The other
/// plans run the operations of the model.
static LogicalResult relaxNumerics(ModuleOp module, const PipelineOptions& options) {
  Plan plan = options.fusion.plan;
  if (options.fusion.numerics == Numerics::Exact || plan == Plan::Unfused || plan == Plan::Vanilla)
    return success();
  std::vector<NormDeferral> deferrals;
  OwningOpRef<ModuleOp> relaxed = module.clone();
  PassManager manager(module.getContext());
  manager.addPass(createDeferNormsPass(&deferrals));
  if (failed(manager.run(plan == Plan::Auto ? *relaxed : module)))
    return failure();
  bool isAny = llvm::any_of(deferrals, [](const auto& norm) { return norm.refusal.empty(); });
  if (plan == Plan::Auto && isAny &&
      failed(takeFaster(module, *relaxed, options.fusion, deferrals)))
    return failure();
  if (options.deferrals)
    llvm::append_range(*options.deferrals, deferrals);
  return success();
}

static absl::Status chooseTarget(ModuleOp module, const PipelineOptions& options) {
  if (module->hasAttr(TenonDialect::targetAttrName))
    return absl::OkStatus();
  if (options.target)
    module->setAttr(TenonDialect::targetAttrName, options.target);
  else if (options.upTo >= Phase::Scheduled)
    return absl::InvalidArgumentError("expects a target to schedule for, but got none");
  return absl::OkStatus();
}

absl::Status runPipeline(ModuleOp module, const PipelineOptions& options) {
  TENON_RETURN_IF_ERROR(checkFusionOptions(options.fusion));
  TENON_RETURN_IF_ERROR(checkRaises(options.fusion.disabledRaises));
  TENON_RETURN_IF_ERROR(chooseTarget(module, options));
  DiagnosticCollector diagnostics(module.getContext());
  if (failed(verifyModule(module)))
    return diagnostics.takeStatus();
  for (uint32_t next = static_cast<uint32_t>(getPhase(module)) + 1;
       next <= static_cast<uint32_t>(options.upTo); ++next) {
    Phase phase = static_cast<Phase>(next);
    if (phase == Phase::Fused && failed(relaxNumerics(module, options)))
      return diagnostics.takeStatus();
    PassManager manager(module.getContext());
    addPasses(manager, phase, options);
    if (failed(manager.run(module)))
      return diagnostics.takeStatus();
    module->setAttr(TenonDialect::phaseAttrName, PhaseAttr::get(module.getContext(), phase));
  }
  return absl::OkStatus();
}

} // namespace tenon::passes
