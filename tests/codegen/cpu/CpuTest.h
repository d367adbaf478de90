#ifndef TENON_TESTS_CODEGEN_CPU_CPUTEST_H
#define TENON_TESTS_CODEGEN_CPU_CPUTEST_H

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/ReferenceTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/program/Program.h"

namespace tenon::tests {

/// A function to compare on the CPU with the reference interpreter.
struct CpuCase {
  /// The function `@NAME`, in textual IR.
  std::string name;
  std::string function;
  /// Values of i32 arguments, by argument; other integers are random in [0, 4), bools in [0, 2).
  std::map<unsigned, std::vector<int32_t>> integers = {};
  /// Float arguments are random in [low, high).
  double low = -2, high = 2;
  /// Values of arguments of any type instead, by argument.
  std::map<unsigned, std::vector<double>> floats = {};
};

/// A context with the dialects of a module.
std::unique_ptr<mlir::MLIRContext> makeContext();
/// The CPU targets whose code this machine can run, in ascending order.
std::vector<std::string> hostTargets();
/// Parses `text` and takes it through all phases for `target`.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
planModule(mlir::MLIRContext& context, const std::string& text, const std::string& target);
/// Random or given inputs for the arguments of a case's function.
std::vector<ReferenceTensor> makeInputs(const CpuCase& test, mlir::FunctionType type);
/// Runs function `index` of `program` on `threads` threads and returns the bytes of its outputs.
/// Fails the test where bytes around a buffer change.
absl::StatusOr<std::vector<std::vector<std::byte>>>
runFunction(const runtime::Program& program, size_t index,
            const std::vector<ReferenceTensor>& inputs, int threads);

/// Compiles all cases as one module, with `symbols` (states, weights) beside them, for each host
/// target; runs each on 1, 2 and 5 threads; expects equal bits from all of these, and the
/// reference's results within the tolerances.
void expectMatchesReference(const std::vector<CpuCase>& cases, const std::string& symbols = "");

/// Expects the CPU's results to be exactly the reference's; zeros of either sign are equal.
void expectEqualsReference(const CpuCase& test);

/// Expects the one result of the CPU, of i64, to be those integers.
void expectIntegers(const CpuCase& test, const std::vector<int64_t>& expected);

/// Cases whose functions hold one operation.
class CaseList {
public:
  /// Adds a function with arguments %a, %b, … of types `inputs` that returns `operation`, of type
  /// `result`; its name is `what` and a running number. `operation` comes without its type.
  CpuCase& add(const std::string& what, const std::vector<std::string>& inputs,
               const std::string& result, const std::string& operation);

  std::vector<CpuCase> cases;
};

/// `tensor<2x3xf32>`
std::string tensorType(const std::vector<int64_t>& shape, const std::string& element);

} // namespace tenon::tests

#endif // TENON_TESTS_CODEGEN_CPU_CPUTEST_H
