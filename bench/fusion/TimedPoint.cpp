#include "bench/fusion/TimedPoint.h"

#include "codegen/cuda/CompileForCuda.h"
#include "ir/Targets.h"
#include "support/Status.h"
#include "tools/bench/InterleavedTiming.h"
#include "tools/driver/RandomConstants.h"

namespace tenon::bench {

static absl::StatusOr<CompiledPlan> compilePlan(const FusionPoint& point, int copies,
                                                passes::Plan plan, const std::string& targetName,
                                                const std::string& launch) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  TargetAttr target = findTarget(&context, targetName);
  CompiledPlan compiled;
  TENON_ASSIGN_OR_RETURN(PlannedPoint one,
                         planPoint(context, point, /*copies=*/1, plan, target, Phase::Scheduled));
  TENON_ASSIGN_OR_RETURN(compiled.predictedNs, predict(*one.module, target, launchModeOf(launch)));
  TENON_ASSIGN_OR_RETURN(PlannedPoint all, planPoint(context, point, copies, plan, target));
  compiled.kernels = all.kernels;
  TENON_ASSIGN_OR_RETURN(compiled.program, codegen::compileForCuda(*all.module, {}));
  TENON_RETURN_IF_ERROR(tools::randomizeConstants(compiled.program, 1));
  return compiled;
}

absl::StatusOr<CompiledPoint> compilePoint(const FusionPoint& point, const std::string& target,
                                           const std::string& launch) {
  CompiledPoint compiled;
  TENON_ASSIGN_OR_RETURN(compiled.copies, chooseCopies(*point.chain, point.shape));
  TENON_ASSIGN_OR_RETURN(compiled.fused,
                         compilePlan(point, compiled.copies, passes::Plan::Fused, target, launch));
  TENON_ASSIGN_OR_RETURN(
      compiled.unfused, compilePlan(point, compiled.copies, passes::Plan::Unfused, target, launch));
  return compiled;
}

PointTimer::PointTimer(const std::string& launch) { how.setLaunch(launch); }

absl::StatusOr<PointDistributions> PointTimer::time(CompiledPoint point, int64_t calls) {
  constexpr int32_t position = 511;
  TENON_ASSIGN_OR_RETURN(auto nextFused, tools::makeExecutor(std::move(point.fused.program), how));
  TENON_ASSIGN_OR_RETURN(auto nextUnfused,
                         tools::makeExecutor(std::move(point.unfused.program), how));
  fused = std::move(nextFused), unfused = std::move(nextUnfused);
  TENON_ASSIGN_OR_RETURN(std::vector<tools::Distribution> times,
                         tools::timeInTurn({fused.get(), unfused.get()}, calls, position));
  return PointDistributions{times[0], times[1]};
}

} // namespace tenon::bench
