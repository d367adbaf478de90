#include "passes/simplify/raise/Match.h"
#include "passes/simplify/raise/Raise.h"

using namespace mlir;

namespace tenon::passes::raise {

namespace {

/// x · 1 / √(variance + epsilon), however it is written.
struct Normalized {
  Value x, variance;
  double epsilon;
};

std::optional<Normalized> withDeviation(Value x, Value deviation) {
  std::optional<Sum> sum = sumOf(deviation);
  if (!sum || sum->constant <= 0)
    return std::nullopt;
  return Normalized{x, sum->value, sum->constant};
}

std::optional<Normalized> normalizedBy(Operation* op) {
  if (auto mul = llvm::dyn_cast<MulOp>(op))
    for (auto [x, factor] :
         {std::pair(mul.getLhs(), mul.getRhs()), std::pair(mul.getRhs(), mul.getLhs())})
      if (auto rsqrt = factor.getDefiningOp<RsqrtOp>())
        return withDeviation(x, rsqrt.getInput());
  if (auto div = llvm::dyn_cast<DivOp>(op))
    if (auto root = div.getRhs().getDefiningOp<SqrtOp>())
      return withDeviation(div.getLhs(), root.getInput());
  return std::nullopt;
}

/// x where `centred` is x − mean(x), and where `variance` is the mean of its square or
/// mean(x²) − mean(x)²; null elsewhere.
Value centredOf(Value centred, Value variance) {
  auto sub = centred.getDefiningOp<SubOp>();
  if (!sub || meanOf(sub.getRhs()) != sub.getLhs())
    return {};
  Value x = sub.getLhs();
  if (Value squares = meanOf(variance))
    if (Value root = squareOf(squares); root && isSame(root, centred))
      return x;
  auto difference = variance.getDefiningOp<SubOp>();
  if (!difference)
    return {};
  Value squares = meanOf(difference.getLhs()), mean = squareOf(difference.getRhs());
  return squares && squareOf(squares) == x && mean && meanOf(mean) == x ? x : Value();
}

/// Whether `value` has one element for each of the innermost axis of `input`.
bool isOfColumns(Value value, Value input) {
  auto type = llvm::cast<RankedTensorType>(value.getType());
  return type.getRank() == 1 && llvm::isa<FloatType>(type.getElementType()) &&
         type.getDimSize(0) == llvm::cast<RankedTensorType>(input.getType()).getShape().back();
}

template <typename Op> class RaiseNorm : public OpRewritePattern<Op> {
public:
  RaiseNorm(MLIRContext* context, bool isCentred)
      : OpRewritePattern<Op>(context, /*benefit=*/isCentred ? 2 : 1), isCentred(isCentred) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter& rewriter) const override {
    std::optional<Normalized> found = normalizedBy(op);
    if (!found)
      return rewriter.notifyMatchFailure(op, "expects a value over a root of a sum with epsilon");
    FloatAttr epsilon = rewriter.getF64FloatAttr(found->epsilon);
    if (isCentred) {
      Value x = centredOf(found->x, found->variance);
      if (!x || x.getType() != op.getType())
        return rewriter.notifyMatchFailure(op, "expects x − mean(x) over its deviation");
      rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), x, Value(), Value(), epsilon,
                                               OrderAttr());
      return success();
    }
    Value squares = meanOf(found->variance);
    Value x = squares ? squareOf(squares) : Value();
    if (!x || !isSame(x, found->x) || x.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expects x over the root of the mean of x²");
    rewriter.replaceOpWithNewOp<RmsNormOp>(op, op.getType(), found->x, Value(), epsilon,
                                           OrderAttr());
    return success();
  }

private:
  bool isCentred; ///< a layer norm, or else an RMS norm
};

/// norm(x) · w = norm(x, w), whichever side.
template <typename Norm> class RaiseWeight : public OpRewritePattern<MulOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MulOp op, PatternRewriter& rewriter) const override {
    for (auto [input, weight] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto norm = input.template getDefiningOp<Norm>();
      if (!norm || norm.getWeight() || !norm->hasOneUse() || norm.getType() != op.getType() ||
          !isOfColumns(weight, input) || hasBias(norm))
        continue;
      auto weighted = llvm::cast<Norm>(rewriter.clone(*norm));
      weighted.getWeightMutable().assign(weight);
      rewriter.replaceOp(op, weighted);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expects a norm without a weight, times one");
  }

private:
  static bool hasBias(RmsNormOp) { return false; }
  static bool hasBias(LayerNormOp op) { return static_cast<bool>(op.getBias()); }
};

/// layer_norm(x, w) + b = layer_norm(x, w, b), whichever side.
class RaiseBias : public OpRewritePattern<AddOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter& rewriter) const override {
    for (auto [input, bias] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      auto norm = input.getDefiningOp<LayerNormOp>();
      if (!norm || norm.getBias() || !norm->hasOneUse() || norm.getType() != op.getType() ||
          !isOfColumns(bias, input))
        continue;
      auto biased = llvm::cast<LayerNormOp>(rewriter.clone(*norm));
      biased.getBiasMutable().assign(bias);
      rewriter.replaceOp(op, biased);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "expects a layer norm without a bias, plus one");
  }
};

} // namespace

void addRmsNorm(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseNorm<MulOp>, RaiseNorm<DivOp>>({label}, patterns.getContext(),
                                                            /*isCentred=*/false);
  patterns.add<RaiseWeight<RmsNormOp>>(patterns.getContext());
}

void addLayerNorm(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseNorm<MulOp>, RaiseNorm<DivOp>>({label}, patterns.getContext(),
                                                            /*isCentred=*/true);
  patterns.add<RaiseWeight<LayerNormOp>, RaiseBias>(patterns.getContext());
}

} // namespace tenon::passes::raise
