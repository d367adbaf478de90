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
  Vanilla, ///< as `Unfused`, but attention and gated units are taken apart (`tenon-decompose`): scores
           ///< in memory, every elementwise operation by itself
  Unfused, ///< each operation has a kernel of its own: the baseline of speed
  Split, ///< as `Fused`, then cut into one kernel an operation that keeps its order: the reference
         ///< that `Fused` equals bit for bit
  Fused, ///< the legal cover with fewest kernels; among those, fewest bytes
  Auto,  ///< what the cost model says is fastest
};

/// What compiling may change of a result.
enum class Numerics {
  Exact,   ///< nothing: every operation of the model is rounded as its type says
  Relaxed, ///< roundings may move: 1/rms of a norm may follow its GEMMs (`tenon-defer-norms`)
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
  std::string reason;  ///< a sentence without final period
  std::string content; ///< `cost::contentKey` of the region, not scheduled
  /// Of a GEMM of many rows and its epilogue, for which there is a kernel: why no library computes
  /// them, a sentence without final period; else empty.
  std::string noLibrary;
  bool legal = false;                     ///< the figures below are those of a kernel that there is
  int64_t bytesSaved = 0, flopsSaved = 0; ///< against one kernel an operation
  /// What a kernel could save at most: one takes at least as long as the longest of its operations.
  int64_t mostSavedNs = 0;
  cost::Estimate fused, unfused;
};

/// What became of a function as a whole.
struct FunctionFusion {
  std::string function;
  int64_t apartNs = 0;   ///< predicted of a call, each operation in a kernel of its own
  int64_t plannedNs = 0; ///< predicted of a call, by the kernels that the plan has
  /// One for each operation and another that reads its result where no kernel holds both: `ops` are
  /// the two. The rest is that of the smallest candidate that holds both; the rule is `neighbours`
  /// where none does, and the figures those of a kernel of the two.
  std::vector<FusionDecision> neighbours;
};

struct FusionOptions {
  Plan plan = Plan::Unfused;
  Numerics numerics = Numerics::Exact;
  /// Whether large GEMMs may be left to the device's libraries, whose order of addition is their
  /// own: `split` makes the same calls as `fused`.
  bool libraries = true;
  bool tf32 = false;       ///< a library may round the factors of f32 GEMMs to TF32
  int64_t maxFusions = -1; ///< kernels of several operations, per function; −1: any number
  std::vector<std::string> disabledRules = {};  ///< by name
  std::vector<std::string> disabledRaises = {}; ///< by name: left in primitives (tenon-simplify)
  cost::LaunchMode launchMode = cost::LaunchMode::GraphPdl;
  const cost::MeasuredTimes* times = nullptr;       ///< may be null
  std::vector<FusionDecision>* report = nullptr;    ///< if set, receives every decision
  std::vector<FunctionFusion>* functions = nullptr; ///< if set, receives one for every function
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
