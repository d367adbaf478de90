#ifndef TENON_TOOLS_TENON_MEASUREDPLAN_H
#define TENON_TOOLS_TENON_MEASUREDPLAN_H

#include <memory>
#include <string>
#include <vector>

#include "frontends/models/ImportModel.h"
#include "passes/Pipeline.h"
#include "tools/bench/BenchModel.h"
#include "tools/bench/FunctionWork.h"
#include "tools/bench/TimelineReport.h"
#include "tools/cli/JsonFlag.h"
#include "tools/cli/ModelFlags.h"
#include "tools/cli/PlanFlags.h"
#include "tools/driver/MakeExecutor.h"
#include "tools/driver/PredictCall.h"
#include "tools/report/BenchDocument.h"
#include "tools/tenon/BenchLoad.h"

namespace tenon::tools {

/// What a bench is for: the plan that runs, beside what it is there to beat.
inline std::vector<std::string> defaultPlans() { return {"vanilla", "unfused", "auto"}; }

/// What the flags of `tenon bench` say.
struct BenchSettings {
  ModelOptions model;
  FlagRules rules; ///< of all flags
  BenchOptions bench;
  ExecutorOptions executor;
  std::vector<std::string> plans = defaultPlans();
  PlanFlags plan;                               ///< but for the plan's name
  frontends::EntryShape shape;                  ///< what `--shapes` says
  std::vector<std::string> positions = {"512"}; ///< one, or `FIRST+ROWS` of each sequence
  std::vector<std::string> measure = {"200"};   ///< calls, and `time` where nothing else counts
  int64_t generate = 0;
  bool countsBytes = true;
  std::string function; ///< empty: the one of `shape`, or the only one
  JsonFlag json;
  std::vector<std::string> files; ///< to write, each in the form that its ending says
  LoadOptions load;
};

/// A plan of the model, loaded and under measurement.
struct MeasuredPlan {
  std::string name;
  std::unique_ptr<runtime::Executor> executor;
  ModelBench bench;
  std::vector<StepWork> work;
  PredictedCall predicted;
  std::vector<GroupFunction> groups;
  std::vector<StepDetails> steps;
  std::vector<passes::FusionDecision> decisions;
  TargetAttr target; ///< lives as long as `input.context`
  LoadedModel input;
};

/// What a module is called whose operations are fused already, whatever `--plans` says.
inline constexpr const char* plannedName = "planned";

inline bool isLanguageFunction(const runtime::Function& function) {
  return function.role != runtime::Role::Other;
}

/// Compiles the model by a plan, loads it, and describes its steps.
absl::StatusOr<MeasuredPlan> loadPlan(const BenchSettings& options, const std::string& plan);

/// The plans alternate call by call, so that what changes on the device meets all alike.
absl::Status measurePlans(const BenchSettings& options, std::vector<MeasuredPlan>& plans);

/// Has the device count what each plan moves; after all that is timed, which counting may slow.
/// Unavailable where `options` want time alone, or the device cannot count.
absl::Status countTraffic(const BenchSettings& options, std::vector<MeasuredPlan>& plans);

/// The calls once more, by kernels whose blocks leave stamps.
absl::StatusOr<MeasuredTimelines> measureTimelines(const BenchSettings& options,
                                                   const MeasuredPlan& plan);

} // namespace tenon::tools

#endif // TENON_TOOLS_TENON_MEASUREDPLAN_H
