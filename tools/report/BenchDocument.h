#ifndef TENON_TOOLS_REPORT_BENCHDOCUMENT_H
#define TENON_TOOLS_REPORT_BENCHDOCUMENT_H

#include <optional>
#include <string>
#include <vector>

#include "ir/Attributes.h"
#include "nlohmann/json.hpp"
#include "passes/fusion/Fusion.h"
#include "tools/bench/BenchReport.h"
#include "tools/report/PlanDetails.h"

namespace tenon::tools {

/// What a document holds of one plan beside its measurements.
struct DocumentedPlan {
  const BenchReport* report = nullptr;
  const runtime::Program* program = nullptr;
  size_t function = 0; ///< of the program
  std::vector<StepDetails> steps = {};
  std::vector<KernelCode> code = {}; ///< by kernel of the program; may be empty
  std::vector<passes::FusionDecision> decisions = {};
  /// Between its results and the first plan's: the largest difference over the largest value; nothing
  /// for the first plan.
  std::optional<double> difference = std::nullopt;
};

/// The largest difference of values of `a` and `b` over the largest of `a`, over all results of
/// `function`; 0 where all are zero. Infinite where a value is finite on one side alone.
double compareResults(const runtime::Function& function,
                      const std::vector<std::vector<std::byte>>& a,
                      const std::vector<std::vector<std::byte>>& b);

/// One plan as `describeReport` has it, and beside that
///
///   fused_launches   of kernels of several operations
///   memory           weight_bytes, cache_bytes, workspace_bytes (that the function touches),
///                    port_bytes (its inputs and results), total_bytes, their sum; device_bytes, what the
///                    plan took of a GPU's own memory, else null
///   difference       as in `DocumentedPlan`; null for the first plan
///   kernels          each also: operations, operation_count, ir (of its first step), code (language
///                    to text), decisions (those about operations of its first step that were not
///                    taken: rule, ops, reason, and of legal ones predicted_fused_ns and
///                    predicted_unfused_ns)
///   steps            for each: kernel (symbol), name, group, ns, predicted_ns, flops, bytes, reads
///                    (indices of steps)
nlohmann::ordered_json describePlan(const DocumentedPlan& plan);

/// The document that every form of a report shows:
///
///   format       `tenon-bench-1`
///   title        what was measured
///   unit         `tokens/s`, or `calls/s` of a graph
///   provenance   as `describeProvenance` has it
///   roofs        bytes_per_ns and flops_per_ns of `target`: memory, and each rate of arithmetic that it
///                names
///   plans        `plans`, at least one
nlohmann::ordered_json makeBenchDocument(nlohmann::ordered_json plans, TargetAttr target,
                                         nlohmann::ordered_json provenance, bool isModel);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_BENCHDOCUMENT_H
