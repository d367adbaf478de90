#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

double CastOp::evaluateElement(llvm::ArrayRef<double> x) { return x[0]; }

/// The caller widens and rounds.
Value CastOp::buildScalarBody(OpBuilder& builder, Location loc, ValueRange operands) {
  return operands[0];
}

/// True where every value of `from` is a value of `to`.
static bool isExact(FloatType from, FloatType to) { return from == to || to.isF32(); }

/// cast(x) to x's own type → x; cast(cast(x)) → cast(x) where the inner one is exact; a constant
/// is rounded.
OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  auto resultElement = llvm::cast<FloatType>(getType().getElementType());
  if (auto inner = getInput().getDefiningOp<CastOp>()) {
    RankedTensorType source = inner.getInput().getType();
    RankedTensorType middle = inner.getType();
    if (isExact(llvm::cast<FloatType>(source.getElementType()),
                llvm::cast<FloatType>(middle.getElementType()))) {
      getInputMutable().assign(inner.getInput());
      return getResult();
    }
  }
  auto constant = llvm::dyn_cast_or_null<DenseFPElementsAttr>(adaptor.getInput());
  if (!constant)
    return {};
  const llvm::fltSemantics& semantics = resultElement.getFloatSemantics();
  return constant.mapValues(resultElement, [&](const APFloat& value) {
    APFloat rounded = value;
    bool losesInfo;
    rounded.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
    return rounded.bitcastToAPInt();
  });
}

} // namespace tenon
