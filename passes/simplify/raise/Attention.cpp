#include <array>
#include <numeric>

#include "passes/simplify/raise/Match.h"
#include "passes/simplify/raise/Raise.h"

using namespace mlir;

namespace tenon::passes::raise {

namespace {

RankedTensorType typeOf(Value value) { return llvm::cast<RankedTensorType>(value.getType()); }

Value throughReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// The input of a transpose with axes `permutation` to `shape`, of which `value` is another view;
/// null elsewhere. A dimension of 0 in `shape` may be any.
Value untransposed(Value value, llvm::ArrayRef<int64_t> permutation,
                   llvm::ArrayRef<int64_t> shape) {
  auto transpose = throughReshapes(value).getDefiningOp<TransposeOp>();
  if (!transpose || transpose.getPermutation() != permutation)
    return {};
  llvm::ArrayRef<int64_t> found = transpose.getType().getShape();
  bool fits = llvm::all_of(llvm::zip_equal(shape, found), [](auto pair) {
    auto [expected, size] = pair;
    return expected == 0 || expected == size;
  });
  return fits ? transpose.getInput() : Value();
}

/// The operands of an attention in its own layout, and what is done to its scores.
struct Found {
  Value query, key, value; ///< [B, M, Hq, D], [B, C, Hkv, D], [B, C, Hkv, Dv], under any shape
  int64_t batch = 1, rows, queryHeads, keys, heads, depth, valueDepth;
  double scale = 1;
  bool causal = false;
  llvm::SmallVector<Value, 2> biases; ///< that broadcast to [B, Hq, M, C]
  SoftmaxOp softmax;                  ///< [B, Hkv, M · G, C] of G query heads a key head, or [M, C]
  bool givesWeights = false;          ///< others than the product with the values read the softmax
};

/// Whether all that reads the softmax besides `product` comes after it, where attention will stand.
bool isReadAfter(SoftmaxOp softmax, MatmulOp product) {
  return llvm::all_of(softmax->getUsers(), [&](Operation* user) {
    return user == product ||
           (user->getBlock() == product->getBlock() && product->isBeforeInBlock(user));
  });
}

/// Whether `mask` is a constant [M, C], under leading ones, that is 0 where row m sees key c: those
/// up to m + C − M, and elsewhere so far below 0 that nothing is left of the key.
bool isCausalMask(Value mask, int64_t rows, int64_t keys) {
  constexpr double farBelow = -1e4;
  auto constant = throughReshapes(mask).getDefiningOp<ConstantOp>();
  auto elements =
      constant ? llvm::dyn_cast<DenseFPElementsAttr>(constant.getValue()) : DenseFPElementsAttr();
  llvm::ArrayRef<int64_t> shape = typeOf(mask).getShape();
  if (!elements || elements.isSplat() || keys < rows || shape.size() < 2 ||
      shape.take_back(2) != llvm::ArrayRef<int64_t>({rows, keys}) ||
      elements.getNumElements() != rows * keys)
    return false;
  int64_t index = 0;
  return llvm::all_of(elements.getValues<APFloat>(), [&](const APFloat& value) {
    int64_t row = index / keys, key = index % keys;
    ++index;
    return key <= row + keys - rows ? value.isZero() : value.convertToDouble() <= farBelow;
  });
}

/// Whether `value` is a product of matrices, times numbers.
bool isScaledProduct(Value value) {
  Product product = productOf(value);
  return product.values.size() == 1 && product.factor > 0 &&
         product.values.front().getDefiningOp<MatmulOp>();
}

/// The scaled product in a sum of at most `most` masks and one, to which it adds the masks; null
/// where there is none.
Value takeMasks(Value value, llvm::SmallVectorImpl<Value>& masks, int most) {
  if (isScaledProduct(value))
    return value;
  auto add = value.getDefiningOp<AddOp>();
  if (!add || most == 0)
    return {};
  for (auto [side, mask] : {std::pair{add.getLhs(), add.getRhs()}, {add.getRhs(), add.getLhs()}})
    if (Value product =
            side.getType() == value.getType() ? takeMasks(side, masks, most - 1) : Value()) {
      masks.push_back(mask);
      return product;
    }
  return {};
}

/// Whether `mask`, which broadcasts to scores [B, Hkv, M · G, C] of G query heads a key head, is
/// one that attention adds: of heads and rows, or of keys alone where heads share rows.
bool isBias(Value mask, const Found& found) {
  llvm::ArrayRef<int64_t> shape = typeOf(mask).getShape();
  if (shape.empty() || shape.back() != found.keys)
    return false;
  return found.queryHeads == found.heads || typeOf(mask).getNumElements() == found.keys;
}

/// Says of each mask whether it is causal or a bias; false where one is neither.
bool sortMasks(llvm::ArrayRef<Value> masks, Found& found) {
  for (Value mask : masks) {
    if (found.queryHeads == found.heads && isCausalMask(mask, found.rows, found.keys))
      found.causal = true;
    else if (isBias(mask, found))
      found.biases.push_back(mask);
    else
      return false;
  }
  return true;
}

/// Takes query, key and value, rows and query heads of an attention whose operands are of `rank`:
/// heads alone, or those of each sequence.
void takeOfHeads(Found& found, int64_t rank, Value q, Value k, Value v) {
  auto take = [&](Value operand, std::array<int64_t, 3> axes, std::array<int64_t, 3> extents) {
    llvm::SmallVector<int64_t, 4> permutation, shape;
    if (rank == 4)
      permutation.push_back(0), shape.push_back(found.batch);
    for (int64_t axis : axes)
      permutation.push_back(axis + rank - 3);
    shape.append(extents.begin(), extents.end());
    return untransposed(operand, permutation, shape);
  };
  // The heads of queries that share a head of keys stand in one row of it.
  found.query = take(q, {1, 0, 2}, {found.heads, 0, 0});
  found.key = take(k, {1, 0, 2}, {found.heads, found.keys, found.depth});
  found.value = take(v, {1, 2, 0}, {found.heads, found.valueDepth, found.keys});
  if (!found.query)
    return;
  llvm::ArrayRef<int64_t> view = typeOf(found.query).getShape().take_back(3);
  if (view[2] % found.depth != 0) {
    found.query = {};
    return;
  }
  found.rows = view[0], found.queryHeads = found.heads * (view[2] / found.depth);
}

/// softmax(scale · q · kᵀ + masks) · v, with q, k and v in the layout of attention: heads after
/// rows, so that no copy is needed.
std::optional<Found> findAttention(MatmulOp op) {
  auto softmax = op.getInput().getDefiningOp<SoftmaxOp>();
  if (!softmax || op.getWeight() == softmax.getResult() || !isReadAfter(softmax, op))
    return std::nullopt;
  Found found = {};
  found.softmax = softmax, found.givesWeights = !softmax->hasOneUse();
  constexpr int mostMasks = 3;
  llvm::SmallVector<Value> masks;
  Value scores = takeMasks(softmax.getInput(), masks, mostMasks);
  if (!scores || scores.getType() != op.getInput().getType())
    return std::nullopt;
  Product scaled = productOf(scores);
  auto products = scaled.values.front().getDefiningOp<MatmulOp>();
  if (products.getType() != typeOf(op.getInput()))
    return std::nullopt;
  Product query = productOf(products.getInput());
  if (query.values.size() != 1 || query.factor <= 0)
    return std::nullopt;
  found.scale = scaled.factor * query.factor;
  Value q = query.values.front(), k = products.getWeight(), v = op.getWeight();
  Type element = op.getType().getElementType();
  for (Value operand : {q, k, v})
    if (typeOf(operand).getElementType() != element)
      return std::nullopt;
  int64_t rank = products.getType().getRank();
  llvm::ArrayRef<int64_t> shape = products.getType().getShape();
  found.keys = shape.back(), found.depth = typeOf(k).getShape().back();
  found.valueDepth = op.getType().getShape().back();
  if (rank == 2) {
    found.heads = found.queryHeads = 1, found.rows = shape[0];
    found.query = q, found.key = k;
    found.value = untransposed(v, {1, 0}, {found.valueDepth, found.keys});
  } else if (rank == 3 || rank == 4) {
    found.heads = shape[rank - 3];
    found.batch = rank == 4 ? shape[0] : 1;
    takeOfHeads(found, rank, q, k, v);
  }
  if (!found.query || !found.key || !found.value ||
      found.rows * found.queryHeads != shape[rank - 2] * found.heads)
    return std::nullopt;
  // The weights of attention lie head by head, those of the softmax sequence by sequence.
  if (found.givesWeights && found.batch > 1)
    return std::nullopt;
  if (!sortMasks(masks, found))
    return std::nullopt;
  return found;
}

class RaiseAttention : public OpRewritePattern<MatmulOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter& rewriter) const override {
    std::optional<Found> found = findAttention(op);
    if (!found)
      return rewriter.notifyMatchFailure(op, "expects softmax(scale · q · kᵀ + masks) · v of heads "
                                             "that stand after rows");
    Location loc = op.getLoc();
    Type element = op.getType().getElementType();
    auto shaped = [&](Value value, llvm::ArrayRef<int64_t> shape) -> Value {
      auto type = RankedTensorType::get(shape, element);
      if (value.getType() == type)
        return value;
      return ReshapeOp::create(rewriter, loc, type, value, rewriter.getDenseI64ArrayAttr(shape));
    };
    int64_t batch = found->batch, rows = batch * found->rows;
    Value query = shaped(found->query, {rows, found->queryHeads, found->depth});
    Value key = shaped(found->key, {batch, found->keys, found->heads, found->depth});
    Value value = shaped(found->value, {batch, found->keys, found->heads, found->valueDepth});
    Value sequences = integers(rewriter, loc, 1, batch, 0);
    Value positions = integers(rewriter, loc, batch, found->rows, found->keys - found->rows);
    auto type = RankedTensorType::get({rows, found->queryHeads, found->valueDepth}, element);
    Type weights;
    if (found->givesWeights)
      weights = RankedTensorType::get({found->queryHeads, found->rows, found->keys},
                                      found->softmax.getType().getElementType());
    auto attention =
        AttentionOp::create(rewriter, loc, type, weights, query, key, value, sequences, positions,
                            biasOf(rewriter, loc, *found),
                            /*slopes=*/Value(), /*sinks=*/Value(), /*block_table=*/Value(),
                            rewriter.getF64FloatAttr(found->scale),
                            rewriter.getBoolAttr(found->causal), rewriter.getF64FloatAttr(0),
                            rewriter.getI64IntegerAttr(0), /*chunks=*/UnitAttr(), OrderAttr());
    if (found->givesWeights)
      rewriter.replaceAllUsesWith(found->softmax.getResult(),
                                  weightsOf(rewriter, attention, *found));
    Value result = attention.getResult();
    // Back to heads first: the transpose after it takes it away.
    if (found->heads > 1) {
      int64_t width = found->queryHeads / found->heads * found->valueDepth;
      bool areSequences = op.getType().getRank() == 4;
      llvm::SmallVector<int64_t, 4> ofRows = {batch, found->rows, found->heads, width},
                                    ofHeads = {batch, found->heads, found->rows, width};
      auto drop = [&](llvm::ArrayRef<int64_t> shape) {
        return shape.drop_front(areSequences ? 0 : 1);
      };
      llvm::SmallVector<int64_t, 4> axes = {1, 0, 2};
      if (areSequences)
        axes = {0, 2, 1, 3};
      result =
          TransposeOp::create(rewriter, loc, RankedTensorType::get(drop(ofHeads), element),
                              shaped(result, drop(ofRows)), rewriter.getDenseI64ArrayAttr(axes));
    }
    rewriter.replaceOp(op, shaped(result, op.getType().getShape()));
    return success();
  }

private:
  /// The weights of the attention as the softmax has them, with the heads that share keys in rows.
  static Value weightsOf(OpBuilder& builder, AttentionOp attention, const Found& found) {
    Location loc = attention.getLoc();
    Value weights = attention.getWeights();
    Type element = attention.getWeights().getType().getElementType();
    auto reshape = [&](llvm::ArrayRef<int64_t> shape) {
      auto type = RankedTensorType::get(shape, element);
      if (weights.getType() != type)
        weights =
            ReshapeOp::create(builder, loc, type, weights, builder.getDenseI64ArrayAttr(shape));
    };
    if (int64_t sharing = found.queryHeads / found.heads; sharing > 1) {
      reshape({found.heads, sharing, found.rows, found.keys});
      weights = TransposeOp::create(
          builder, loc,
          RankedTensorType::get({found.heads, found.rows, sharing, found.keys}, element), weights,
          builder.getDenseI64ArrayAttr({0, 2, 1, 3}));
    }
    reshape(typeOf(found.softmax->getResult(0)).getShape());
    return weights;
  }
  /// The sum of the masks as a bias of attention, of sequences where there are several; null where
  /// there is none.
  static Value biasOf(OpBuilder& builder, Location loc, const Found& found) {
    Value sum;
    for (Value mask : found.biases) {
      llvm::SmallVector<int64_t, 4> shape(typeOf(mask).getShape());
      shape.insert(shape.begin(), 4 - shape.size(), 1);
      if (found.batch == 1)
        shape.erase(shape.begin());
      auto type = RankedTensorType::get(shape, typeOf(mask).getElementType());
      if (mask.getType() != type)
        mask = ReshapeOp::create(builder, loc, type, mask, builder.getDenseI64ArrayAttr(shape));
      if (!sum) {
        sum = mask;
        continue;
      }
      for (auto [extent, other] : llvm::zip_equal(shape, typeOf(sum).getShape()))
        extent = std::max(extent, other);
      // Masks of one type as the scores had them, so that no more is stored than there was.
      Type one = typeOf(sum).getElementType(), other = typeOf(mask).getElementType();
      auto sumType = RankedTensorType::get(shape, one == other ? one : builder.getF32Type());
      sum = AddOp::create(builder, loc, sumType, sum, mask);
    }
    return sum;
  }
  /// `times` times `count` integers from max(`first`, 0) on: where a row stands that sees all keys
  /// before it.
  static Value integers(OpBuilder& builder, Location loc, int64_t times, int64_t count,
                        int64_t first) {
    std::vector<int32_t> values(times * count);
    for (int64_t i = 0; i < times; ++i)
      std::iota(values.begin() + i * count, values.begin() + (i + 1) * count,
                static_cast<int32_t>(std::max<int64_t>(first, 0)));
    auto type = RankedTensorType::get({times * count}, builder.getI32Type());
    return ConstantOp::create(builder, loc, type,
                              DenseElementsAttr::get(type, llvm::ArrayRef(values)));
  }
};

} // namespace

void addAttention(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseAttention>({label}, patterns.getContext());
}

} // namespace tenon::passes::raise
