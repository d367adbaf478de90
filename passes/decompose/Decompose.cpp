#include <array>
#include <map>
#include <numeric>

#include "ir/AttentionRows.h"
#include "ir/Dialect.h"
#include "ir/KvCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"

namespace {

/// The keys and values of one sequence as tensors: [C, Hkv, D] and [C, Hkv, Dv].
struct SequenceTensors {
  Value key, value;
};

/// Takes operations of one function apart.
class Decomposer {
public:
  explicit Decomposer(func::FuncOp function) : function(function), builder(function.getContext()) {}

  void run();

private:
  void decompose(GluOp op);
  void decompose(AttentionOp op);
  std::optional<SequenceTensors> findTensors(AttentionOp op) const;
  Value findWritten(Value cache, AttentionOp op) const;

  Value iota(int64_t count, llvm::ArrayRef<int64_t> shape);
  Value causalMask(int64_t rows, int64_t keys, int64_t window);
  Value biasOf(AttentionOp op, int64_t heads, int64_t groups, int64_t keys);
  Value slopesOf(AttentionOp op, int64_t heads, int64_t groups, int64_t keys);
  Value weightsOf(AttentionOp op, Value softmax, int64_t heads, int64_t groups);
  Value maskBelowZero(Value difference);
  Value reshape(Value value, llvm::ArrayRef<int64_t> shape);
  Value transpose(Value value, llvm::ArrayRef<int64_t> permutation);
  Value broadcast(Value lhs, Value rhs);

  func::FuncOp function;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();        ///< of the operation that is taken apart
  std::map<std::array<int64_t, 3>, Value> masks; ///< by rows, keys and window
};

llvm::ArrayRef<int64_t> shapeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getShape();
}

Type elementOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getElementType();
}

} // namespace

Value Decomposer::reshape(Value value, llvm::ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, elementOf(value));
  return ReshapeOp::create(builder, loc, type, value, builder.getDenseI64ArrayAttr(shape));
}

Value Decomposer::transpose(Value value, llvm::ArrayRef<int64_t> permutation) {
  llvm::SmallVector<int64_t> shape;
  for (int64_t axis : permutation)
    shape.push_back(shapeOf(value)[axis]);
  auto type = RankedTensorType::get(shape, elementOf(value));
  return TransposeOp::create(builder, loc, type, value, builder.getDenseI64ArrayAttr(permutation));
}

/// 0, 1, …, count − 1 in f32.
Value Decomposer::iota(int64_t count, llvm::ArrayRef<int64_t> shape) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0F);
  auto type = RankedTensorType::get(shape, builder.getF32Type());
  return ConstantOp::create(builder, loc, type,
                            DenseElementsAttr::get(type, llvm::ArrayRef(values)));
}

/// 0 where `difference` is not negative, elsewhere so far below that its exponential is 0.
Value Decomposer::maskBelowZero(Value difference) {
  constexpr double farBelow = 1e30; // times at least 1: finite in f32, −∞ in f16
  auto type = llvm::cast<RankedTensorType>(difference.getType());
  auto scalar = RankedTensorType::get({1, 1}, builder.getF32Type());
  Value zero = ConstantOp::create(builder, loc, scalar, DenseElementsAttr::get(scalar, 0.0F));
  Value below = MinOp::create(builder, loc, type, difference, zero);
  return ScaleOp::create(builder, loc, type, below, builder.getF64FloatAttr(farBelow));
}

/// [rows, keys] in f32, of a prompt from position 0 on: made once for all layers.
Value Decomposer::causalMask(int64_t rows, int64_t keys, int64_t window) {
  Value& mask = masks[{rows, keys, window}];
  if (mask)
    return mask;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&function.getBody().front());
  auto type = RankedTensorType::get({rows, keys}, builder.getF32Type());
  Value distance = SubOp::create(builder, loc, type, iota(rows, {rows, 1}), iota(keys, {1, keys}));
  mask = maskBelowZero(distance);
  if (window == 0)
    return mask;
  auto scalar = RankedTensorType::get({1, 1}, builder.getF32Type());
  Value last = ConstantOp::create(builder, loc, scalar,
                                  DenseElementsAttr::get(scalar, static_cast<float>(window - 1)));
  Value within = maskBelowZero(SubOp::create(builder, loc, type, last, distance));
  return mask = AddOp::create(builder, loc, type, mask, within);
}

/// The bias as [Hkv, M, G, C], where it does not broadcast along an axis, of the first `keys` keys.
Value Decomposer::biasOf(AttentionOp op, int64_t heads, int64_t groups, int64_t keys) {
  Value bias = op.getBias();
  llvm::SmallVector<int64_t, 4> shape(shapeOf(bias));
  if (shape.size() == 4) { // of the only sequence
    shape.erase(shape.begin());
    bias = reshape(bias, shape);
  }
  // [Hq or 1, M or 1, capacity]
  if (shape[2] != keys) {
    shape[2] = keys;
    auto ones = builder.getDenseI64ArrayAttr({1, 1, 1}),
         zeros = builder.getDenseI64ArrayAttr({0, 0, 0});
    bias = SliceOp::create(builder, loc, RankedTensorType::get(shape, elementOf(bias)), bias, zeros,
                           builder.getDenseI64ArrayAttr(shape), ones);
  }
  bool ofHeads = shape[0] != 1;
  bias = reshape(bias, {ofHeads ? heads : 1, ofHeads ? groups : 1, shape[1], keys});
  return transpose(bias, {0, 2, 1, 3});
}

/// slope · c as [Hkv, 1, G, C], which of rows that see keys up to their own is the bias −slope ·
/// distance but for the same number in all scores of a row.
Value Decomposer::slopesOf(AttentionOp op, int64_t heads, int64_t groups, int64_t keys) {
  Value slopes = reshape(op.getSlopes(), {heads, 1, groups, 1});
  auto type = RankedTensorType::get({heads, 1, groups, keys}, builder.getF32Type());
  return MulOp::create(builder, loc, type, slopes, iota(keys, {1, 1, 1, keys}));
}

/// What a call writes to `cache` at the rows and positions of the attention, [M, H, D]: all that
/// the cache holds of a prompt that starts there. Null where there is no such write.
Value Decomposer::findWritten(Value cache, AttentionOp op) const {
  auto write = cache.getDefiningOp<KvWriteOp>();
  if (!write || write.getSequences() != op.getSequences() ||
      write.getPositions() != op.getPositions())
    return {};
  return write.getValues();
}

std::optional<SequenceTensors> Decomposer::findTensors(AttentionOp op) const {
  // A sink is no row of the values, and distances are those of positions of the run time.
  if (op.getSinks() || (op.getSlopes() && !op.getCausal()))
    return std::nullopt;
  bool oneSequence = AttentionRows(op).sequences == 1;
  if (!oneSequence && AttentionRows(op).rows > 1)
    return std::nullopt;
  auto entry = function->getAttrOfType<EntryAttr>(TenonDialect::entryAttrName);
  if (llvm::isa<StateType>(op.getKey().getType())) {
    // What is read is what was encoded, a ring's queries come in three views, and pages lie apart.
    KvCache key(op.getKey().getType()), value(op.getValue().getType());
    if (key.isRing() || key.isPaged() || key.isQuantized() || value.isQuantized())
      return std::nullopt;
    bool isPrompt = entry && entry.getRole() == Role::Prefill && op.getCausal();
    SequenceTensors written = {findWritten(op.getKey(), op), findWritten(op.getValue(), op)};
    if (oneSequence && isPrompt && written.key && written.value)
      return written;
    return std::nullopt;
  }
  // Rows of a graph may stand at any positions, which are known at run time alone.
  if (op.getCausal() || shapeOf(op.getKey())[0] != 1)
    return std::nullopt;
  return SequenceTensors{op.getKey(), op.getValue()};
}

/// The softmax [Hkv, M · G, C] as the weights of `op`, [Hq, M, C] of their type.
Value Decomposer::weightsOf(AttentionOp op, Value softmax, int64_t heads, int64_t groups) {
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getWeights());
  if (groups > 1)
    softmax = transpose(reshape(softmax, {heads, shape[1], groups, shape[2]}), {0, 2, 1, 3});
  softmax = reshape(softmax, shape);
  if (softmax.getType() == op.getWeights().getType())
    return softmax;
  return CastOp::create(builder, loc, op.getWeights().getType(), softmax);
}

/// Per head h of keys, with its G query heads as G rows of a query row:
///
///   scores = scale · q[h] · k[h]ᵀ       [Hkv, M · G, C], stored
///   scores = softcap · tanh(scores / softcap)
///   scores = scores + bias + slopes · keys + mask
///   result = softmax(scores) · v[h]
void Decomposer::decompose(AttentionOp op) {
  std::optional<SequenceTensors> tensors = findTensors(op);
  if (!tensors)
    return;
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery()), value = shapeOf(tensors->value);
  int64_t rows = query[0], depth = query[2], valueDepth = value.back();
  int64_t heads = value[value.size() - 2], groups = query[1] / heads;
  int64_t keys = shapeOf(tensors->key)[value.size() - 3];
  // Of a prompt in a cache the keys that it writes are fewer than those that weights are of.
  if (op.getWeights() && shapeOf(op.getWeights())[2] != keys)
    return;
  Type element = elementOf(op.getQuery());
  auto scored = [&](Value input) { return llvm::cast<RankedTensorType>(input.getType()); };

  // [M, Hq, D] → [Hkv, M · G, D], and keys and values head by head.
  Value q = transpose(reshape(op.getQuery(), {rows, heads, groups * depth}), {1, 0, 2});
  q = reshape(q, {heads, rows * groups, depth});
  Value k = transpose(reshape(tensors->key, {keys, heads, depth}), {1, 0, 2});
  Value v = transpose(reshape(tensors->value, {keys, heads, valueDepth}), {1, 2, 0});
  auto scoreType = RankedTensorType::get({heads, rows * groups, keys}, element);
  Value scores = MatmulOp::create(builder, loc, scoreType, q, k, OrderAttr());
  scores = ScaleOp::create(builder, loc, scoreType, scores, op.getScaleAttr());
  if (double cap = op.getSoftcap().convertToDouble(); cap > 0) {
    scores = ScaleOp::create(builder, loc, scoreType, scores, builder.getF64FloatAttr(1 / cap));
    scores = TanhOp::create(builder, loc, scoreType, scores);
    scores = ScaleOp::create(builder, loc, scoreType, scores, builder.getF64FloatAttr(cap));
  }
  llvm::SmallVector<Value, 3> added;
  if (op.getBias())
    added.push_back(biasOf(op, heads, groups, keys));
  if (op.getSlopes())
    added.push_back(slopesOf(op, heads, groups, keys));
  if (op.getCausal())
    added.push_back(reshape(causalMask(rows, keys, op.getWindow()), {rows, 1, keys}));
  for (Value mask : added) {
    Value apart = reshape(scores, {heads, rows, groups, keys});
    apart = AddOp::create(builder, loc, scored(apart), apart, mask);
    scores = reshape(apart, scoreType.getShape());
  }
  Value weights = SoftmaxOp::create(builder, loc, scoreType, scores, OrderAttr());
  auto mixedType =
      RankedTensorType::get({heads, rows * groups, valueDepth}, op.getType().getElementType());
  Value mixed = MatmulOp::create(builder, loc, mixedType, weights, v, OrderAttr());
  if (op.getWeights())
    op.getWeights().replaceAllUsesWith(weightsOf(op, weights, heads, groups));
  mixed = transpose(reshape(mixed, {heads, rows, groups * valueDepth}), {1, 0, 2});
  op.getResult().replaceAllUsesWith(reshape(mixed, op.getType().getShape()));
  op.erase();
}

/// activation(gate) · up, the activation stored.
void Decomposer::decompose(GluOp op) {
  RankedTensorType gateType = op.getGate().getType();
  Value gate = op.getGate();
  switch (op.getActivation()) {
  case Activation::Silu:
    gate = SiluOp::create(builder, loc, gateType, gate);
    break;
  case Activation::Gelu:
    gate = GeluOp::create(builder, loc, gateType, gate);
    break;
  case Activation::GeluTanh:
    gate = GeluTanhOp::create(builder, loc, gateType, gate);
    break;
  case Activation::Relu:
    gate = ReluOp::create(builder, loc, gateType, gate);
    break;
  case Activation::Sigmoid:
    gate = SigmoidOp::create(builder, loc, gateType, gate);
    break;
  }
  Value product = MulOp::create(builder, loc, op.getType(), gate, op.getUp());
  op.getResult().replaceAllUsesWith(product);
  op.erase();
}

void Decomposer::run() {
  for (Operation& op : llvm::make_early_inc_range(function.getBody().front())) {
    builder.setInsertionPoint(&op);
    loc = op.getLoc();
    if (auto attention = llvm::dyn_cast<AttentionOp>(op))
      decompose(attention);
    else if (auto glu = llvm::dyn_cast<GluOp>(op))
      decompose(glu);
  }
}

namespace {

class DecomposePass : public impl::DecomposePassBase<DecomposePass> {
public:
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() override {
    if (!getOperation().isExternal())
      Decomposer(getOperation()).run();
  }
};

} // namespace
} // namespace tenon::passes
