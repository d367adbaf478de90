#include "ir/Dialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon {

LogicalResult WeightOp::verify() {
  std::optional<int64_t> expected = getStorageBytes(getType());
  if (!expected)
    return emitOpError("expects rows that are whole blocks and a size within 63 bits, but got ")
           << getType();
  auto tensor = llvm::cast<RankedTensorType>(getType());
  if (getTransposed() && (tensor.getRank() < 2 || !tensor.getElementType().isIntOrFloat()))
    return emitOpError("expects a transposed weight of at least two axes and plain elements, but "
                       "got ")
           << getType();
  int64_t found = 0;
  for (RangeAttr range : getRanges().getAsRange<RangeAttr>())
    if (llvm::AddOverflow(found, range.getBytes(), found))
      return emitOpError("expects ranges within 63 bits together, but got more");
  if (found != *expected)
    return emitOpError("expects ranges of ")
           << *expected << " bytes together for " << getType() << ", but got " << found;
  return success();
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection& symbols) {
  for (RangeAttr range : getRanges().getAsRange<RangeAttr>()) {
    auto file = symbols.lookupNearestSymbolFrom<FileOp>(*this, range.getFile());
    if (!file)
      return emitOpError("expects a tenon.file named ") << range.getFile();
    if (static_cast<uint64_t>(range.getOffset()) + range.getBytes() > file.getBytes())
      return (emitOpError("expects ranges inside the ")
              << file.getBytes() << " bytes of " << range.getFile() << ", but got " << range)
                 .attachNote(file.getLoc())
             << "the file is named here";
  }
  return success();
}

LogicalResult GetWeightOp::verifySymbolUses(SymbolTableCollection& symbols) {
  auto weight = symbols.lookupNearestSymbolFrom<WeightOp>(*this, getWeightAttr());
  if (!weight)
    return emitOpError("expects a tenon.weight named ") << getWeightAttr();
  if (weight.getType() != getType())
    return (emitOpError("expects the type of the weight, ")
            << weight.getType() << ", but got " << getType())
               .attachNote(weight.getLoc())
           << "the weight is here";
  return success();
}

void GetWeightOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getWeight());
}

} // namespace tenon
