#ifndef TENON_CODEGEN_CUDA_REGIONPRINTER_H
#define TENON_CODEGEN_CUDA_REGIONPRINTER_H

#include <string>

#include "codegen/cuda/Emitter.h"
#include "llvm/ADT/DenseMap.h"

namespace tenon::codegen::cuda {

/// Elements [column, column + width) of row `row`, of which `valid` exist.
struct RowPosition {
  std::string row;    ///< expression of long long
  std::string column; ///< expression of int
  std::string valid;  ///< expression of int; empty: all of them, aligned to the widest word
};

/// Prints the values of a region, each when it is first asked for: loads of arguments, chains of
/// elementwise operations, rows of an embedding or of a block-quantised tensor. A hero defines its
/// own result, and whatever follows it in the region, an epilogue, is printed from there; what
/// stands before a hero, a prologue, is printed when the hero asks for its operand.
///
/// A value is an array of `width` floats, or one float where it is the same along the row, of
/// integers and bools `Int64`; it is rounded to its element type. With `keepPacked`, arrays of
/// elements of 16 bits stand beside a
/// `Packed`, which sums are computed and results stored from.
class RegionPrinter {
public:
  /// `shape` is the space of positions: rows are its leading axes, columns its innermost one, or
  /// all elements where `flat` (then nothing may broadcast but single elements).
  RegionPrinter(KernelContext& context, llvm::ArrayRef<int64_t> shape, bool flat, int width)
      : context(context), shape(shape), flat(flat), width(width) {}

  void keepPacked() { keepsPacked = true; }
  /// Moves to another position: forgets everything but what is defined afterwards.
  void moveTo(CodeWriter& code, RowPosition position);
  /// Says that `value` is in the array `variable`, and in the `Packed` of that name, if any.
  void define(mlir::Value value, const std::string& variable, const std::string& packed = "") {
    variables[value] = {variable, true, packed};
  }
  /// Says that the id which `ids` has for the position is `expression`.
  void defineId(mlir::Value ids, const std::string& expression) { this->ids[ids] = expression; }
  /// An expression of the address of the elements of `argument`, of a plain type, at the position.
  std::string address(mlir::BlockArgument argument) const;
  /// Prints the load of `argument`, of a plain type, into the array `variable`, which exists, of
  /// the type that its values are computed in.
  void load(mlir::BlockArgument argument, const std::string& variable);
  /// Prints what `value` takes and returns an expression of its element `j`, a loop variable.
  mlir::FailureOr<std::string> element(mlir::Value value);
  /// Prints what `value` takes and returns an expression of it as a `Packed`.
  mlir::FailureOr<std::string> packed(mlir::Value value);
  /// Prints `value` and stores it to each of its destinations; of an argmax, prints that its
  /// operand's elements are candidates (`surroundSearch` adds the rest).
  mlir::LogicalResult store(mlir::Value value);

private:
  struct Variable {
    std::string name;
    bool isArray;
    std::string packed = {}; ///< the name of its `Packed`; empty: there is none
  };
  mlir::FailureOr<Variable> print(mlir::Value value);
  bool isSingle(mlir::RankedTensorType type) const;
  Variable printLoad(mlir::BlockArgument argument);
  Variable printRow(mlir::Value table, const std::string& row, mlir::RankedTensorType tableType);
  Variable printEmbedding(EmbeddingOp op);
  Variable printWeightedSum(WeightedSumOp op);
  bool packs(mlir::Type type) const;
  Variable widenPacked(const std::string& name, const std::string& expression);
  mlir::FailureOr<std::string> printPackedSum(mlir::Operation* op);
  mlir::FailureOr<Variable> printElementwise(ElementwiseOpInterface op);
  std::string asArray(const Variable& variable, mlir::Type tensor);
  Variable printConstant(ConstantOp op);
  mlir::LogicalResult offer(ArgmaxOp op);
  std::string rowOffset(mlir::RankedTensorType type) const;
  std::string newName() { return "v" + std::to_string(nextName++); }

  KernelContext& context;
  llvm::ArrayRef<int64_t> shape;
  bool flat;
  int width;
  bool keepsPacked = false;
  CodeWriter* code = nullptr;
  RowPosition position;
  llvm::DenseMap<mlir::Value, Variable> variables;
  llvm::DenseMap<mlir::Value, std::string> ids;
  int nextName = 0;
};

/// True for an operation that a RegionPrinter prints by itself.
bool isPrintable(mlir::Operation* op);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_REGIONPRINTER_H
