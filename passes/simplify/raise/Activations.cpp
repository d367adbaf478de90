#include <numbers>

#include "passes/simplify/raise/Match.h"
#include "passes/simplify/raise/Raise.h"

using namespace mlir;

namespace tenon::passes::raise {

namespace {

/// x where `value` is 1 + e⁻ˣ; null elsewhere.
Value logisticOf(Value value) {
  std::optional<Sum> sum = sumOf(value);
  auto exponential = sum && sum->constant == 1 ? sum->value.getDefiningOp<ExpOp>() : ExpOp();
  if (!exponential)
    return {};
  Product product = productOf(exponential.getInput());
  return product.factor == -1 && product.values.size() == 1 ? product.values.front() : Value();
}

/// x / (1 + e⁻ˣ) = silu(x), 1 / (1 + e⁻ˣ) = sigmoid(x).
class RaiseLogistic : public OpRewritePattern<DivOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(DivOp op, PatternRewriter& rewriter) const override {
    Value x = logisticOf(op.getRhs());
    if (!x || x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expects a division by 1 + exp(−x)");
    if (isSame(op.getLhs(), x)) {
      rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
      return success();
    }
    if (splatOf(op.getLhs()) != 1.0)
      return rewriter.notifyMatchFailure(op, "expects x or 1 over 1 + exp(−x)");
    rewriter.replaceOpWithNewOp<SigmoidOp>(op, op.getType(), x);
    return success();
  }
};

/// x · sigmoid(x) = silu(x), whichever side.
class RaiseSilu : public OpRewritePattern<MulOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter& rewriter) const override {
    for (auto [x, gate] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto sigmoid = gate.getDefiningOp<SigmoidOp>();
      if (!sigmoid || sigmoid.getInput() != x || x.getType() != op.getType() ||
          gate.getType() != op.getType())
        continue;
      rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expects x times its sigmoid");
  }
};

/// max(x, 0) = relu(x), whichever side.
class RaiseRelu : public OpRewritePattern<MaxOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MaxOp op, PatternRewriter& rewriter) const override {
    for (auto [x, zero] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      if (splatOf(zero) != 0.0 || x.getType() != op.getType())
        continue;
      rewriter.replaceOpWithNewOp<ReluOp>(op, op.getType(), x);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expects the larger of a value and 0");
  }
};

/// Whether `value` is x / √2.
bool isOverRootTwo(Value value, Value x) {
  Product product = productOf(value);
  return product.values.size() == 1 && isSame(product.values.front(), x) &&
         isNear(product.factor, std::numbers::sqrt2 / 2);
}

/// Whether `value` is x³ times `factor`.
bool isCube(Value value, Value x, double factor) {
  Product product = productOf(value);
  size_t power = 0;
  for (Value part : product.values) {
    Value root = squareOf(part);
    if (root && isSame(root, x))
      power += 2;
    else if (isSame(part, x))
      power += 1;
    else
      return false;
  }
  return power == 3 && isNear(product.factor, factor);
}

/// Whether `value` is √(2/π) · (x + 0.044715 x³), with x taken out of the sum or not.
bool isInnerOfTanh(Value value, Value x) {
  constexpr double cubic = 0.044715;
  constexpr double outer = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  Product product = productOf(value);
  if (!isNear(product.factor, outer))
    return false;
  if (product.values.size() == 1) {
    auto add = product.values.front().getDefiningOp<AddOp>();
    return add && ((isSame(add.getLhs(), x) && isCube(add.getRhs(), x, cubic)) ||
                   (isSame(add.getRhs(), x) && isCube(add.getLhs(), x, cubic)));
  }
  if (product.values.size() != 2)
    return false;
  Value rest;
  if (isSame(product.values[0], x))
    rest = product.values[1];
  else if (isSame(product.values[1], x))
    rest = product.values[0];
  std::optional<Sum> sum = rest ? sumOf(rest) : std::nullopt;
  if (!sum || sum->constant != 1)
    return false;
  Product square = productOf(sum->value);
  if (!isNear(square.factor, cubic))
    return false;
  if (square.values.size() == 1) {
    Value root = squareOf(square.values.front());
    return root && isSame(root, x);
  }
  return square.values.size() == 2 && isSame(square.values[0], x) && isSame(square.values[1], x);
}

/// ½ x (1 + erf(x / √2)) = gelu(x) and ½ x (1 + tanh(√(2/π) (x + 0.044715 x³))) = gelu_tanh(x), in
/// any order of the factors (Hendrycks and Gimpel 2016, arXiv 1606.08415).
template <typename Root> class RaiseGelu : public OpRewritePattern<Root> {
public:
  using OpRewritePattern<Root>::OpRewritePattern;

  LogicalResult matchAndRewrite(Root op, PatternRewriter& rewriter) const override {
    Product product = productOf(op);
    if (product.values.size() != 2 || product.factor != 0.5)
      return rewriter.notifyMatchFailure(op, "expects half the product of two values");
    for (int gate : {0, 1}) {
      Value x = product.values[1 - gate];
      std::optional<Sum> sum = sumOf(product.values[gate]);
      if (!sum || sum->constant != 1 || x.getType() != op.getType())
        continue;
      if (auto erf = sum->value.getDefiningOp<ErfOp>(); erf && isOverRootTwo(erf.getInput(), x)) {
        rewriter.replaceOpWithNewOp<GeluOp>(op, op.getType(), x);
        return success();
      }
      if (auto tanh = sum->value.getDefiningOp<TanhOp>();
          tanh && isInnerOfTanh(tanh.getInput(), x)) {
        rewriter.replaceOpWithNewOp<GeluTanhOp>(op, op.getType(), x);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "expects 1 + erf or 1 + tanh of x, times x");
  }
};

/// activation(gate) · up = glu, where no shape broadcasts.
class RaiseGlu : public OpRewritePattern<MulOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter& rewriter) const override {
    Operation* gate = op.getLhs().getDefiningOp();
    Value up = op.getRhs();
    std::optional<Activation> activation = gate ? activationOf(gate) : std::nullopt;
    if (!activation) {
      gate = op.getRhs().getDefiningOp(), up = op.getLhs();
      activation = gate ? activationOf(gate) : std::nullopt;
    }
    if (!activation || !gate->hasOneUse() || up.getType() != op.getType() ||
        gate->getResult(0).getType() != op.getType() ||
        gate->getOperand(0).getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expects an activation that is read once, times a "
                                             "value of its shape");
    rewriter.replaceOpWithNewOp<GluOp>(op, op.getType(), *activation, gate->getOperand(0), up);
    return success();
  }

private:
  static std::optional<Activation> activationOf(Operation* op) {
    if (llvm::isa<SiluOp>(op))
      return Activation::Silu;
    if (llvm::isa<GeluOp>(op))
      return Activation::Gelu;
    if (llvm::isa<GeluTanhOp>(op))
      return Activation::GeluTanh;
    if (llvm::isa<ReluOp>(op))
      return Activation::Relu;
    return std::nullopt;
  }
};

} // namespace

void addActivations(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseLogistic, RaiseSilu, RaiseRelu>({label}, patterns.getContext());
}
void addGelu(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseGelu<MulOp>, RaiseGelu<ScaleOp>>({label}, patterns.getContext(),
                                                              /*benefit=*/2);
}
void addGlu(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseGlu>({label}, patterns.getContext());
}

} // namespace tenon::passes::raise
