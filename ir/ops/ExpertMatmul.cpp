#include <algorithm>
#include <cmath>

#include "ir/Dialect.h"
#include "ir/ops/internal/Dot.h"

using namespace mlir;

namespace tenon {

LogicalResult
ExpertMatmulOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                          Adaptor adaptor,
                                          llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  auto weight = llvm::cast<RankedTensorType>(adaptor.getWeight().getType());
  auto ids = llvm::cast<RankedTensorType>(adaptor.getIds().getType());
  if (weight.getRank() != 3 || input.getRank() < 2 || input.getRank() > 3 ||
      input.getShape().back() != weight.getShape().back())
    return detail::emitShapeError(
        location, getOperationName(),
        "expects weight [E, N, K] with K the last axis of input [R, K] or [R, k, K], but got " +
            detail::formatType(input) + " and " + detail::formatType(weight));
  if (ids.getRank() != 2 ||
      ids.getShape().take_front(input.getRank() - 1) != input.getShape().drop_back())
    return detail::emitShapeError(location, getOperationName(),
                                  "expects ids [R, k] that match the rows of input, but got " +
                                      detail::formatType(ids) + " and " +
                                      detail::formatType(input));
  shapes.emplace_back(
      llvm::SmallVector<int64_t>{ids.getDimSize(0), ids.getDimSize(1), weight.getDimSize(1)});
  return success();
}

/// The bytes of `weight` that `rows` rows with `chosen` experts each read: those of
/// E · (1 − (1 − k/E)^R) experts, in whole thousandths, so that a power's last bits do not count.
static int64_t chosenBytes(RankedTensorType weight, int64_t rows, int64_t chosen) {
  constexpr int64_t parts = 1000, mostExperts = int64_t(1) << 32;
  int64_t experts = weight.getDimSize(0), bytes = getStorageBytes(weight).value_or(0);
  if (chosen >= experts || experts > mostExperts)
    return bytes;
  auto all = static_cast<double>(experts);
  double others = std::pow(1 - static_cast<double>(chosen) / all, static_cast<double>(rows));
  int64_t readParts = std::llround(all * (1 - others) * parts);
  int64_t expertBytes = bytes / experts;
  return expertBytes / parts * readParts + expertBytes % parts * readParts / parts;
}

Work ExpertMatmulOp::getWork() {
  Work work = detail::defaultWork(*this);
  RankedTensorType ids = getIds().getType();
  work.flops = detail::saturatingProduct(
      {2, getInput().getType().getShape().back(), getType().getNumElements()});
  work.operandBytes[1] = chosenBytes(getWeight().getType(), ids.getDimSize(0), ids.getDimSize(1));
  return work;
}

Footprint ExpertMatmulOp::getFootprint(unsigned operand) {
  return operand == 1 ? Footprint::grid() : Footprint::row();
}

void ExpertMatmulOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                              llvm::MutableArrayRef<ReferenceTensor> results) {
  const ReferenceTensor& input = operands[0];
  const ReferenceTensor& weight = operands[1];
  std::vector<double> ids = operands[2].toVector();
  int64_t experts = weight.getShape()[0], n = weight.getShape()[1];
  auto products = static_cast<int64_t>(ids.size());
  int64_t sharing = products / input.getNumRows();
  std::vector<double> inputScratch, weightScratch;
  llvm::MutableArrayRef<double> y = results[0].getValues();
  for (int64_t product = 0; product < products; ++product) {
    llvm::MutableArrayRef<double> row = y.slice(product * n, n);
    std::fill(row.begin(), row.end(), 0.0);
    if (!(ids[product] >= 0 && ids[product] < static_cast<double>(experts)))
      continue;
    int64_t firstWeightRow = static_cast<int64_t>(ids[product]) * n;
    llvm::ArrayRef<double> x = input.getRow(product / sharing, inputScratch);
    for (int64_t column = 0; column < n; ++column)
      row[column] = detail::dot(x, weight.getRow(firstWeightRow + column, weightScratch));
  }
}

} // namespace tenon
