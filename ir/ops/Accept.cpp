#include <limits>

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
AcceptOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                    Adaptor adaptor,
                                    llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto chosen = llvm::cast<RankedTensorType>(adaptor.getChosen().getType());
  if (chosen.getRank() != 1 || chosen.getDimSize(0) < 1 || chosen.getDimSize(0) > mostRows)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects the choices [M] of 1 to " + llvm::Twine(mostRows) +
                                      " rows, but got " + detail::formatType(chosen));
  for (Value operand : adaptor.getOperands().drop_front())
    if (llvm::cast<RankedTensorType>(operand.getType()).getShape() != chosen.getShape())
      return detail::emitShapeError(
          location, getOperationName(),
          "expects ids, positions and drafts of the " + llvm::Twine(chosen.getDimSize(0)) +
              " rows that have a choice, but got " + detail::formatType(operand.getType()));
  shapes.emplace_back(chosen.getShape());
  int64_t next = adaptor.getDrafts() ? 2 : 1;
  shapes.emplace_back(llvm::ArrayRef{next});
  shapes.emplace_back(llvm::ArrayRef{next});
  return success();
}

int64_t AcceptOp::getRows() { return getChosen().getType().getNumElements(); }

Work AcceptOp::getWork() {
  Work work = detail::defaultWork(*this);
  work.flops = 0;
  return work;
}

Footprint AcceptOp::getFootprint(unsigned operand) { return Footprint::grid(); }

void AcceptOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                        llvm::MutableArrayRef<ReferenceTensor> results) {
  constexpr double largest = std::numeric_limits<int32_t>::max();
  std::vector<double> chosen = operands[0].toVector(), ids = operands[1].toVector(),
                      positions = operands[2].toVector();
  size_t accepted = positions[0] < 0 ? 0 : 1;
  while (accepted > 0 && accepted < ids.size() && ids[accepted] == chosen[accepted - 1] &&
         positions[accepted] == positions[accepted - 1] + 1)
    ++accepted;
  for (size_t row = 0; row < ids.size(); ++row)
    results[0].getValues()[row] = row < accepted ? chosen[row] : notAccepted;
  llvm::MutableArrayRef<double> nextIds = results[1].getValues(),
                                nextPositions = results[2].getValues();
  for (size_t i = 0; i < nextIds.size(); ++i) {
    double position = accepted == 0 ? -1 : positions[accepted - 1] + 1 + static_cast<double>(i);
    nextPositions[i] = position > largest ? -1 : position;
    nextIds[i] = accepted == 0 ? -1
                 : i == 0      ? chosen[accepted - 1]
                               : operands[3].toVector()[accepted - 1];
  }
}

} // namespace tenon
