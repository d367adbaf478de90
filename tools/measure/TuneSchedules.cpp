#include "tools/measure/TuneSchedules.h"

#include <map>

#include "ir/Dialect.h"
#include "ir/Views.h"
#include "passes/Pipeline.h"
#include "passes/schedule/Scheduler.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "tools/measure/IsolatedKernels.h"

using namespace mlir;

namespace tenon::tools {

namespace {

/// A kernel that has alternatives.
struct Tunable {
  KernelOp kernel;
  llvm::SmallVector<ScheduleAttr> schedules; ///< the scheduler's own first
  int64_t places = 0;
};

/// A schedule under measurement.
struct Trial {
  OwningOpRef<ModuleOp> planned;
  KernelTimer timer;
};

} // namespace

size_t TunedKernel::best() const {
  size_t fastest = 0;
  for (size_t i = 1; i < schedules.size(); ++i)
    if (schedules[i].ns < schedules[fastest].ns)
      fastest = i;
  int64_t spread = schedules[0].spreadNs + schedules[fastest].spreadNs;
  return schedules[0].ns - schedules[fastest].ns > spread ? fastest : 0;
}

/// Distinct kernels, by their content, in the order of the module.
static absl::StatusOr<std::vector<Tunable>> findTunable(ModuleOp module) {
  auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  DiagnosticCollector diagnostics(module.getContext());
  auto scheduler = passes::schedule::Scheduler::create(module, target);
  if (failed(scheduler))
    return diagnostics.takeStatus();
  std::vector<Tunable> tunable;
  std::map<std::string, size_t> indices;
  module.walk([&](KernelOp kernel) {
    auto [found, isNew] = indices.try_emplace(passes::cost::contentKey(kernel), tunable.size());
    if (isNew) {
      Tunable entry{kernel, {kernel.getScheduleAttr()}, 0};
      llvm::append_range(entry.schedules, scheduler->alternatives(kernel));
      tunable.push_back(std::move(entry));
    }
    ++tunable[found->second].places;
  });
  llvm::erase_if(tunable, [](const Tunable& entry) { return entry.schedules.size() < 2; });
  return tunable;
}

static KernelOp kernelOf(ModuleOp module) {
  KernelOp found;
  module.walk([&](KernelOp kernel) { found = kernel; });
  return found;
}

/// The isolated kernel, planned with `schedule`, and its timer.
static absl::StatusOr<Trial> prepare(ModuleOp isolated, ScheduleAttr schedule,
                                     const TimerOptions& options) {
  OwningOpRef<ModuleOp> planned = isolated.clone();
  kernelOf(*planned).setScheduleAttr(schedule);
  TENON_RETURN_IF_ERROR(passes::runPipeline(*planned, {}));
  TENON_ASSIGN_OR_RETURN(KernelTimer timer, KernelTimer::create(isolated, *planned, options));
  return Trial{std::move(planned), std::move(timer)};
}

static std::string print(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

static TunedKernel describe(const Tunable& tunable) {
  TunedKernel tuned;
  KernelOp kernel = tunable.kernel;
  tuned.places = tunable.places;
  if (auto name = kernel.getLoc()->findInstanceOf<NameLoc>())
    tuned.name = name.getName().str();
  for (Operation& op : kernel.getBlock().without_terminator())
    if (!isView(&op) && !llvm::isa<ConstantOp>(op))
      tuned.operations += (tuned.operations.empty() ? "" : "+") + op.getName().stripDialect().str();
  return tuned;
}

static absl::StatusOr<TunedKernel> tune(const Tunable& tunable, const TimerOptions& options,
                                        int64_t rounds, passes::cost::MeasuredPoints& points) {
  KernelOp kernel = tunable.kernel;
  auto module = kernel->getParentOfType<ModuleOp>();
  OwningOpRef<ModuleOp> isolated = isolate({kernel.getOperation()});
  (*isolated)->setAttr(TenonDialect::phaseAttrName,
                       PhaseAttr::get(module.getContext(), Phase::Scheduled));
  (*isolated)->setAttr(TenonDialect::targetAttrName, module->getAttr(TenonDialect::targetAttrName));
  std::vector<Trial> trials;
  std::vector<KernelTimer*> timers;
  for (ScheduleAttr schedule : tunable.schedules) {
    TENON_ASSIGN_OR_RETURN(Trial trial, prepare(*isolated, schedule, options));
    trials.push_back(std::move(trial));
  }
  for (Trial& trial : trials)
    timers.push_back(&trial.timer);
  TENON_RETURN_IF_ERROR(sampleInTurns(timers, rounds));
  TunedKernel tuned = describe(tunable);
  for (auto [trial, schedule] : llvm::zip_equal(trials, tunable.schedules))
    tuned.schedules.push_back({print(schedule), trial.timer.medianNs(), trial.timer.spreadNs()});
  // The scheduler takes what is fastest of what it finds: only the winner and its own choice.
  for (size_t index : {size_t(0), tuned.best()})
    TENON_RETURN_IF_ERROR(points.add(passes::cost::contentKey(kernelOf(*trials[index].planned)),
                                     tuned.schedules[index].ns));
  return tuned;
}

absl::StatusOr<std::vector<TunedKernel>>
tuneSchedules(ModuleOp scheduled, const TimerOptions& options, int64_t rounds,
              passes::cost::MeasuredPoints& points,
              const std::function<void(size_t, size_t)>& onDone,
              const std::function<void(const TunedKernel&)>& onLeftOut) {
  TENON_ASSIGN_OR_RETURN(std::vector<Tunable> tunable, findTunable(scheduled));
  std::vector<TunedKernel> results;
  for (size_t done = 0; const Tunable& entry : tunable) {
    absl::StatusOr<TunedKernel> tuned = tune(entry, options, rounds, points);
    if (tuned.ok())
      results.push_back(*std::move(tuned));
    else if (isNoise(tuned.status()))
      onLeftOut(describe(entry));
    else
      return tuned.status();
    onDone(++done, tunable.size());
  }
  return results;
}

} // namespace tenon::tools
