#ifndef TENON_PASSES_FUSION_FUSION_H
#define TENON_PASSES_FUSION_FUSION_H

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ir/Dialect.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "passes/cost/CostModel.h"

namespace tenon::passes {

/// Which operations share kernels.
enum class Plan {
  Unfused, ///< each operation has a kernel of its own: the baseline of speed
  Split, ///< as `Fused`, then cut into one kernel an operation that keeps its order: the reference
         ///< that `Fused` equals bit for bit
  Fused, ///< the legal cover with fewest kernels; among those, fewest bytes
  Auto,  ///< what the cost model says is fastest
};

/// The plan of that name on the command line; nullopt for another name.
std::optional<Plan> parsePlan(llvm::StringRef name);

/// One group of operations that a rule proposed, and what became of it.
struct FusionDecision {
  std::string function;
  std::string rule; ///< several, joined by `+`, where their groups share operations
  std::vector<std::string> ops;
  std::string shape; ///< type of the first result of the last operation
  bool taken = false;
  std::string reason;                     ///< a sentence without final period
  std::string content;                    ///< `cost::contentKey` of the region, not scheduled
  bool legal = false;                     ///< the figures below are those of a kernel that there is
  int64_t bytesSaved = 0, flopsSaved = 0; ///< against one kernel an operation
  cost::Estimate fused, unfused;
};

struct FusionOptions {
  Plan plan = Plan::Unfused;
  /// Whether large GEMMs may be left to the device's libraries, whose order of addition is their
  /// own: `split` makes the same calls as `fused`.
  bool libraries = true;
  bool tf32 = false;       ///< a library may round the factors of f32 GEMMs to TF32
  int64_t maxFusions = -1; ///< kernels of several operations, per function; −1: any number
  std::vector<std::string> disabledRules = {}; ///< by name
  cost::LaunchMode launchMode = cost::LaunchMode::GraphPdl;
  const cost::MeasuredTimes* times = nullptr;    ///< may be null
  std::vector<FusionDecision>* report = nullptr; ///< if set, receives every decision
  /// If set, is called with every decision about a group that may become a kernel, and with its
  /// operations, in program order, while they still stand in the function.
  std::function<void(const FusionDecision&, llvm::ArrayRef<mlir::Operation*>)> inspect = {};
};

/// What libraries compute under these options: under `Unfused` all that they take, under the other
/// plans GEMMs of more rows than the kernels that fuse norms and epilogues take.
kernels::LibraryUse libraryUse(const FusionOptions& options);

/// InvalidArgument where a disabled rule is none, with the list of those that there are.
absl::Status checkFusionOptions(const FusionOptions& options);

} // namespace tenon::passes

#endif // TENON_PASSES_FUSION_FUSION_H
