#include "ir/Dialect.h"
#include "ir/KvCache.h"
#include "ir/StateOrder.h"

using namespace mlir;

namespace tenon {

LogicalResult
KvWriteOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                     Adaptor adaptor,
                                     llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto values = llvm::cast<RankedTensorType>(adaptor.getValues().getType());
  auto sequences = llvm::cast<RankedTensorType>(adaptor.getSequences().getType());
  auto positions = llvm::cast<RankedTensorType>(adaptor.getPositions().getType());
  auto state = llvm::cast<StateType>(adaptor.getState().getType());
  if (values.getRank() != 3 || state.getShape().size() != 4 ||
      values.getShape().drop_front() != state.getShape().drop_front(2))
    return detail::emitShapeError(location, getOperationName(),
                                  "expects values [M, H, D] and a state [S, C, H, D], but got " +
                                      detail::formatType(values) + " and " +
                                      detail::formatType(state));
  if (failed(detail::verifyRowIndices(location, getOperationName(), values.getDimSize(0), sequences,
                                      positions)))
    return failure();
  shapes.emplace_back(state.getShape());
  return success();
}

LogicalResult KvWriteOp::verify() {
  Type stored = getState().getType().getElementType();
  if (getValues().getType().getElementType() != stored)
    return emitOpError("expects values of the state's element type ")
           << stored << ", but got " << getValues().getType();
  return verifyStateOrder(*this);
}

/// Reads the rows and writes as many bytes; the rest of the state stays where it is.
Work KvWriteOp::getWork() {
  Work work = detail::defaultWork(*this);
  work.flops = 0;
  work.operandBytes[3] = 0;
  work.resultBytes[0] = work.operandBytes[0];
  return work;
}

/// Of a written row: the element of `values` with the same head and place in the head.
Footprint KvWriteOp::getFootprint(unsigned operand) {
  bool index = operand == 1 || operand == 2;
  return index ? Footprint::grid() : Footprint::element();
}

void KvWriteOp::getEffects(
    llvm::SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>& effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getStateMutable());
}

void KvWriteOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  std::vector<double> sequences = operands[1].toVector(), positions = operands[2].toVector();
  results[0] = operands[3]; // in place
  KvCache cache(results[0].getType());
  std::vector<double> scratch;
  for (size_t m = 0; m < positions.size(); ++m) {
    int64_t sequence = sequences[sequences.size() == 1 ? 0 : m], position = positions[m];
    if (!cache.holds(sequence, position))
      continue;
    for (int64_t h = 0; h < cache.heads; ++h)
      llvm::copy(operands[0].getRow(m * cache.heads + h, scratch),
                 results[0]
                     .getValues()
                     .slice(cache.headRow(sequence, position, h) * cache.size, cache.size)
                     .begin());
  }
}

} // namespace tenon
