#ifndef TENON_IR_INTERFACES_H
#define TENON_IR_INTERFACES_H

#include <optional>

#include "ir/ReferenceTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace tenon {

/// The work of one execution of an operation.
struct Work {
  int64_t flops = 0;                       ///< a fused multiply-add counts two
  llvm::SmallVector<int64_t> operandBytes; ///< bytes read, by operand
  llvm::SmallVector<int64_t> resultBytes;  ///< bytes written, by result
};

/// What one element of a result needs of an operand: it decides which fusions an emitter can hold
/// in a thread, a warp or a block.
struct Footprint {
  enum class Kind {
    Element, ///< the element at the same, broadcast, position
    Pair,    ///< that element and the one `parameter` further in the row: rope
    Group,   ///< `parameter` consecutive elements of the row: a head, a block
    Row,     ///< a whole row of the innermost axis: norms, softmax, matmul's input
    Grid     ///< elements of other rows: transpose, attention's cache, matmul's weight
  };
  Kind kind;
  int64_t parameter = 0;

  static Footprint element() { return {Kind::Element}; }
  static Footprint pair(int64_t stride) { return {Kind::Pair, stride}; }
  static Footprint group(int64_t elements) { return {Kind::Group, elements}; }
  static Footprint row() { return {Kind::Row}; }
  static Footprint grid() { return {Kind::Grid}; }
};

} // namespace tenon

namespace tenon::detail {

/// Each operand and result whole, once; one operation an element of the first result.
Work defaultWork(mlir::Operation* op);
/// `defaultWork` without operations: of an operation that moves elements.
Work copyWork(mlir::Operation* op);
/// The product of positive factors, or the largest int64_t where it is larger.
int64_t saturatingProduct(llvm::ArrayRef<int64_t> factors);
/// The sum of terms of zero or more, or the largest int64_t where it is larger.
int64_t saturatingSum(llvm::ArrayRef<int64_t> terms);
/// Checks that operands and results have one element type.
mlir::LogicalResult verifySameElementType(mlir::Operation* op);
/// Checks `positions` [rows] and `sequences` [rows] or [1].
mlir::LogicalResult verifyRowIndices(std::optional<mlir::Location> location, llvm::StringRef opName,
                                     int64_t rows, mlir::RankedTensorType sequences,
                                     mlir::RankedTensorType positions);
/// Checks the shapes of the results against `InferShapedTypeOpInterface`.
mlir::LogicalResult verifyInferredShapes(mlir::Operation* op);
/// The NumPy broadcast of the operands' shapes.
mlir::LogicalResult inferBroadcastShape(std::optional<mlir::Location> location,
                                        llvm::StringRef opName, mlir::ValueRange operands,
                                        llvm::SmallVectorImpl<mlir::ShapedTypeComponents>& shapes);
/// Applies `ElementwiseOpInterface::evaluateElement` at every position.
void evaluateElementwise(mlir::Operation* op, llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results);
/// Emits "'opName' op <message>" where there is a location, and fails.
mlir::LogicalResult emitShapeError(std::optional<mlir::Location> location, llvm::StringRef opName,
                                   const llvm::Twine& message);
/// The shape as messages print it: `[1, 64]`.
std::string formatShape(llvm::ArrayRef<int64_t> shape);
/// The type as IR prints it.
std::string formatType(mlir::Type type);
/// A constant of `type`, f32 or a vector of f32, with every element `value`.
mlir::Value buildSplat(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type type, float value);
/// The same of i64.
mlir::Value buildIntegerSplat(mlir::OpBuilder& builder, mlir::Location loc, mlir::Type type,
                              int64_t value);
/// What a value of a plain element type is computed in: f32 for floats, i64 for integers and bools.
mlir::Type computedType(mlir::Type elementType);
/// `type`, a scalar or a vector, with that element type.
mlir::Type withElement(mlir::Type type, mlir::Type elementType);
/// The lower bits of an integer that `elementType` has, sign-extended; of i1 0 or 1.
int64_t wrapInteger(int64_t value, mlir::Type elementType);
/// Checks that the tensors are all of floats, or all of one integer type.
mlir::LogicalResult verifyOneKind(mlir::Operation* op, mlir::TypeRange tensors);

} // namespace tenon::detail

namespace tenon {

/// The trait of an operation whose operands and results are all floats, or all of one integer type.
template <typename OpTy> struct OneKind : mlir::OpTrait::TraitBase<OpTy, OneKind> {
  static mlir::LogicalResult verifyTrait(mlir::Operation* op) {
    llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    return detail::verifyOneKind(op, types);
  }
};

} // namespace tenon

#include "ir/TenonInterfaces.h.inc"

#endif // TENON_IR_INTERFACES_H
