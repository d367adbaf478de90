#include "ir/Dialect.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/simplify/raise/Raise.h"

using namespace mlir;

namespace tenon::passes::raise {

namespace {

/// What a weight becomes where a transpose of it is read.
struct WeightLayout {
  RankedTensorType type;
  bool isTransposed;
};

/// The layout whose value has the elements of `transpose`, a transpose of `weight`, in their order;
/// nullopt where none has. The permutation has to exchange two groups of neighbouring axes, which
/// become the rows and columns of the matrices, after axes that stay.
std::optional<WeightLayout> layoutFor(WeightOp weight, TransposeOp transpose) {
  llvm::ArrayRef<int64_t> permutation = transpose.getPermutation();
  llvm::ArrayRef<int64_t> shape = transpose.getInput().getType().getShape();
  auto rank = static_cast<int64_t>(permutation.size());
  int64_t kept = 0;
  while (kept < rank && permutation[kept] == kept)
    ++kept;
  if (kept == rank) // folds
    return std::nullopt;
  int64_t columns = permutation[kept] - kept; // axes of them
  for (int64_t axis = kept; axis < rank; ++axis)
    if (permutation[axis] != kept + (axis - kept + columns) % (rank - kept))
      return std::nullopt;
  // The files hold one exchanged pair of axes alone, which a second exchange undoes.
  if (weight.getTransposed() && rank != kept + 2)
    return std::nullopt;
  llvm::SmallVector<int64_t> matrices(shape.take_front(kept));
  matrices.push_back(computeProduct(shape.drop_front(kept + columns)));
  matrices.push_back(computeProduct(shape.slice(kept, columns)));
  return WeightLayout{RankedTensorType::get(matrices, transpose.getType().getElementType()),
                      !weight.getTransposed()};
}

/// Whether products alone read `value`, as their weight, under any shape.
bool isReadByProducts(Value value) {
  return llvm::all_of(value.getUses(), [&](OpOperand& use) {
    Operation* user = use.getOwner();
    if (auto reshape = llvm::dyn_cast<ReshapeOp>(user))
      return isReadByProducts(reshape);
    return llvm::isa<MatmulOp, ExpertMatmulOp>(user) && use.getOperandNumber() == 1;
  });
}

/// The transposes by `permutation` that everything is that reads `weight`, in all functions, each
/// read by products alone; nullopt where something else reads it.
std::optional<llvm::SmallVector<TransposeOp>> transposesOf(WeightOp weight,
                                                           llvm::ArrayRef<int64_t> permutation) {
  std::optional<SymbolTable::UseRange> uses =
      SymbolTable::getSymbolUses(weight, weight->getParentOp());
  if (!uses)
    return std::nullopt;
  llvm::SmallVector<TransposeOp> transposes;
  for (const SymbolTable::SymbolUse& use : *uses) {
    auto value = llvm::dyn_cast<GetWeightOp>(use.getUser());
    if (!value)
      return std::nullopt;
    for (Operation* user : value->getUsers()) {
      auto transpose = llvm::dyn_cast<TransposeOp>(user);
      if (!transpose || transpose.getPermutation() != permutation || !isReadByProducts(transpose))
        return std::nullopt;
      transposes.push_back(transpose);
    }
  }
  return transposes;
}

/// A transposed weight, of which products alone read the transpose: the weight is laid out so once,
/// when it is loaded.
class RaiseTransposedWeight : public OpRewritePattern<TransposeOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter& rewriter) const override {
    auto value = op.getInput().getDefiningOp<GetWeightOp>();
    auto weight = value
                      ? SymbolTable::lookupNearestSymbolFrom<WeightOp>(value, value.getWeightAttr())
                      : WeightOp();
    std::optional<WeightLayout> layout = weight ? layoutFor(weight, op) : std::nullopt;
    if (!layout)
      return rewriter.notifyMatchFailure(op, "expects two groups of a weight's axes exchanged");
    std::optional<llvm::SmallVector<TransposeOp>> transposes =
        transposesOf(weight, op.getPermutation());
    if (!transposes)
      return rewriter.notifyMatchFailure(op,
                                         "expects a weight whose transpose products alone read");
    rewriter.modifyOpInPlace(weight, [&] {
      weight.setTypeAttr(TypeAttr::get(layout->type));
      weight.setTransposed(layout->isTransposed);
    });
    for (TransposeOp transpose : *transposes)
      replace(transpose, weight, rewriter);
    return success();
  }

private:
  static void replace(TransposeOp transpose, WeightOp weight, PatternRewriter& rewriter) {
    auto old = transpose.getInput().getDefiningOp<GetWeightOp>();
    rewriter.setInsertionPoint(transpose);
    Value value =
        GetWeightOp::create(rewriter, old.getLoc(), weight.getType(), weight.getSymName());
    if (value.getType() != transpose.getType())
      value = ReshapeOp::create(rewriter, transpose.getLoc(), transpose.getType(), value,
                                rewriter.getDenseI64ArrayAttr(transpose.getType().getShape()));
    rewriter.replaceOp(transpose, value);
    if (old->use_empty())
      rewriter.eraseOp(old);
  }
};

} // namespace

void addTransposedWeight(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseTransposedWeight>({label}, patterns.getContext());
}

} // namespace tenon::passes::raise
