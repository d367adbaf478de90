#ifndef TENON_IR_REFERENCETENSOR_H
#define TENON_IR_REFERENCETENSOR_H

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon {

/// A tensor of the reference interpreter: doubles in row-major order, or the encoded bytes of a
/// weight, decoded row by row so that a large one need not be held as doubles. Copies share the
/// elements.
class ReferenceTensor {
public:
  ReferenceTensor() = default;
  /// Zeros. `type` is a ranked tensor of static shape.
  explicit ReferenceTensor(mlir::RankedTensorType type);
  /// Takes `bytes` as the type's element encoding lays them out; `owner` keeps them alive. The
  /// size must be that of the type.
  ReferenceTensor(mlir::RankedTensorType type, std::span<const std::byte> bytes,
                  std::shared_ptr<const void> owner);

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  /// Extent of the innermost axis; 1 for a scalar.
  int64_t getRowLength() const;
  /// Product of the other extents.
  int64_t getNumRows() const;

  /// Row `index` of the innermost axis; points into the tensor or into `scratch`.
  llvm::ArrayRef<double> getRow(int64_t index, std::vector<double>& scratch) const;
  /// All elements; points into the tensor or into `scratch`.
  llvm::ArrayRef<double> getAll(std::vector<double>& scratch) const;
  /// All elements. Decodes an encoded tensor whole, each time.
  std::vector<double> toVector() const;
  /// The elements of a tensor that is not encoded.
  llvm::MutableArrayRef<double> getValues() { return *values; }
  llvm::ArrayRef<double> getValues() const { return *values; }
  /// True where the elements are encoded bytes and `getValues` may not be called.
  bool isEncoded() const { return !values; }

  /// Rounds every element to the type's element type, to nearest even; integers, which the elements
  /// are already, to their lower bits.
  void roundToElementType();
  /// The elements in the encoding of the type's element type.
  std::vector<std::byte> encode() const;

private:
  mlir::RankedTensorType type;
  std::shared_ptr<std::vector<double>> values;
  std::span<const std::byte> encoded;
  std::shared_ptr<const void> owner;
};

} // namespace tenon

#endif // TENON_IR_REFERENCETENSOR_H
