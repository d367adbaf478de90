#include "ir/Dialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon {

/// Windows along an axis of `extent` elements; nullopt where there is none.
static std::optional<int64_t> countWindows(int64_t extent, int64_t window, int64_t stride,
                                           int64_t low, int64_t high) {
  int64_t padded = 0;
  if (window < 1 || stride < 1 || low < 0 || high < 0 || llvm::AddOverflow(low, high, padded) ||
      llvm::AddOverflow(padded, extent, padded) || padded < window)
    return std::nullopt;
  return (padded - window) / stride + 1;
}

LogicalResult
PatchesOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                     Adaptor adaptor,
                                     llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto input = llvm::cast<RankedTensorType>(adaptor.getInput().getType());
  llvm::ArrayRef<int64_t> window = adaptor.getWindow(), strides = adaptor.getStrides(),
                          low = adaptor.getLow(), high = adaptor.getHigh();
  size_t axes = window.size();
  if (axes == 0 || input.getRank() != static_cast<int64_t>(axes) + 2 || strides.size() != axes ||
      low.size() != axes || high.size() != axes)
    return detail::emitShapeError(
        location, getOperationName(),
        "expects input [B, C, D...] with a window, a stride, low and high for each D, but got " +
            detail::formatType(input) + " with " + llvm::Twine(axes) + ", " +
            llvm::Twine(strides.size()) + ", " + llvm::Twine(low.size()) + " and " +
            llvm::Twine(high.size()));
  llvm::SmallVector<int64_t> counts, columns{input.getDimSize(1)};
  for (size_t i = 0; i < axes; ++i) {
    int64_t extent = input.getDimSize(i + 2);
    std::optional<int64_t> count = countWindows(extent, window[i], strides[i], low[i], high[i]);
    if (!count)
      return detail::emitShapeError(location, getOperationName(),
                                    "expects a window inside the padded axis " +
                                        llvm::Twine(i + 2) + " of " + llvm::Twine(extent) +
                                        " elements, but got window " + llvm::Twine(window[i]) +
                                        ", stride " + llvm::Twine(strides[i]) + ", low " +
                                        llvm::Twine(low[i]) + " and high " + llvm::Twine(high[i]));
    counts.push_back(*count);
    columns.push_back(window[i]);
  }
  shapes.emplace_back(llvm::ArrayRef{input.getDimSize(0), detail::saturatingProduct(counts),
                                     detail::saturatingProduct(columns)});
  return success();
}

llvm::SmallVector<int64_t> PatchesOp::getWindowCounts() {
  llvm::SmallVector<int64_t> counts;
  for (auto [axis, extent] : llvm::enumerate(getInput().getType().getShape().drop_front(2)))
    counts.push_back(*countWindows(extent, getWindow()[axis], getStrides()[axis], getLow()[axis],
                                   getHigh()[axis]));
  return counts;
}

LogicalResult PatchesOp::verify() { return detail::verifySameElementType(*this); }

Work PatchesOp::getWork() { return detail::copyWork(*this); }

Footprint PatchesOp::getFootprint(unsigned operand) { return Footprint::grid(); }

void PatchesOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  llvm::ArrayRef<int64_t> shape = operands[0].getShape();
  llvm::ArrayRef<int64_t> window = getWindow(), strides = getStrides(), low = getLow();
  size_t axes = window.size();
  // Result element (b, p₁, …, pₙ, c, w₁, …, wₙ).
  llvm::SmallVector<int64_t> split{shape[0]};
  split.append(getWindowCounts());
  split.push_back(shape[1]);
  split.append(window.begin(), window.end());
  llvm::SmallVector<int64_t> splitStrides = computeStrides(split);
  llvm::SmallVector<int64_t> inputStrides = computeStrides(shape);
  std::vector<double> input = operands[0].toVector();
  for (auto [index, element] : llvm::enumerate(results[0].getValues())) {
    llvm::SmallVector<int64_t> at = delinearize(index, splitStrides);
    int64_t offset = at[0] * inputStrides[0] + at[axes + 1] * inputStrides[1];
    bool inside = true;
    for (size_t i = 0; i < axes; ++i) {
      int64_t place = at[i + 1] * strides[i] + at[axes + 2 + i] - low[i];
      inside &= place >= 0 && place < shape[i + 2];
      offset += place * inputStrides[i + 2];
    }
    element = inside ? input[offset] : 0;
  }
}

} // namespace tenon
