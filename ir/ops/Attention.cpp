#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/AttentionRows.h"
#include "ir/Dialect.h"
#include "ir/KvCache.h"
#include "ir/ops/internal/Dot.h"

using namespace mlir;

namespace tenon {

/// Of sequences that have equally many of the `rows` rows each, and of the positions of all.
static LogicalResult checkRowIndices(std::optional<Location> location, AttentionOp::Adaptor adaptor,
                                     int64_t rows) {
  auto sequences = llvm::cast<RankedTensorType>(adaptor.getSequences().getType());
  auto positions = llvm::cast<RankedTensorType>(adaptor.getPositions().getType());
  if (sequences.getRank() == 1 && rows % sequences.getDimSize(0) == 0 && positions.getRank() == 1 &&
      positions.getDimSize(0) == rows)
    return success();
  return detail::emitShapeError(
      location, AttentionOp::getOperationName(),
      "expects sequences of which each has as many of the " + llvm::Twine(rows) +
          " rows and positions [" + llvm::Twine(rows) + "], but got " +
          detail::formatType(sequences) + " and " + detail::formatType(positions));
}

/// Whether each extent of `shape` is the largest that it may be, or 1 but for the last.
static bool broadcastsTo(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> largest) {
  return shape.size() == largest.size() && shape.back() == largest.back() &&
         llvm::all_of(llvm::zip_equal(shape, largest), [](auto pair) {
           auto [extent, most] = pair;
           return extent == 1 || extent == most;
         });
}

/// What is done to scores beside their scale: the bias of heads, `rows` and keys, and the vectors
/// of heads.
static LogicalResult checkScoreOperands(std::optional<Location> location,
                                        AttentionOp::Adaptor adaptor, int64_t rows) {
  llvm::StringRef name = AttentionOp::getOperationName();
  llvm::ArrayRef<int64_t> query = getTensorType(adaptor.getQuery().getType()).getShape();
  int64_t keys = KvCache(adaptor.getKey().getType(), adaptor.getBlockTable()).capacity;
  if (Value bias = adaptor.getBias()) {
    llvm::ArrayRef<int64_t> shape = getTensorType(bias.getType()).getShape();
    int64_t sequences = getTensorType(adaptor.getSequences().getType()).getNumElements();
    if (!broadcastsTo(shape, {query[1], rows, keys}) &&
        !broadcastsTo(shape, {sequences, query[1], rows / sequences, keys}))
      return detail::emitShapeError(location, name,
                                    "expects a bias [" + llvm::Twine(query[1]) + " or 1, " +
                                        llvm::Twine(rows) + " or 1, " + llvm::Twine(keys) +
                                        "] of heads, rows and keys, or one for each sequence, but "
                                        "got " +
                                        detail::formatType(bias.getType()));
  }
  for (auto [operand, what] :
       {std::pair{adaptor.getSlopes(), "slopes"}, {adaptor.getSinks(), "sinks"}})
    if (operand && getTensorType(operand.getType()).getShape() != query.slice(1, 1))
      return detail::emitShapeError(location, name,
                                    "expects " + llvm::Twine(what) + " of the " +
                                        llvm::Twine(query[1]) + " query heads, but got " +
                                        detail::formatType(operand.getType()));
  return success();
}

LogicalResult
AttentionOp::inferReturnTypeComponents(MLIRContext* context, std::optional<Location> location,
                                       Adaptor adaptor,
                                       llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  auto query = llvm::cast<RankedTensorType>(adaptor.getQuery().getType());
  Type keyType = adaptor.getKey().getType(), valueType = adaptor.getValue().getType();
  llvm::ArrayRef<int64_t> key = getTensorType(keyType).getShape(),
                          value = getTensorType(valueType).getShape();
  bool areCaches = query.getRank() == 3 && key.size() == 4 && value.size() == 4;
  const char* axes = areCaches && KvCache(keyType).isPaged()
                         ? "[N, Hkv, P, D] and value [N, Hkv, P, Dv]"
                         : "[S, C, Hkv, D] and value [S, C, Hkv, Dv]";
  if (!areCaches || query.getDimSize(2) != key[3] || key.take_front(3) != value.take_front(3))
    return detail::emitShapeError(location, getOperationName(),
                                  llvm::Twine("expects query [M, Hq, D], key ") + axes +
                                      ", but got " + detail::formatType(query) + ", " +
                                      detail::formatType(keyType) + " and " +
                                      detail::formatType(valueType));
  int64_t keyHeads = KvCache(keyType).heads;
  if (query.getDimSize(1) % keyHeads != 0)
    return detail::emitShapeError(location, getOperationName(),
                                  "expects key heads that divide the " +
                                      llvm::Twine(query.getDimSize(1)) + " query heads, but got " +
                                      llvm::Twine(keyHeads));
  if (failed(verifyBlockTable(location, getOperationName(), keyType, adaptor.getBlockTable())))
    return failure();
  int64_t views = queryViewsOf(keyType), rows = query.getDimSize(0) / views;
  if (query.getDimSize(0) % views != 0)
    return detail::emitShapeError(
        location, getOperationName(),
        "expects three rows of queries for each row over a ring, but got " +
            detail::formatType(query));
  if (failed(checkRowIndices(location, adaptor, rows)) ||
      failed(checkScoreOperands(location, adaptor, rows)))
    return failure();
  shapes.emplace_back(llvm::ArrayRef{rows, query.getDimSize(1), value[3]});
  int64_t keys = KvCache(keyType, adaptor.getBlockTable()).capacity;
  shapes.emplace_back(llvm::ArrayRef{query.getDimSize(1), rows, keys});
  return success();
}

/// Over a ring: that every row finds its keys, whatever the call's other rows have written.
static LogicalResult verifyRing(AttentionOp op) {
  KvCache key(op.getKey().getType()), value(op.getValue().getType());
  if (key.layout != value.layout || key.kept != value.kept)
    return op.emitOpError("expects keys and values in one layout, but got ")
           << op.getKey().getType() << " and " << op.getValue().getType();
  if (!key.isRing())
    return success();
  if (op.getWeights())
    return op.emitOpError("expects no weights over a ring, whose places are no positions, but got ")
           << op.getWeights().getType();
  if (op.getBias() || op.getSlopes())
    return op.emitOpError("expects neither bias nor slopes over a ring, whose places are no "
                          "positions, but got ")
           << (op.getBias() ? "a bias" : "slopes");
  int64_t window = op.getWindow(), rows = op.getType().getDimSize(0);
  if (!op.getCausal() || window < 1 || window > key.ring() || rows - 1 > key.ring() - window)
    return op.emitOpError("expects to be causal over a ring, with a window that fits into its ")
           << key.ring() << " places beside " << rows - 1 << " other rows, but got "
           << (op.getCausal() ? "causal" : "not causal") << " and " << window;
  return success();
}

LogicalResult AttentionOp::verify() {
  for (Type type : {getKey().getType(), getValue().getType()})
    if (auto state = llvm::dyn_cast<StateType>(type))
      if (!llvm::isa<FloatType, BlockType>(state.getElementType()))
        return emitOpError("expects keys and values of floating-point type, but got ") << type;
  if (!(getSoftcap().convertToDouble() >= 0))
    return emitOpError("expects a soft-cap of zero or more, but got ")
           << getSoftcap().convertToDouble();
  if (static_cast<int64_t>(getWindow()) < 0)
    return emitOpError("expects a window of zero or more positions, but got ")
           << static_cast<int64_t>(getWindow());
  if (AttentionRows of(*this); getChunks() && of.rows != 1)
    return emitOpError("expects a sequence for each row where rows are chunks, but got ")
           << of.sequences << " for " << of.sequences * of.rows << " rows";
  return verifyRing(*this);
}

void AttentionOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getWeights())
    setName(getWeights(), "weights");
}

/// With every position of the sequences in use, or of the window where there is one.
Work AttentionOp::getWork() {
  Work work = detail::defaultWork(*this);
  llvm::ArrayRef<int64_t> query = getQuery().getType().getShape();
  KvCache cache(getValue().getType(), getBlockTable());
  int64_t window = getWindow(), capacity = cache.capacity;
  int64_t rows = getType().getDimSize(0);
  int64_t keys = window > 0 ? std::min(cache.kept + window, capacity) : capacity;
  int64_t scores = detail::saturatingProduct({rows, query[1], keys});
  // Of a score: its product, its part of the result; scale, maximum, subtract, exponential, add;
  // the addition of its bias, distance, slope and their addition; the quotient that is its weight.
  int64_t others = 5 + (getBias() ? 1 : 0) + (getSlopes() ? 3 : 0) + (getWeights() ? 1 : 0);
  work.flops = detail::saturatingSum({detail::saturatingProduct({2, scores, query[2]}),
                                      detail::saturatingProduct({2, scores, cache.size}),
                                      detail::saturatingProduct({others, scores})});
  AttentionRows of(*this);
  int64_t sequences = std::min(of.sequences, cache.sequences);
  int64_t read = window > 0 ? std::min(keys + of.rows - 1, capacity) : capacity;
  for (unsigned operand : {1, 2})
    work.operandBytes[operand] = work.operandBytes[operand] / cache.places() * sequences * read;
  return work;
}

Footprint AttentionOp::getFootprint(unsigned operand) {
  bool ofRow = operand == 0 && queryViewsOf(getKey().getType()) == 1;
  return ofRow ? Footprint::row() : Footprint::grid();
}

namespace {
/// A key that a row attends to.
struct VisibleKey {
  /// Which of the queries of a row it is multiplied with, as `tenon.ring_places` has them.
  enum View : int64_t { Own = 0, RoundBefore = 1, Kept = 2 };
  int64_t place;
  View view;
};

/// What the loops of an evaluation share.
struct Evaluation {
  const ReferenceTensor& query; // [views · M, Hq, D]
  const ReferenceTensor& key;   // [S, C, Hkv, D]
  const ReferenceTensor& value; // [S, C, Hkv, Dv]
  KvCache cache;                ///< of the keys
  int64_t views;                ///< of a row's queries
  double scale, softcap;
  const ReferenceTensor* bias;    // or null
  std::optional<BiasLines> lines; // of the bias
  AttentionRows of;
  std::vector<double> slopes, sinks; // [Hq] or empty
  std::vector<double> blockTable;    // [S, B] or empty
  std::vector<double> queryScratch = {}, cacheScratch = {}, biasScratch = {};

  double score(llvm::ArrayRef<double> q, int64_t cacheRow) {
    double sum = scale * detail::dot(q, key.getRow(cacheRow, cacheScratch));
    return softcap > 0 ? softcap * std::tanh(sum / softcap) : sum;
  }

  /// Of one head of one row, by keys; empty where there is none.
  llvm::ArrayRef<double> biasOf(int64_t row, int64_t head) {
    if (!bias)
      return {};
    return bias->getRow(row / of.rows * lines->ofSequence + row % of.rows * lines->ofRow +
                            head * lines->ofHead,
                        biasScratch);
  }

  /// Attends from one head of one row at `position` to `keys`; adds to `result`, and stores in
  /// `shares`, where it is not empty, what part of it each place has. Bias, slopes and shares are of
  /// caches in which a place is a position.
  void attend(int64_t row, int64_t head, int64_t sequence, int64_t position,
              llvm::ArrayRef<VisibleKey> keys, llvm::MutableArrayRef<double> result,
              llvm::MutableArrayRef<double> shares) {
    int64_t queryHeads = query.getShape()[1], keyHead = head / (queryHeads / cache.heads);
    int64_t rows = query.getShape()[0] / views;
    auto cacheRow = [&](int64_t place) {
      return cache.headRow(sequence, place, keyHead, blockTable);
    };
    llvm::ArrayRef<double> added = biasOf(row, head);
    std::vector<double> weights;
    for (auto [place, view] : keys) {
      int64_t queryRow = (view * rows + row) * queryHeads + head;
      double weight = score(query.getRow(queryRow, queryScratch), cacheRow(place));
      if (!added.empty())
        weight += added[place];
      if (!slopes.empty())
        weight -=
            slopes[head] * std::fabs(static_cast<double>(place) - static_cast<double>(position));
      weights.push_back(weight);
    }
    double largest = *llvm::max_element(weights), sum = 0;
    if (largest == -std::numeric_limits<double>::infinity())
      return;
    for (double& weight : weights)
      sum += weight = std::exp(weight - largest);
    if (!sinks.empty())
      sum += std::exp(sinks[head] - largest);
    for (auto [key, exponential] : llvm::zip_equal(keys, weights)) {
      llvm::ArrayRef<double> v = value.getRow(cacheRow(key.place), cacheScratch);
      double weight = exponential / sum;
      if (!shares.empty())
        shares[key.place] = weight;
      for (size_t i = 0; i < v.size(); ++i)
        result[i] += weight * v[i];
    }
  }
};
} // namespace

/// The keys that a row at `position` attends to, in the order of the sequence.
static std::vector<VisibleKey> findVisible(AttentionOp op, const KvCache& cache, int64_t position) {
  int64_t window = op.getWindow();
  int64_t begin = window > 0 ? std::max<int64_t>(0, position - window + 1) : 0;
  std::vector<VisibleKey> keys;
  if (!cache.isRing()) {
    int64_t end = op.getCausal() ? std::min(cache.capacity, position + 1) : cache.capacity;
    for (int64_t c = begin; c < end; ++c)
      keys.push_back({c, VisibleKey::Own});
    return keys;
  }
  for (int64_t c = 0; c < std::min(cache.kept, position + 1); ++c)
    keys.push_back({c, VisibleKey::Kept});
  for (int64_t c = std::max(cache.kept, begin); c <= position; ++c) {
    int64_t place = cache.place(c);
    keys.push_back(
        {place, place <= cache.place(position) ? VisibleKey::Own : VisibleKey::RoundBefore});
  }
  return keys;
}

void AttentionOp::evaluate(llvm::ArrayRef<ReferenceTensor> operands,
                           llvm::MutableArrayRef<ReferenceTensor> results) {
  // Those that are there stand after one another.
  const ReferenceTensor* next = operands.begin() + 5;
  const ReferenceTensor* bias = getBias() ? next++ : nullptr;
  std::vector<double> slopes = getSlopes() ? (next++)->toVector() : std::vector<double>();
  std::vector<double> sinks = getSinks() ? (next++)->toVector() : std::vector<double>();
  std::vector<double> blockTable = getBlockTable() ? next->toVector() : std::vector<double>();
  KvCache cache(getKey().getType(), getBlockTable());
  Evaluation evaluation{operands[0],
                        operands[1],
                        operands[2],
                        cache,
                        queryViewsOf(getKey().getType()),
                        getScale().convertToDouble(),
                        getSoftcap().convertToDouble(),
                        bias,
                        bias ? std::optional<BiasLines>(*this) : std::nullopt,
                        AttentionRows(*this),
                        std::move(slopes),
                        std::move(sinks),
                        std::move(blockTable)};
  std::vector<double> sequences = operands[3].toVector(), positions = operands[4].toVector();
  int64_t heads = operands[0].getShape()[1], size = operands[2].getRowLength();
  int64_t rows = positions.size();
  auto sharesOf = [&](int64_t row, int64_t head) -> llvm::MutableArrayRef<double> {
    if (!getWeights())
      return {};
    return results[1].getValues().slice((head * rows + row) * cache.capacity, cache.capacity);
  };
  for (int64_t m = 0; m < rows; ++m) {
    int64_t sequence = sequences[m / evaluation.of.rows], position = positions[m];
    if (position < 0 || sequence < 0 || sequence >= cache.sequences)
      continue;
    std::vector<VisibleKey> keys = findVisible(*this, cache, position);
    for (int64_t h = 0; h < heads && !keys.empty(); ++h)
      evaluation.attend(m, h, sequence, position, keys,
                        results[0].getValues().slice((m * heads + h) * size, size), sharesOf(m, h));
  }
}

} // namespace tenon
