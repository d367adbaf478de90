#include "passes/simplify/raise/Match.h"

#include <cmath>

using namespace mlir;

namespace tenon::passes::raise {

std::optional<double> splatOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto elements = llvm::dyn_cast<DenseFPElementsAttr>(constant.getValue());
  if (!elements || !elements.isSplat())
    return std::nullopt;
  return elements.getSplatValue<APFloat>().convertToDouble();
}

static void addFactors(Value value, Product& product, bool isRoot) {
  auto addBoth = [&](Value lhs, Value rhs) {
    addFactors(lhs, product, /*isRoot=*/false);
    addFactors(rhs, product, /*isRoot=*/false);
  };
  if (std::optional<double> number = splatOf(value)) {
    product.factor *= *number;
    return;
  }
  Operation* op = value.getDefiningOp();
  if (op && (isRoot || value.hasOneUse())) {
    if (auto mul = llvm::dyn_cast<MulOp>(op); mul && mul.getLhs() != mul.getRhs())
      return addBoth(mul.getLhs(), mul.getRhs());
    if (auto scale = llvm::dyn_cast<ScaleOp>(op)) {
      product.factor *= scale.getFactor().convertToDouble();
      return addFactors(scale.getInput(), product, /*isRoot=*/false);
    }
    if (auto neg = llvm::dyn_cast<NegOp>(op)) {
      product.factor = -product.factor;
      return addFactors(neg.getInput(), product, /*isRoot=*/false);
    }
    auto div = llvm::dyn_cast<DivOp>(op);
    if (std::optional<double> divisor = div ? splatOf(div.getRhs()) : std::nullopt) {
      product.factor /= *divisor;
      return addFactors(div.getLhs(), product, /*isRoot=*/false);
    }
  }
  product.values.push_back(value);
}

Product productOf(Value value) {
  Product product;
  addFactors(value, product, /*isRoot=*/true);
  return product;
}

std::optional<Sum> sumOf(Value value) {
  if (auto add = value.getDefiningOp<AddOp>()) {
    if (std::optional<double> number = splatOf(add.getRhs()))
      return Sum{add.getLhs(), *number};
    if (std::optional<double> number = splatOf(add.getLhs()))
      return Sum{add.getRhs(), *number};
  }
  if (auto sub = value.getDefiningOp<SubOp>())
    if (std::optional<double> number = splatOf(sub.getRhs()))
      return Sum{sub.getLhs(), -*number};
  return std::nullopt;
}

Value meanOf(Value value) {
  auto reduce = value.getDefiningOp<ReduceOp>();
  if (reduce && reduce.getKind() == ReduceKind::Mean)
    return reduce.getInput();
  Product product = productOf(value);
  if (product.values.size() != 1)
    return {};
  reduce = product.values.front().getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getKind() != ReduceKind::Sum)
    return {};
  auto elements = static_cast<double>(reduce.getInput().getType().getShape().back());
  return isNear(product.factor * elements, 1) ? reduce.getInput() : Value();
}

Value squareOf(Value value) {
  if (auto square = value.getDefiningOp<SquareOp>())
    return square.getInput();
  if (auto mul = value.getDefiningOp<MulOp>(); mul && isSame(mul.getLhs(), mul.getRhs()))
    return mul.getLhs();
  return {};
}

bool isSame(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  Operation *one = lhs.getDefiningOp(), *other = rhs.getDefiningOp();
  return one && other && isMemoryEffectFree(one) && isMemoryEffectFree(other) &&
         llvm::cast<OpResult>(lhs).getResultNumber() ==
             llvm::cast<OpResult>(rhs).getResultNumber() &&
         OperationEquivalence::isEquivalentTo(one, other, OperationEquivalence::IgnoreLocations);
}

bool isNear(double value, double expected) {
  constexpr double relative = 1e-5;
  return std::abs(value - expected) <= relative * std::abs(expected);
}

} // namespace tenon::passes::raise
