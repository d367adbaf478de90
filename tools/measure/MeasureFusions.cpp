#include "tools/measure/MeasureFusions.h"

#include "absl/strings/str_format.h"
#include "passes/fusion/Region.h"
#include "support/Status.h"
#include "tools/measure/IsolatedKernels.h"

namespace tenon::tools {

using passes::FusionDecision;
using passes::cost::contentKey;
using passes::cost::MeasuredPoints;

/// A module to measure: planned, with a timer of its own.
struct PlannedTimer {
  mlir::OwningOpRef<mlir::ModuleOp> planned;
  KernelTimer timer;
};

static absl::StatusOr<PlannedTimer> prepare(mlir::ModuleOp isolated, TargetAttr target,
                                            Grouping grouping, const TimerOptions& options) {
  TENON_ASSIGN_OR_RETURN(auto planned, planIsolated(isolated, target, grouping));
  TENON_ASSIGN_OR_RETURN(KernelTimer timer, KernelTimer::create(isolated, *planned, options));
  return PlannedTimer{std::move(planned), std::move(timer)};
}

/// The content of the one kernel of a planned module.
static std::string keyOfKernel(mlir::ModuleOp planned) {
  std::string key;
  planned.walk([&](KernelOp kernel) { key = contentKey(kernel); });
  return key;
}

/// Noise hides one measurement; other errors, which get the names of the operations, end them all.
absl::Status FusionMeasurer::keepGoing(const absl::Status& status, mlir::ModuleOp isolated) {
  if (status.ok())
    return status;
  std::string names;
  for (mlir::Operation* op : computationsOf(isolated))
    names += (names.empty() ? "" : " ") + op->getName().stripDialect().str();
  if (isNoise(status)) {
    lost.push_back(std::move(names));
    return absl::OkStatus();
  }
  return absl::Status(status.code(),
                      absl::StrFormat("measuring %s: %s", names, std::string(status.message())));
}

void FusionMeasurer::note(const FusionDecision& decision, llvm::ArrayRef<mlir::Operation*> ops) {
  if (ops.size() < 2) // its kernel is that of the operation alone
    return;
  auto [found, isNew] = candidates.try_emplace(decision.content);
  if (!isNew)
    return;
  found->second.module = isolate(ops);
  for (mlir::Operation* op : ops) {
    std::string content = contentKey(*passes::fusion::Region({op}).prototype());
    if (!singles.contains(content))
      singles[content] = isolate({op});
  }
}

absl::Status FusionMeasurer::measureCandidate(Noted& noted, MeasuredPoints& points) const {
  TENON_ASSIGN_OR_RETURN(PlannedTimer fused,
                         prepare(*noted.module, target, Grouping::OneKernel, options));
  TENON_ASSIGN_OR_RETURN(PlannedTimer unfused,
                         prepare(*noted.module, target, Grouping::KernelEach, options));
  TENON_RETURN_IF_ERROR(sampleInTurns({&fused.timer, &unfused.timer}, rounds));
  noted.times = FusionTimes{fused.timer.medianNs(), fused.timer.spreadNs(),
                            unfused.timer.medianNs(), unfused.timer.spreadNs()};
  return points.add(keyOfKernel(*fused.planned), noted.times->fusedNs);
}

absl::Status FusionMeasurer::measureSingle(mlir::ModuleOp module, MeasuredPoints& points) const {
  TENON_ASSIGN_OR_RETURN(PlannedTimer single,
                         prepare(module, target, Grouping::KernelEach, options));
  TENON_RETURN_IF_ERROR(sampleInTurns({&single.timer}, rounds));
  return points.add(keyOfKernel(*single.planned), single.timer.medianNs());
}

absl::Status FusionMeasurer::measureAll(MeasuredPoints& points,
                                        const std::function<void(size_t)>& onDone) {
  size_t done = 0;
  for (auto& [content, noted] : candidates) {
    TENON_RETURN_IF_ERROR(keepGoing(measureCandidate(noted, points), *noted.module));
    onDone(++done);
  }
  for (auto& [content, module] : singles) {
    TENON_RETURN_IF_ERROR(keepGoing(measureSingle(*module, points), *module));
    onDone(++done);
  }
  return absl::OkStatus();
}

const FusionTimes* FusionMeasurer::find(const FusionDecision& decision) const {
  auto found = candidates.find(decision.content);
  return found == candidates.end() || !found->second.times ? nullptr : &*found->second.times;
}

} // namespace tenon::tools
