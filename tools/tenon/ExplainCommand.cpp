#include <iostream>
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/common/InputModel.h"
#include "tools/common/PlanFlags.h"
#include "tools/tenon/Command.h"

namespace tenon::tools {

namespace {

using passes::FusionDecision;

struct Options {
  ModelInputOptions model;
  PlanFlags plan;
  std::string target = "native";
  bool json = false;
};

/// One object a candidate. Times of a kernel that there is not are null.
nlohmann::json toJson(const FusionDecision& decision) {
  nlohmann::json object = {
      {"function", decision.function},
      {"rule", decision.rule},
      {"ops", decision.ops},
      {"shape", decision.shape},
      {"taken", decision.taken},
      {"reason", decision.reason},
      {"predicted_fused_ns", nullptr},
      {"predicted_unfused_ns", decision.unfused.ns},
      {"limiter", nullptr},
      {"unfused_limiter", passes::cost::nameOf(decision.unfused.limiter).str()}};
  if (decision.legal) {
    object["predicted_fused_ns"] = decision.fused.ns;
    object["limiter"] = passes::cost::nameOf(decision.fused.limiter).str();
    object["bytes_saved"] = decision.bytesSaved;
    object["flops_saved"] = decision.flopsSaved;
  }
  return object;
}

/// Equal decisions, those of the layers of a model, in one row.
struct Row {
  const FusionDecision* decision;
  int64_t times = 1;
};

/// Everything of a decision that the table shows, but the layer.
std::string contentOf(const FusionDecision& decision) {
  std::vector<std::string> ops;
  for (const std::string& op : decision.ops)
    ops.push_back(op.substr(0, op.find(' ')));
  return absl::StrJoin({decision.function, decision.rule, absl::StrJoin(ops, ","), decision.shape,
                        decision.legal ? std::string() : decision.reason,
                        std::to_string(decision.taken), std::to_string(decision.fused.ns),
                        std::to_string(decision.unfused.ns)},
                       "|");
}

std::vector<Row> joinEqual(const std::vector<FusionDecision>& decisions) {
  std::vector<Row> rows;
  std::map<std::string, size_t> indices;
  for (const FusionDecision& decision : decisions) {
    auto [found, isNew] = indices.try_emplace(contentOf(decision), rows.size());
    if (isNew)
      rows.push_back({&decision});
    else
      ++rows[found->second].times;
  }
  return rows;
}

std::string operationsOf(const FusionDecision& decision) {
  std::vector<std::string> names;
  for (const std::string& op : decision.ops)
    names.push_back(op.substr(0, op.find(' ')));
  return absl::StrJoin(names, " ");
}

void printTable(const std::vector<FusionDecision>& decisions) {
  std::string function;
  for (const Row& row : joinEqual(decisions)) {
    const FusionDecision& decision = *row.decision;
    if (decision.function != function) {
      function = decision.function;
      std::cout << absl::StrFormat("%s@%s\n%-5s %5s %9s %9s %-8s %11s %12s  %s\n",
                                   &decision == &decisions.front() ? "" : "\n", function, "taken",
                                   "times", "fused ns", "apart ns", "limiter", "bytes saved",
                                   "flops saved", "rule: operations → result; reason");
    }
    std::string fused = "-", limiter = "-", bytes = "-", flops = "-";
    if (decision.legal) {
      fused = std::to_string(decision.fused.ns);
      limiter = passes::cost::nameOf(decision.fused.limiter);
      bytes = std::to_string(decision.bytesSaved), flops = std::to_string(decision.flopsSaved);
    }
    std::cout << absl::StrFormat("%-5s %5d %9s %9d %-8s %11s %12s  %s: %s → %s; %s\n",
                                 decision.taken ? "yes" : "no", row.times, fused,
                                 decision.unfused.ns, limiter, bytes, flops, decision.rule,
                                 operationsOf(decision), decision.shape, decision.reason);
  }
}

absl::Status explain(const Options& options) {
  TENON_ASSIGN_OR_RETURN(InputModel input, readInputModel(options.model, options.target));
  mlir::ModuleOp module = *input.module;
  if (passes::getPhase(module) >= Phase::Fused)
    return absl::InvalidArgumentError(
        options.model.path +
        ": expects a model before the phase fused, for which there is "
        "something to decide, but got phase " +
        stringifyPhase(passes::getPhase(module)).str());
  passes::PipelineOptions pipeline{.upTo = Phase::Fused, .target = input.target};
  TENON_ASSIGN_OR_RETURN(pipeline.fusion, readPlanFlags(options.plan));
  std::vector<FusionDecision> decisions;
  pipeline.fusion.report = &decisions;
  TENON_RETURN_IF_ERROR(passes::runPipeline(module, pipeline));
  if (options.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const FusionDecision& decision : decisions)
      list.push_back(toJson(decision));
    std::cout << list.dump(1) << "\n";
  } else {
    printTable(decisions);
  }
  return absl::OkStatus();
}

} // namespace

void addExplainCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "explain",
      "Every fusion that was considered: predicted times, what limits them, the decision "
      "and its reason");
  addModelInputOptions(*command, options->model);
  addPlanFlags(*command, options->plan);
  command->add_option("--target", options->target, "The target to decide for (see `devices`)")
      ->capture_default_str();
  command->add_flag("--json", options->json, "A JSON array of one object a candidate");
  command->callback([options, &action] { action = [options] { return explain(*options); }; });
}

} // namespace tenon::tools
