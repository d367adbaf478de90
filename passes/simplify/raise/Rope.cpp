#include <cmath>
#include <numbers>
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

/// Operations from constants to a table, its elements, and what one of them computes, at most.
constexpr int mostSteps = 16;
constexpr int64_t mostElements = int64_t(1) << 22, mostFlops = int64_t(1) << 28;

/// What `value` is where all that it follows from are constants, each step rounded to its type.
std::optional<ReferenceTensor> evaluateConstant(Value value, int& steps) {
  RankedTensorType type = typeOf(value);
  auto compute = value.getDefiningOp<ComputeOpInterface>();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (type.getNumElements() > mostElements || steps++ == mostSteps || (!constant && !compute))
    return std::nullopt;
  ReferenceTensor result(type);
  if (constant) {
    auto elements = llvm::cast<DenseElementsAttr>(constant.getValue());
    if (auto floats = llvm::dyn_cast<DenseFPElementsAttr>(elements))
      for (auto [target, element] :
           llvm::zip_equal(result.getValues(), floats.getValues<APFloat>()))
        target = element.convertToDouble();
    else
      for (auto [target, element] :
           llvm::zip_equal(result.getValues(), elements.getValues<APInt>()))
        target = static_cast<double>(element.getSExtValue());
    return result;
  }
  if (compute->getNumResults() != 1 || compute.getWork().flops > mostFlops)
    return std::nullopt;
  llvm::SmallVector<ReferenceTensor> operands;
  for (Value operand : compute->getOperands()) {
    if (!llvm::isa<RankedTensorType>(operand.getType()))
      return std::nullopt;
    std::optional<ReferenceTensor> found = evaluateConstant(operand, steps);
    if (!found)
      return std::nullopt;
    operands.push_back(*std::move(found));
  }
  compute.evaluate(operands, result);
  result.roundToElementType();
  return result;
}

/// Numbers [rows, columns], of rows 0, 1, 2, … of a table or of those that `ids` [M] choose.
struct Table {
  Value ids; ///< i32; null: the first ones
  std::vector<double> values;
  int64_t rows, columns;

  double at(int64_t row, int64_t column) const { return values[row * columns + column]; }
};

/// The table of one number a row of `rows` and column: constant, or an embedding of a constant one.
std::optional<Table> tableOf(Value value, int64_t rows) {
  int64_t elements = typeOf(value).getNumElements(), columns = typeOf(value).getShape().back();
  if (elements != rows * columns)
    return std::nullopt; // differs between heads
  Table table = {{}, {}, rows, columns};
  Value source = value;
  if (auto embedding = throughReshapes(value).getDefiningOp<EmbeddingOp>()) {
    source = embedding.getTable(), table.ids = embedding.getIds();
    table.rows = typeOf(source).getDimSize(0);
    if (typeOf(source).getDimSize(1) != columns || typeOf(table.ids).getRank() != 1 ||
        typeOf(table.ids).getNumElements() != rows)
      return std::nullopt;
  }
  int steps = 0;
  std::optional<ReferenceTensor> found = evaluateConstant(source, steps);
  if (!found)
    return std::nullopt;
  table.values = found->toVector();
  return table;
}

/// What the sines and cosines of a rope are of: row r and column i have the angle r · frequency i,
/// and are multiplied by `magnitude`.
struct Turns {
  Value ids; ///< as of `Table`
  std::vector<float> frequencies;
  double magnitude;
};

/// The frequency whose angles column `column` has, by ever later rows: angles are known but for
/// whole turns, of which the frequency so far tells the number.
double frequencyOf(const Table& cosines, const Table& sines, int64_t column) {
  constexpr double turn = 2 * std::numbers::pi;
  double frequency = 0;
  for (int64_t row = 1; row < cosines.rows; row = std::min(2 * row, cosines.rows - 1)) {
    auto position = static_cast<double>(row);
    double angle = std::atan2(sines.at(row, column), cosines.at(row, column));
    angle += turn * std::round((frequency * position - angle) / turn);
    frequency = angle / position;
    if (row == cosines.rows - 1)
      break;
  }
  return frequency;
}

/// The turns of `pairs` pairs that tables of cosines and sines have, to a thousandth of their
/// magnitude: what is left of numbers in 16 bits. Where a table has a column for each element, the
/// second half repeats the first.
std::optional<Turns> turnsOf(const Table& cosines, const Table& sines, int64_t pairs) {
  constexpr double tolerance = 1e-3;
  if (cosines.ids != sines.ids || cosines.rows != sines.rows || cosines.rows < 2 ||
      cosines.columns != sines.columns || cosines.columns % pairs != 0)
    return std::nullopt;
  Turns turns = {cosines.ids, {}, std::hypot(cosines.at(0, 0), sines.at(0, 0))};
  if (!(turns.magnitude > 0) || !std::isfinite(turns.magnitude))
    return std::nullopt;
  if (isNear(turns.magnitude, 1))
    turns.magnitude = 1;
  for (int64_t column = 0; column < pairs; ++column)
    turns.frequencies.push_back(static_cast<float>(frequencyOf(cosines, sines, column)));
  for (int64_t row = 0; row < cosines.rows; ++row)
    for (int64_t column = 0; column < cosines.columns; ++column) {
      double angle = static_cast<double>(row) * turns.frequencies[column % pairs];
      double most = tolerance * turns.magnitude;
      if (!(std::abs(cosines.at(row, column) - turns.magnitude * std::cos(angle)) <= most) ||
          !(std::abs(sines.at(row, column) - turns.magnitude * std::sin(angle)) <= most))
        return std::nullopt;
    }
  return turns;
}

/// The elements of the innermost axis of `input` that a slice takes.
struct Columns {
  Value input;
  int64_t offset, count, stride;
};

std::optional<Columns> columnsOf(Value value) {
  auto slice = value.getDefiningOp<SliceOp>();
  if (!slice)
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape = typeOf(slice.getInput()).getShape();
  size_t last = shape.size() - 1;
  for (size_t axis = 0; axis < last; ++axis)
    if (slice.getSizes()[axis] != shape[axis] || slice.getStrides()[axis] != 1)
      return std::nullopt;
  return Columns{slice.getInput(), slice.getOffsets()[last], slice.getSizes()[last],
                 slice.getStrides()[last]};
}

/// Whether these are the first and second elements of the pairs of all columns of one value.
std::optional<RopePairing> pairingOf(const Columns& first, const Columns& second) {
  int64_t width = typeOf(first.input).getShape().back();
  if (first.input != second.input || 2 * first.count != width || first.count != second.count ||
      first.stride != second.stride || first.offset != 0)
    return std::nullopt;
  if (first.stride == 1 && second.offset == first.count)
    return RopePairing::Halves;
  if (first.stride == 2 && second.offset == 1)
    return RopePairing::Adjacent;
  return std::nullopt;
}

/// a · factor, whichever side `a` stands on; null elsewhere.
Value factorOf(Value product, Value a) {
  auto mul = product.getDefiningOp<MulOp>();
  if (!mul || mul.getType() != a.getType())
    return {};
  return isSame(mul.getLhs(), a) ? mul.getRhs() : isSame(mul.getRhs(), a) ? mul.getLhs() : Value();
}

/// An input, how it is turned, and by what.
struct Found {
  Value input, cosines, sines;
  RopePairing pairing;
};

/// x · cos + concat(−x₂, x₁) · sin with x₁ and x₂ the halves of x.
std::optional<Found> findRotatedHalves(AddOp op) {
  for (auto [straight, turned] :
       {std::pair{op.getLhs(), op.getRhs()}, {op.getRhs(), op.getLhs()}}) {
    auto mul = turned.getDefiningOp<MulOp>();
    if (!mul)
      continue;
    bool left = mul.getLhs().getDefiningOp<ConcatOp>() != nullptr;
    auto concat = (left ? mul.getLhs() : mul.getRhs()).getDefiningOp<ConcatOp>();
    if (!concat || concat.getInputs().size() != 2 || concat.getType() != op.getType() ||
        concat.getAxis() != static_cast<uint64_t>(op.getType().getRank() - 1))
      continue;
    auto negated = concat.getInputs()[0].getDefiningOp<NegOp>();
    std::optional<Columns> second = negated ? columnsOf(negated.getInput()) : std::nullopt;
    std::optional<Columns> first = columnsOf(concat.getInputs()[1]);
    if (!first || !second || pairingOf(*first, *second) != RopePairing::Halves)
      continue;
    if (Value cosines = factorOf(straight, first->input))
      return Found{first->input, cosines, left ? mul.getRhs() : mul.getLhs(), RopePairing::Halves};
  }
  return std::nullopt;
}

/// x₁ · cos − x₂ · sin and x₂ · cos + x₁ · sin of the first and second elements of pairs.
std::optional<Found> findTurnedPairs(Value first, Value second) {
  auto difference = first.getDefiningOp<SubOp>();
  auto sum = second.getDefiningOp<AddOp>();
  auto straight = difference ? difference.getLhs().getDefiningOp<MulOp>() : MulOp();
  if (!straight || !sum)
    return std::nullopt;
  for (auto [x1, cosines] :
       {std::pair{straight.getLhs(), straight.getRhs()}, {straight.getRhs(), straight.getLhs()}}) {
    auto turned = difference.getRhs().getDefiningOp<MulOp>();
    std::optional<Columns> firstColumns = columnsOf(x1);
    if (!turned || !firstColumns)
      continue;
    for (auto [x2, sines] :
         {std::pair{turned.getLhs(), turned.getRhs()}, {turned.getRhs(), turned.getLhs()}}) {
      std::optional<Columns> secondColumns = columnsOf(x2);
      std::optional<RopePairing> pairing =
          secondColumns ? pairingOf(*firstColumns, *secondColumns) : std::nullopt;
      if (!pairing)
        continue;
      for (auto [withCosines, withSines] :
           {std::pair{sum.getLhs(), sum.getRhs()}, {sum.getRhs(), sum.getLhs()}})
        if (Value c = factorOf(withCosines, x2), s = factorOf(withSines, x1);
            c && s && isSame(c, cosines) && isSame(s, sines))
          return Found{firstColumns->input, cosines, sines, *pairing};
    }
  }
  return std::nullopt;
}

/// The turned pairs, put beside one another again: halves by a concat, others by one of axes of 1.
std::optional<Found> findJoinedPairs(ConcatOp op) {
  if (op.getInputs().size() != 2 || op.getType().getRank() < 2 ||
      op.getAxis() != static_cast<uint64_t>(op.getType().getRank() - 1))
    return std::nullopt;
  auto inPairs = [](Value part) -> Value { // [..., F, 1] of [..., F]
    auto reshape = part.getDefiningOp<ReshapeOp>();
    bool adds = reshape && typeOf(part).getShape().back() == 1 &&
                typeOf(part).getShape().drop_back() == typeOf(reshape.getInput()).getShape();
    return adds ? reshape.getInput() : Value();
  };
  Value first = op.getInputs()[0], second = op.getInputs()[1];
  RopePairing pairing = RopePairing::Halves;
  if (Value one = inPairs(first), other = inPairs(second); one && other)
    first = one, second = other, pairing = RopePairing::Adjacent;
  std::optional<Found> found = findTurnedPairs(first, second);
  return found && found->pairing == pairing ? found : std::nullopt;
}

/// Replaces `op`, whose result is a view of the turned input, by a rope where the input is [M, H,
/// D], or a transpose [H, M, D] of that.
LogicalResult raise(Operation* op, const Found& found, PatternRewriter& rewriter) {
  RankedTensorType type = typeOf(found.input);
  auto transpose = found.input.getDefiningOp<TransposeOp>();
  bool isTransposed = transpose && transpose.getPermutation() == llvm::ArrayRef<int64_t>({1, 0, 2});
  if (type.getRank() != 3 || type.getElementType() != typeOf(op->getResult(0)).getElementType())
    return rewriter.notifyMatchFailure(op, "expects heads of rows, [M, H, D]");
  int64_t rows = type.getDimSize(isTransposed ? 1 : 0), pairs = type.getDimSize(2) / 2;
  llvm::ArrayRef<int64_t> tableShape = typeOf(found.cosines).getShape();
  // The axis of the rows, counted from the innermost.
  size_t axis = isTransposed ? 2 : 3;
  if (tableShape.size() < axis || tableShape[tableShape.size() - axis] != rows)
    return rewriter.notifyMatchFailure(op, "expects cosines and sines of rows");
  std::optional<Table> cosines = tableOf(found.cosines, rows), sines = tableOf(found.sines, rows);
  std::optional<Turns> turns = cosines && sines ? turnsOf(*cosines, *sines, pairs) : std::nullopt;
  if (!turns)
    return rewriter.notifyMatchFailure(op, "expects cosines and sines of positions · frequencies");
  Location loc = op->getLoc();
  Value input = isTransposed ? transpose.getInput() : found.input;
  Value positions;
  if (turns->ids) {
    positions = turns->ids;
    auto flat = RankedTensorType::get({rows}, typeOf(positions).getElementType());
    if (positions.getType() != flat)
      positions =
          ReshapeOp::create(rewriter, loc, flat, positions, rewriter.getDenseI64ArrayAttr({rows}));
    auto narrow = RankedTensorType::get({rows}, rewriter.getI32Type());
    if (flat != narrow)
      positions = CastOp::create(rewriter, loc, narrow, positions);
  } else {
    std::vector<int32_t> numbers(rows);
    std::iota(numbers.begin(), numbers.end(), 0);
    auto flat = RankedTensorType::get({rows}, rewriter.getI32Type());
    positions = ConstantOp::create(rewriter, loc, flat,
                                   DenseElementsAttr::get(flat, llvm::ArrayRef(numbers)));
  }
  auto frequencyType = RankedTensorType::get({pairs}, rewriter.getF32Type());
  Value frequencies =
      ConstantOp::create(rewriter, loc, frequencyType,
                         DenseElementsAttr::get(frequencyType, llvm::ArrayRef(turns->frequencies)));
  Value result = RopeOp::create(rewriter, loc, input.getType(),
                                RopePairingAttr::get(rewriter.getContext(), found.pairing), input,
                                positions, frequencies, rewriter.getF64FloatAttr(turns->magnitude));
  if (isTransposed)
    result =
        TransposeOp::create(rewriter, loc, type, result, rewriter.getDenseI64ArrayAttr({1, 0, 2}));
  if (result.getType() != op->getResult(0).getType())
    result = ReshapeOp::create(rewriter, loc, op->getResult(0).getType(), result,
                               rewriter.getDenseI64ArrayAttr(typeOf(op->getResult(0)).getShape()));
  rewriter.replaceOp(op, result);
  return success();
}

class RaiseRotatedHalves : public OpRewritePattern<AddOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp op, PatternRewriter& rewriter) const override {
    std::optional<Found> found = findRotatedHalves(op);
    if (!found || found->input.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "expects x · cos + rotated x · sin");
    return raise(op, *found, rewriter);
  }
};

class RaiseJoinedPairs : public OpRewritePattern<ConcatOp> {
public:
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter& rewriter) const override {
    std::optional<Found> found = findJoinedPairs(op);
    if (!found || typeOf(found->input).getNumElements() != op.getType().getNumElements())
      return rewriter.notifyMatchFailure(op, "expects turned pairs beside one another");
    return raise(op, *found, rewriter);
  }
};

} // namespace

void addRope(RewritePatternSet& patterns) {
  patterns.addWithLabel<RaiseRotatedHalves>({label}, patterns.getContext());
  patterns.addWithLabel<RaiseJoinedPairs>({label}, patterns.getContext());
}

} // namespace tenon::passes::raise
