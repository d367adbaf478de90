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
  bool isPaged = state.getLayout().getKind() == StateLayout::Paged;
  const char* axes = isPaged ? "[N, H, P, D]" : "[S, C, H, D]";
  if (values.getRank() != 3 || state.getShape().size() != 4 ||
      values.getDimSize(1) != KvCache(state).heads || values.getDimSize(2) != KvCache(state).size)
    return detail::emitShapeError(location, getOperationName(),
                                  llvm::Twine("expects values [M, H, D] and a state ") + axes +
                                      ", but got " + detail::formatType(values) + " and " +
                                      detail::formatType(state));
  if (failed(verifyBlockTable(location, getOperationName(), state, adaptor.getBlockTable())))
    return failure();
  if (failed(detail::verifyRowIndices(location, getOperationName(), values.getDimSize(0), sequences,
                                      positions)))
    return failure();
  shapes.emplace_back(state.getShape());
  return success();
}

LogicalResult KvWriteOp::verify() {
  Type stored = getState().getType().getElementType();
  if (!llvm::isa<BlockType>(stored) && getValues().getType().getElementType() != stored)
    return emitOpError("expects values of the state's element type ")
           << stored << ", but got " << getValues().getType();
  return verifyStateOrder(*this);
}

/// Reads the rows and writes as many bytes; the rest of the state stays where it is.
Work KvWriteOp::getWork() {
  Work work = detail::defaultWork(*this);
  work.flops = 0;
  work.operandBytes[3] = 0;
  KvCache cache(getState().getType());
  work.resultBytes[0] = detail::saturatingProduct(
      {getValues().getType().getDimSize(0), cache.heads, cache.headBytes()});
  return work;
}

/// Of a written row: the element of `values` with the same head and place in the head; the whole
/// head where its elements share a scale.
Footprint KvWriteOp::getFootprint(unsigned operand) {
  if (operand == 1 || operand == 2 || operand == 4)
    return Footprint::grid();
  return KvCache(getState().getType()).isQuantized() ? Footprint::row() : Footprint::element();
}

void KvWriteOp::getEffects(
    llvm::SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>& effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getStateMutable());
}

void KvWriteOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  std::vector<double> sequences = operands[1].toVector(), positions = operands[2].toVector();
  results[0] = operands[3]; // in place
  KvCache cache(getState().getType(), getBlockTable());
  std::vector<double> blockTable = getBlockTable() ? operands[4].toVector() : std::vector<double>();
  const Encoding* encoding = getEncoding(cache.elementType);
  std::vector<double> scratch;
  std::vector<std::byte> encoded(cache.headBytes());
  for (size_t m = 0; m < positions.size(); ++m) {
    int64_t sequence = sequences[sequences.size() == 1 ? 0 : m], position = positions[m];
    if (!cache.holds(sequence, position) ||
        !cache.hasPage(sequence, cache.place(position), blockTable))
      continue;
    for (int64_t h = 0; h < cache.heads; ++h) {
      llvm::ArrayRef<double> values = operands[0].getRow(m * cache.heads + h, scratch);
      int64_t row = cache.headRow(sequence, cache.place(position), h, blockTable);
      llvm::MutableArrayRef<double> target =
          results[0].getValues().slice(row * cache.size, cache.size);
      llvm::copy(values, target.begin());
      if (!cache.isQuantized())
        continue;
      encoding->encode(std::span(values.data(), values.size()), encoded);
      encoding->decode(encoded, std::span(target.data(), target.size()));
    }
  }
}

} // namespace tenon
