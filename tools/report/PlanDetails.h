#ifndef TENON_TOOLS_REPORT_PLANDETAILS_H
#define TENON_TOOLS_REPORT_PLANDETAILS_H

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// What a planned module says of one step of a function.
struct StepDetails {
  std::string operations;         ///< `rms_norm+matmul`
  std::vector<std::string> names; ///< of each that computes something: `matmul blk.0.attn_q`
  std::string group;              ///< as `groupSteps` has it
  std::vector<size_t> reads;      ///< earlier steps whose results it reads, ascending
  std::string ir;                 ///< its `tenon.kernel`
};

/// The steps of `function` of a planned module, in their order. NotFound where there is no such
/// function.
absl::StatusOr<std::vector<StepDetails>> describeSteps(mlir::ModuleOp planned,
                                                       const std::string& function);

/// The code of one kernel, by language: `cuda`, `ptx` and, where this machine has a disassembler,
/// `sass`; `llvm`.
using KernelCode = std::vector<std::pair<std::string, std::string>>;

/// The code of each kernel of `program`, which was compiled from `planned`, by index; none for a
/// library's. Compiles once more, to keep what is read here.
absl::StatusOr<std::vector<KernelCode>> printKernelCode(mlir::ModuleOp planned,
                                                        const runtime::Program& program);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_PLANDETAILS_H
