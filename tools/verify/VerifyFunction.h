#ifndef TENON_TOOLS_VERIFY_VERIFYFUNCTION_H
#define TENON_TOOLS_VERIFY_VERIFYFUNCTION_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/StepObserver.h"
#include "tools/verify/CompareValues.h"
#include "tools/verify/StandaloneKernel.h"

namespace tenon::tools {

/// What was found about one step of a call.
struct StepCheck {
  std::string name;   ///< the step's, `blk.0.attn_q: rms_norm+matmul`
  std::string kernel; ///< the symbol of its kernel
  std::string kind;   ///< emitter and operations, `gemv_bulk: rms_norm+matmul`
  std::string layer;  ///< `blk.0`, where the name says one
  bool isFused = false;
  int64_t elements = 0;  ///< of its results and, of caches, all
  int64_t differing = 0; ///< from its own split chain, in any bit; of a fused kernel
  ReferenceError error;
  bool isFar = false; ///< one of its results is (`isFar` in CompareValues.h)
};

/// Checks every step of a call of one function while it runs, from snapshots of what the step reads
/// and writes on the device: a fused kernel against its own split chain, run on the device on the
/// same inputs, and every kernel against the reference interpreter on the same inputs. Nothing else
/// of the plan changes. Equal kernels are compiled once.
class FunctionVerifier final : public runtime::StepObserver {
public:
  /// Of function `function` of `program`, which was compiled from `planned`; both outlive the
  /// verifier. `options` are for the split chains. NotFound where the module has no such function.
  static absl::StatusOr<std::unique_ptr<FunctionVerifier>> create(mlir::ModuleOp planned,
                                                                  const runtime::Program& program,
                                                                  size_t function,
                                                                  const ExecutorOptions& options);

  absl::Status before(size_t step, runtime::StepMemory& memory) override;
  absl::Status after(size_t step, runtime::StepMemory& memory) override;

  /// One for each step that ended.
  const std::vector<StepCheck>& checks() const { return results; }

private:
  /// What stands beside a kernel.
  struct Counterparts {
    std::unique_ptr<ReferenceKernel> reference;
    std::unique_ptr<SplitChain> split; ///< null for a kernel of one operation
  };

  absl::StatusOr<Counterparts*> counterpartsOf(size_t step);
  /// The places of the kernel's results; of a cache, that of its input.
  std::vector<runtime::BufferRef> resultPlaces(size_t step) const;
  absl::Status compare(size_t step, const ValueBytes& outputs);
  absl::Status inStep(size_t step, const absl::Status& status) const;

  const runtime::Program* program = nullptr;
  const runtime::Function* function = nullptr;
  ExecutorOptions options;
  std::vector<KernelOp> kernels;                 ///< by step
  std::map<uint32_t, Counterparts> counterparts; ///< by index of the program's kernel
  ValueBytes inputs;                             ///< of the step under way
  std::vector<StepCheck> results;
};

} // namespace tenon::tools

#endif // TENON_TOOLS_VERIFY_VERIFYFUNCTION_H
