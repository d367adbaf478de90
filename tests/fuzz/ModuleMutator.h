#ifndef TENON_TESTS_FUZZ_MODULEMUTATOR_H
#define TENON_TESTS_FUZZ_MODULEMUTATOR_H

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace tenon::fuzz {

/// Changes a module at random, so that it stays near a valid one: attributes, types, operands, the
/// operations themselves and their order. The same random numbers give the same changes. The module
/// need not verify before, and may not afterwards.
class ModuleMutator {
public:
  ModuleMutator(mlir::ModuleOp module, std::mt19937& random);

  /// Makes one change; none where the one drawn does not apply.
  void change();

private:
  size_t below(size_t count) { return random() % count; }
  template <typename T> T pick(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

  /// A number that breaks things, or one near `number`.
  int64_t changeNumber(int64_t number);
  mlir::Attribute changeAttribute(mlir::Attribute attribute);
  mlir::Type changeType(mlir::Type type);
  llvm::SmallVector<int64_t> changeShape(llvm::ArrayRef<int64_t> shape);
  mlir::Type changeElementType();

  // What may happen to an operation, or to all of them.
  void changeOneAttribute(mlir::Operation* op);
  void copyAttribute(mlir::Operation* op);
  void changeResultType(mlir::Operation* op);
  void changeArgumentType(mlir::Operation* op);
  void changeOperand(mlir::Operation* op);
  void moveOperation(mlir::Operation* op);
  void cloneOperation(mlir::Operation* op);
  void eraseOperation(mlir::Operation* op);
  /// Gives every axis of one length another, everywhere: the module often stays valid.
  void resizeEverywhere(mlir::Operation* op);
  /// Replaces one element type everywhere.
  void retypeEverywhere(mlir::Operation* op);

  /// Every operation of the module, the module first.
  std::vector<mlir::Operation*> listOperations();
  /// A value of the same block, or null.
  mlir::Value pickValue(mlir::Operation* op);

  mlir::ModuleOp module;
  std::mt19937& random;
};

/// The text with up to three changes to its module, or nothing where it does not parse. Modules that do
/// not verify go on, in generic form. Its brackets must not nest deeper than `checkNesting` allows.
std::string changeModule(std::string_view text, std::mt19937& random);

} // namespace tenon::fuzz

#endif // TENON_TESTS_FUZZ_MODULEMUTATOR_H
