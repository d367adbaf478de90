#ifndef TENON_PASSES_PIPELINE_H
#define TENON_PASSES_PIPELINE_H

#include "absl/status/status.h"
#include "ir/Dialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/fusion/Fusion.h"
#include "passes/relax/DeferNorms.h"
#include "passes/simplify/Simplify.h"

namespace tenon::passes {

struct PipelineOptions {
  /// The last phase to run.
  Phase upTo = Phase::Planned;
  /// The device to compile for; a module that already names one keeps it. Needed from the
  /// scheduled phase on.
  TargetAttr target = {};
  /// If set, receives every operation that is raised from its primitives.
  std::vector<RaisedOperation>* raised = nullptr;
  /// If set, receives what became of every norm before GEMMs, under relaxed numerics and the plans
  /// `fused`, `split` and `auto`.
  std::vector<NormDeferral>* deferrals = nullptr;
  /// Which operations share kernels; every plan but `unfused` needs a target from the fused phase
  /// on.
  FusionOptions fusion = {};
};

/// The phase that `module` has reached: its `tenon.phase`, or Input where it has none.
Phase getPhase(mlir::ModuleOp module);

/// Takes `module` from the phase that it has reached to `options.upTo`: input ► simplified ► fused
/// ► scheduled ► planned. The module is verified before, after each phase, and its plan once more
/// when it starts out planned, so that a phase can be dumped, edited by hand and resumed. Fails
/// with InvalidArgument and the first diagnostic; the module is then in an unspecified state.
absl::Status runPipeline(mlir::ModuleOp module, const PipelineOptions& options);

} // namespace tenon::passes

#endif // TENON_PASSES_PIPELINE_H
