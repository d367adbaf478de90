#include "tools/bench/StepGroups.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tenon::tools {

namespace {

/// What the operations of a kernel are part of.
struct Parts {
  bool attention = false, ffn = false, norm = false, head = false;
};

} // namespace

/// The name that the frontend gave the operation; empty without one.
static llvm::StringRef nameOf(Operation* op) {
  auto name = op->getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().strref() : llvm::StringRef();
}

/// True for a GEMM of activations head by head, as the scores of attention are.
static bool hasBatch(Operation& op) {
  return llvm::cast<MatmulOp>(op).getWeight().getType().getRank() > 2;
}

static Parts partsOf(KernelOp kernel) {
  Parts parts;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    llvm::StringRef name = nameOf(&op);
    if (llvm::isa<ExpertMatmulOp, GluOp, WeightedSumOp>(op) || name.contains("ffn_experts"))
      parts.ffn = true;
    else if (llvm::isa<AttentionOp, RopeOp, KvWriteOp>(op))
      parts.attention = true;
    else if (llvm::isa<MatmulOp>(op))
      (name.contains("attn") || hasBatch(op) ? parts.attention
       : name.contains("ffn")                ? parts.ffn
                                             : parts.head) = true;
    else if (llvm::isa<SoftmaxOp>(op))
      parts.attention = true;
    else if (llvm::isa<RmsNormOp, LayerNormOp, AddOp>(op))
      parts.norm = true;
  }
  return parts;
}

static std::string groupOf(KernelOp kernel) {
  Parts parts = partsOf(kernel);
  if (parts.attention)
    return parts.ffn ? "attention+ffn" : "attention";
  if (parts.ffn)
    return "ffn";
  return parts.norm && !parts.head ? "norm" : "other";
}

absl::StatusOr<std::vector<std::string>> groupSteps(ModuleOp planned, const std::string& name) {
  auto function = planned.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return absl::NotFoundError(absl::StrFormat("expects a function '%s' in the module", name));
  std::vector<std::string> groups;
  function.walk([&](KernelOp kernel) { groups.push_back(groupOf(kernel)); });
  return groups;
}

std::vector<GroupFunction> addGroupFunctions(runtime::Program& program, size_t index,
                                             const std::vector<std::string>& groups) {
  std::vector<GroupFunction> added;
  for (const char* group : {"attention", "attention+ffn", "ffn", "norm", "other"}) {
    runtime::Function function = program.functions[index];
    GroupFunction entry{group, program.functions.size(), {}};
    std::vector<runtime::Step> steps;
    for (size_t step = 0; step < groups.size(); ++step)
      if (groups[step] == group) {
        entry.steps.push_back(step);
        steps.push_back(function.steps[step]);
      }
    if (steps.empty())
      continue;
    function.name += std::string(".") + group;
    function.role = runtime::Role::Other;
    function.sharedPercent = 0; // its kernels prefer what the whole function's do
    function.steps = std::move(steps);
    program.functions.push_back(std::move(function));
    added.push_back(std::move(entry));
  }
  return added;
}

} // namespace tenon::tools
