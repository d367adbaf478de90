#include <cmath>

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
RopeOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                  Adaptor adaptor,
                                  llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  auto positions = llvm::cast<RankedTensorType>(adaptor.getPositions().getType());
  auto frequencies = llvm::cast<RankedTensorType>(adaptor.getInverseFrequencies().getType());
  if (input.getRank() != 3 || positions.getRank() != 1 ||
      positions.getDimSize(0) != input.getDimSize(0))
    return detail::emitShapeError(location, getOperationName(),
                                  "expects input [M, H, D] and positions [M], but got " +
                                      detail::formatType(input) + " and " +
                                      detail::formatType(positions));
  if (frequencies.getRank() != 1 || frequencies.getDimSize(0) > input.getDimSize(2) / 2)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects at most " + llvm::Twine(input.getDimSize(2) / 2) +
                                      " inverse frequencies on one axis, but got " +
                                      detail::formatType(frequencies));
  shapes.emplace_back(input.getShape());
  return success();
}

/// Four products and two sums a pair.
Work RopeOp::getWork() {
  Work work = detail::defaultWork(*this);
  llvm::ArrayRef<int64_t> shape = getType().getShape();
  int64_t pairs = getInverseFrequencies().getType().getNumElements();
  work.flops = detail::saturatingProduct({6, pairs, shape[0], shape[1]});
  return work;
}

Footprint RopeOp::getFootprint(unsigned operand) {
  if (operand != 0)
    return Footprint::grid();
  int64_t pairs = getInverseFrequencies().getType().getNumElements();
  return Footprint::pair(getPairing() == RopePairing::Adjacent ? 1 : pairs);
}

void RopeOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                      llvm::MutableArrayRef<ReferenceTensor> results) {
  std::vector<double> x = operands[0].toVector(), positions = operands[1].toVector(),
                      frequencies = operands[2].toVector();
  llvm::MutableArrayRef<double> y = results[0].getValues();
  double magnitude = getMagnitude().convertToDouble();
  int64_t heads = operands[0].getShape()[1], width = operands[0].getRowLength();
  int64_t pairs = frequencies.size();
  bool adjacent = getPairing() == RopePairing::Adjacent;
  llvm::copy(x, y.begin());
  for (size_t m = 0; m < positions.size(); ++m)
    for (int64_t i = 0; i < pairs; ++i) {
      double angle = static_cast<float>(positions[m] * frequencies[i]);
      double cosine = magnitude * std::cos(angle), sine = magnitude * std::sin(angle);
      for (int64_t h = 0; h < heads; ++h) {
        size_t first = (m * heads + h) * width + (adjacent ? 2 * i : i);
        size_t second = first + (adjacent ? 1 : pairs);
        y[first] = x[first] * cosine - x[second] * sine;
        y[second] = x[first] * sine + x[second] * cosine;
      }
    }
}

} // namespace tenon
