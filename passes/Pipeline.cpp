#include "passes/Pipeline.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/fusion/FuseKernels.h"
#include "passes/memory/VerifyPlan.h"
#include "passes/quantize/ExpandWeights.h"
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

/// Adds what takes a module from the phase before `phase` to `phase`.
static void addPasses(PassManager& manager, Phase phase, const PipelineOptions& options) {
  switch (phase) {
  case Phase::Input:
    return;
  case Phase::Simplified:
    return manager.addPass(createSimplifyPass(
        {.disabledRaises = options.fusion.disabledRaises, .raised = options.raised}));
  case Phase::Fused:
    if (options.fusion.plan == Plan::Vanilla)
      manager.addNestedPass<func::FuncOp>(createDecomposePass());
    manager.addPass(createQuantizeActivationsPass());
    manager.addPass(createExpandWeightsPass(options.fusion));
    return manager.addPass(createFuseKernelsPass(options.fusion));
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
    PassManager manager(module.getContext());
    addPasses(manager, phase, options);
    if (failed(manager.run(module)))
      return diagnostics.takeStatus();
    module->setAttr(TenonDialect::phaseAttrName, PhaseAttr::get(module.getContext(), phase));
  }
  return absl::OkStatus();
}

} // namespace tenon::passes
