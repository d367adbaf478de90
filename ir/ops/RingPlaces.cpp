#include <algorithm>
#include <limits>

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult
RingPlacesOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                        Adaptor adaptor,
                                        llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto positions = llvm::cast<RankedTensorType>(adaptor.getPositions().getType());
  auto views = static_cast<int64_t>(adaptor.getViews());
  if (positions.getRank() != 1 || (views != 1 && views != 3))
    return detail::emitShapeError(location, getOperationName(),
                                  "expects positions [M] and 1 or 3 views, but got " +
                                      detail::formatType(positions) + " and " + llvm::Twine(views));
  shapes.emplace_back(llvm::ArrayRef{views * positions.getDimSize(0)});
  return success();
}

LogicalResult RingPlacesOp::verify() {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  auto kept = static_cast<int64_t>(getKept()), ring = static_cast<int64_t>(getRing()),
       window = static_cast<int64_t>(getWindow());
  if (kept >= 0 && ring >= 1 && window >= 1 && window <= ring && ring <= most / 2 &&
      kept <= most - 2 * ring)
    return success();
  return emitOpError("expects no fewer than 0 kept positions and a window from 1 to the ring, "
                     "places within 31 bits, but got ")
         << kept << ", " << window << " and " << ring;
}

Work RingPlacesOp::getWork() {
  Work work = detail::defaultWork(*this);
  work.flops = 0;
  return work;
}

Footprint RingPlacesOp::getFootprint(unsigned operand) { return Footprint::grid(); }

void RingPlacesOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                            llvm::MutableArrayRef<ReferenceTensor> results) {
  std::vector<double> positions = operands[0].toVector();
  llvm::MutableArrayRef<double> places = results[0].getValues();
  int64_t kept = getKept(), ring = getRing(), window = getWindow();
  for (size_t m = 0, rows = positions.size(); m < rows; ++m) {
    auto position = static_cast<int64_t>(positions[m]);
    int64_t own = position < kept ? position : kept + (position - kept) % ring;
    places[m] = own;
    if (places.size() == rows)
      continue;
    places[rows + m] = position < 0 ? position : own + ring;
    places[2 * rows + m] = std::min(position, kept + window - 1);
  }
}

} // namespace tenon
