#ifndef TENON_IR_INTERPRETER_INTERPRETER_H
#define TENON_IR_INTERPRETER_INTERPRETER_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/ReferenceTensor.h"
#include "mlir/IR/BuiltinOps.h"

namespace tenon {

struct InterpreterOptions {
  /// The folder that relative paths of `tenon.file` are meant from; empty: the working directory.
  std::string baseFolder = {};
  /// Elements, each a double of 8 bytes, that may be held at once: inputs, states, intermediates
  /// and weights gathered from several ranges. Weights in one range stay in their file.
  int64_t maxElements = int64_t{1} << 29;
  /// Rounds every result to its element type; false keeps doubles throughout (integers excepted).
  bool round = true;
  /// Called with every result of every computation, also inside kernels, after it is rounded:
  /// operation, number of the result, value. The value shares its elements with the interpreter;
  /// they may change after the call.
  std::function<void(mlir::Operation*, unsigned, const ReferenceTensor&)> probe = {};
};

/// Runs the functions of a module by the reference semantics of its operations, in double. A
/// `tenon.kernel` is transparent: a module means the same in every phase.
///
/// States are zero at first and live between calls. Weights are read from the `tenon.file`s, which
/// are opened when first needed and whose size and fingerprint must be those stated.
class Interpreter {
public:
  /// `module` must outlive the interpreter and stay as it is. Fails where it does not verify or
  /// where its states have more than `maxElements` elements.
  static absl::StatusOr<std::unique_ptr<Interpreter>> create(mlir::ModuleOp module,
                                                             InterpreterOptions options = {});
  ~Interpreter();

  /// Calls `function` with a tensor for each argument, of the argument's type; a state argument
  /// takes the tensor of its shape, and is copied. Returns a tensor for each result. Elements of
  /// tensors of integers must be some in range, those of i64 tensors, results too, of at most 53
  /// bits. Messages name function, operation and location. A call that fails may leave states
  /// written in part.
  absl::StatusOr<std::vector<ReferenceTensor>> run(std::string_view function,
                                                   llvm::ArrayRef<ReferenceTensor> inputs);

  /// The contents of a `tenon.state`; shares its elements with the interpreter.
  absl::StatusOr<ReferenceTensor> getState(std::string_view name) const;
  /// Makes all states zero.
  void resetStates();

private:
  class Impl;
  explicit Interpreter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tenon

#endif // TENON_IR_INTERPRETER_INTERPRETER_H
