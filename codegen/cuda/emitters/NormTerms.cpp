#include "codegen/cuda/emitters/NormTerms.h"

#include "codegen/cuda/ScalarPrinter.h"

using namespace mlir;

namespace tenon::codegen::cuda {

std::optional<NormTerms> NormTerms::of(Operation* op) {
  NormTerms terms;
  terms.op = op;
  if (auto norm = llvm::dyn_cast_or_null<RmsNormOp>(op)) {
    terms.input = norm.getInput();
    terms.isLayerNorm = terms.hasBias = false;
    terms.hasWeight = bool(norm.getWeight());
    if (norm.getWeight())
      terms.operands.push_back(norm.getWeight());
    terms.epsilon = norm.getEpsilon().convertToDouble();
  } else if (auto norm = llvm::dyn_cast_or_null<LayerNormOp>(op)) {
    terms.input = norm.getInput();
    terms.isLayerNorm = true;
    terms.hasWeight = bool(norm.getWeight());
    terms.hasBias = bool(norm.getBias());
    for (Value operand : {norm.getWeight(), norm.getBias()})
      if (operand)
        terms.operands.push_back(operand);
    terms.epsilon = norm.getEpsilon().convertToDouble();
  } else {
    return std::nullopt;
  }
  terms.length = shapeOf(terms.input.getType()).back();
  return terms;
}

FailureOr<OrderAttr> NormTerms::order() const {
  return isLayerNorm ? orderOf(llvm::cast<LayerNormOp>(op)) : orderOf(llvm::cast<RmsNormOp>(op));
}

std::string NormTerms::meanStatement() const {
  return absl::StrFormat("const float mean = total / %d.0f;", length);
}

std::string NormTerms::centeredOf(const std::string& x) const {
  return isLayerNorm ? absl::StrFormat("(%s - mean)", x) : x;
}

std::string NormTerms::squareOf(const std::string& x) const {
  return squareOfCentered(centeredOf(x));
}

std::string NormTerms::factorStatement() const {
  return absl::StrFormat("const float factor = rsqrtf(squares * %s + %s);",
                         floatLiteral(1.0f / static_cast<float>(length)), floatLiteral(epsilon));
}

std::string NormTerms::resultOf(const std::string& x, llvm::ArrayRef<std::string> elements) const {
  return resultOfCentered(centeredOf(x), elements);
}

std::string NormTerms::resultOfCentered(const std::string& centered,
                                        llvm::ArrayRef<std::string> elements) const {
  std::string expression = centered + " * factor";
  if (hasWeight)
    expression += " * " + elements.front();
  if (hasBias)
    expression += " + " + elements.back();
  return expression;
}

} // namespace tenon::codegen::cuda
