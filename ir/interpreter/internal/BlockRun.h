#ifndef TENON_IR_INTERPRETER_INTERNAL_BLOCKRUN_H
#define TENON_IR_INTERPRETER_INTERNAL_BLOCKRUN_H

#include "ir/interpreter/Interpreter.h"
#include "ir/interpreter/internal/ElementBudget.h"
#include "ir/interpreter/internal/WeightStore.h"
#include "llvm/ADT/StringMap.h"

namespace tenon::interpreter {

/// A value at run time, with what it holds of the budget.
struct Slot {
  ReferenceTensor tensor;
  Reservation reservation;
};

/// Checks that the elements of a tensor of integers are some, of `elementType`; of i64 that a
/// double holds them.
absl::Status checkIntegers(llvm::ArrayRef<double> values, mlir::Type elementType);

/// One call of a function: the values that are alive, and the steps that make them.
class BlockRun {
public:
  BlockRun(const mlir::SymbolTable& symbols, const InterpreterOptions& options,
           ElementBudget& budget, WeightStore& weights, llvm::StringMap<Slot>& states)
      : symbols(symbols), options(options), budget(budget), weights(weights), states(states) {}

  /// Runs the operations of a verified block in order, each value freed after its last use, and
  /// returns what the terminator yields.
  absl::StatusOr<llvm::SmallVector<Slot>> execute(mlir::Block& block,
                                                  llvm::ArrayRef<Slot> arguments);

private:
  absl::Status step(mlir::Operation& op);
  absl::Status compute(ComputeOpInterface op);
  absl::Status callKernel(KernelOp kernel);
  absl::Status materialize(ConstantOp constant);
  absl::Status fetchWeight(GetWeightOp op);
  absl::Status fetchState(GetStateOp op);
  absl::StatusOr<Slot> makeResult(mlir::OpResult result);
  llvm::SmallVector<Slot> lookUp(mlir::ValueRange values) const;

  const mlir::SymbolTable& symbols;
  const InterpreterOptions& options;
  ElementBudget& budget;
  WeightStore& weights;
  llvm::StringMap<Slot>& states;
  llvm::DenseMap<mlir::Value, Slot> slots;
};

} // namespace tenon::interpreter

#endif // TENON_IR_INTERPRETER_INTERNAL_BLOCKRUN_H
