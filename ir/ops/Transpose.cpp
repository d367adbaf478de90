#include "ir/Dialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;

namespace tenon {

LogicalResult
TransposeOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                       Adaptor adaptor,
                                       llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  llvm::ArrayRef<int64_t> permutation = adaptor.getPermutation();
  if (static_cast<int64_t>(permutation.size()) != input.getRank() ||
      !isPermutationVector(permutation))
    return detail::emitShapeError(location, getOperationName(),
                                  "expects a permutation of the " + llvm::Twine(input.getRank()) +
                                      " axes of input, but got " +
                                      detail::formatShape(permutation));
  shapes.emplace_back(applyPermutation(input.getShape(), permutation));
  return success();
}

LogicalResult TransposeOp::verify() { return detail::verifySameElementType(*this); }

Work TransposeOp::getWork() { return detail::copyWork(*this); }

Footprint TransposeOp::getFootprint(unsigned operand) { return Footprint::grid(); }

void TransposeOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                           llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::ArrayRef<int64_t> permutation = getPermutation();
  std::vector<double> input = operands[0].toVector();
  llvm::SmallVector<int64_t> inputStrides = computeStrides(operands[0].getShape());
  llvm::SmallVector<int64_t> strides = computeStrides(results[0].getShape());
  for (auto [index, element] : llvm::enumerate(results[0].getValues())) {
    int64_t rest = index, offset = 0;
    for (auto [axis, stride] : llvm::enumerate(strides)) {
      offset += rest / stride * inputStrides[permutation[axis]];
      rest %= stride;
    }
    element = input[offset];
  }
}

/// The identity; transpose(transpose(x)) → transpose(x).
OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentityPermutation(getPermutation()))
    return getInput();
  auto inner = getInput().getDefiningOp<TransposeOp>();
  if (!inner)
    return {};
  setPermutation(applyPermutation(inner.getPermutation(), getPermutation()));
  getInputMutable().assign(inner.getInput());
  return getResult();
}

} // namespace tenon
