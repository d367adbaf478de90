#include <limits>
#include <numeric>

#include "codegen/cpu/CacheRows.h"
#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "ir/AttentionRows.h"
#include "kernels/cpu/Attention.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

namespace {

/// Attention with an online softmax (Milakov and Gimelshein 2018, arXiv 1805.02867) over blocks of
/// `order.chunk` keys, aligned to multiples of the block so that the result depends on nothing but
/// the positions. For each block and head:
///
/// 1. scores s_c = scale · q·k_c, dot products in the order of `order`, soft-capped, with what bias
///    and slopes add to them, −∞ outside the range of keys;
/// 2. m' = max(m, max s), r = exp(m − m'), p_c = exp(s_c − m'), l' = l · r + Σ p_c, the sum in the
///    order of `order`;
/// 3. o' = o · r, then fused multiply-adds of p_c · v_c in ascending c.
///
/// The result is o / l, with a sink n o / (l + exp(n − m)). A tile is one row and `heads_per_tile`
/// query heads that share one key head, so that keys and values are loaded once for all of them.
///
/// Where the weights are a result, the scores of each block are computed again at the end and
/// weights exp(s_c − m) / l stored, with a sink exp(s_c − m) / (l + exp(n − m)).
///
/// Over a ring the keys are up to three ranges of places, each for another of the row's queries:
/// the kept ones, those of the round before, the others. Quants of keys and values are multiplied
/// with their scales after a score is summed, and with the weight.
class AttentionEmission {
public:
  AttentionEmission(KernelContext& context, const AttentionKernel& kernel)
      : context(context), b(context.builder), op(kernel.op), query(context, op.getQuery()),
        keyCache(op.getKey().getType(), op.getBlockTable()),
        valueCache(op.getValue().getType(), op.getBlockTable()), rows(op.getType().getShape()[0]),
        queryHeads(query.type.getShape()[1]), keySize(keyCache.size), valueSize(valueCache.size),
        heads(kernel.schedule.headsPerTile) {}

  LogicalResult emit(Value tile);

private:
  /// The loop over the vectors of a block's scores is unrolled.
  static constexpr int64_t mostVectors = 256;
  /// Queries and results of a tile lie on the stack.
  static constexpr int64_t mostScratchBytes = 1 << 20;

  LogicalResult checkSchedule();
  void allocate();
  Value cacheHead(Value operand, const KvCache& cache, Value place);
  Value scratchRow(Value base, int64_t head, int64_t rowFloats, Value element);
  /// Places [first, end) whose keys are multiplied with query `view` of a row, as
  /// `tenon.ring_places` has them.
  struct KeyRange {
    int64_t view;
    Value first, end;
  };
  llvm::SmallVector<KeyRange, 3> findRanges();
  void loadQuery(Value row);
  void clearOutputs();
  void attend(Value row, llvm::ArrayRef<KeyRange> ranges);
  llvm::SmallVector<Value> emitBlock(Value start, ValueRange state);
  void emitScores(Value start, Value first, Value end);
  void loadScoreOperands(Value row);
  Value loadOfHead(TypedValue<RankedTensorType> vector, int64_t head);
  void copyBias(Value place, Value start);
  Value addToScores(Value scores, int64_t head, Value start, int64_t first, Value index);
  Value finiteOr(Value largest, float other);
  Value scoresInRange(int64_t head, Value start, int64_t first);
  std::pair<Value, Value> emitSoftmax(int64_t head, Value start, Value oldMax, Value& sum);
  void emitValues(Value start, Value first, Value end, llvm::ArrayRef<Value> corrections);
  Value emitDenominator(int64_t head, ValueRange state);
  void storeResult(Value row, ValueRange state);
  Value weightRow(Value row, int64_t head);
  bool givesWeights();
  void storeWeights(Value row, ValueRange state);
  void storeBlockWeights(Value row, Value start, int64_t count, ValueRange state,
                         llvm::ArrayRef<Value> denominators);
  void storeZeros(Value row);

  KernelContext& context;
  VectorBuilder& b;
  AttentionOp op;
  RowView query; ///< rows are heads: [views · M · Hq, D]
  KvCache keyCache, valueCache;
  int64_t rows, queryHeads, keySize, valueSize;
  int64_t heads; ///< of a tile
  OrderAttr order;
  int64_t lanes = 0, block = 0;
  int64_t paddedKey = 0, paddedValue = 0; ///< floats in a row of scratch
  Value queries, scores, outputs;         ///< scratch [heads, …]
  Value biases;                           ///< scratch [biasHeads, …] where there is a bias
  int64_t biasHeads = 0;                  ///< 1 where the heads share it
  Value biasRow;                          ///< of the first of them, the first key's
  llvm::SmallVector<Value> slopes;        ///< of the heads, where there are any
  Value sequence, keyHead, firstKey, endKey, rowPosition, firstHead;
};

} // namespace

LogicalResult AttentionEmission::checkSchedule() {
  FailureOr<OrderAttr> scheduled = orderOf(op);
  if (failed(scheduled))
    return failure();
  order = *scheduled;
  lanes = order.getLanes(), block = order.getChunk();
  if (block == 0 || block % lanes != 0)
    return op.emitOpError("expects an order whose chunk, the keys of a block, is a multiple of its "
                          "lanes, but got ")
           << order;
  if (block / lanes > mostVectors / heads)
    return op.emitOpError("expects at most ")
           << mostVectors << " vectors of scores in a block of keys, but got a chunk of " << block
           << " keys in " << lanes << " lanes for " << heads << " heads";
  if ((queryHeads / keyCache.heads) % heads != 0)
    return op.emitOpError("expects heads_per_tile to divide the ")
           << queryHeads / keyCache.heads << " query heads of a key head, but got " << heads;
  if (std::max(keySize, valueSize) > mostScratchBytes / 8 / heads)
    return op.emitOpError("expects heads of which ")
           << heads << " fit into " << mostScratchBytes << " bytes of stack, but got "
           << op.getQuery().getType() << " and " << op.getValue().getType();
  return context.expectTiles(rows * (queryHeads / heads));
}

void AttentionEmission::allocate() {
  paddedKey = llvm::alignTo(keySize, lanes), paddedValue = llvm::alignTo(valueSize, lanes);
  queries = b.scratch(heads * paddedKey * 4);
  scores = b.scratch(heads * block * 4);
  outputs = b.scratch(heads * paddedValue * 4);
  if (op.getBias()) {
    biasHeads = BiasLines(op).ofHead == 0 ? 1 : heads;
    biases = b.scratch(biasHeads * block * 4);
  }
}

/// Takes what the row and heads of a tile have of bias and slopes.
void AttentionEmission::loadScoreOperands(Value row) {
  if (auto bias = op.getBias()) {
    BiasLines lines(op);
    AttentionRows of(op);
    Value line = b.mul(firstHead, lines.ofHead);
    if (lines.ofSequence == lines.ofRow * of.rows) {
      line = lines.ofRow == 0 ? line : b.add(line, row);
    } else {
      line = b.add(line, b.mul(b.div(row, of.rows), lines.ofSequence));
      line = b.add(line, b.mul(b.rem(row, of.rows), lines.ofRow));
    }
    int64_t bytes = lines.keys * elementBytes(bias.getType().getElementType());
    biasRow = b.advance(context.pointer(bias), b.mul(line, bytes));
  }
  if (auto operand = op.getSlopes())
    for (int64_t head = 0; head < heads; ++head)
      slopes.push_back(loadOfHead(operand, head));
}

/// What `vector` [Hq] has of the tile's head `head`.
Value AttentionEmission::loadOfHead(TypedValue<RankedTensorType> vector, int64_t head) {
  Type element = vector.getType().getElementType();
  return b.loadFloat(element, b.advance(context.pointer(vector),
                                        b.mul(b.add(firstHead, head), elementBytes(element))));
}

/// Element `element` of row `head` of a scratch of rows of `rowFloats`.
Value AttentionEmission::scratchRow(Value base, int64_t head, int64_t rowFloats, Value element) {
  return b.advance(base, b.mul(b.add(element, head * rowFloats), 4));
}

/// The address of `keyHead` at `place` of the sequence, in a cache at `operand`.
Value AttentionEmission::cacheHead(Value operand, const KvCache& cache, Value place) {
  Value blockTable = op.getBlockTable() ? context.pointer(op.getBlockTable()) : Value();
  return emitCacheHead(b, cache, {context.pointer(operand), blockTable}, sequence, place, keyHead);
}

/// Of the row, in the order of the sequence; a range may be empty at run time.
llvm::SmallVector<AttentionEmission::KeyRange, 3> AttentionEmission::findRanges() {
  Value end = b.add(rowPosition, 1);
  if (!keyCache.isRing()) {
    Value first = b.i64(0);
    if (op.getWindow() > 0)
      first = b.max(b.sub(end, b.i64(op.getWindow())), first);
    return {{0, first,
             op.getCausal() ? b.min(end, b.i64(keyCache.capacity)) : b.i64(keyCache.capacity)}};
  }
  Value kept = b.i64(keyCache.kept), none = b.i64(0);
  llvm::SmallVector<KeyRange, 3> ranges;
  if (keyCache.kept > 0)
    ranges.push_back({2, none, b.min(end, kept)});
  // Of the keys after the kept ones, those of this round lie up to the row's own place, the others
  // at the end of the ring.
  Value behind = b.max(b.sub(end, kept), none);
  Value seen = b.min(behind, b.i64(op.getWindow()));
  Value ownEnd = b.select(b.isBelow(rowPosition, keyCache.kept), kept,
                          b.add(emitPlace(b, keyCache, rowPosition), 1));
  Value first = b.sub(ownEnd, seen);
  Value before = b.max(b.sub(kept, first), none);
  Value capacity = b.i64(keyCache.capacity);
  ranges.push_back({1, b.sub(capacity, before), capacity});
  ranges.push_back({0, b.max(first, kept), ownEnd});
  return ranges;
}

void AttentionEmission::loadQuery(Value row) {
  for (int64_t head = 0; head < heads; ++head) {
    RowView x = query.from(b, b.add(b.add(b.mul(row, queryHeads), firstHead), head));
    b.forVectors(keySize, lanes, [&](Value first, int64_t count) {
      b.store(x.load(b, first, count, lanes), scratchRow(queries, head, paddedKey, first));
    });
  }
}

void AttentionEmission::clearOutputs() {
  for (int64_t head = 0; head < heads; ++head)
    b.forVectors(paddedValue, lanes, [&](Value first, int64_t) {
      b.store(b.splat(0.0f, lanes), scratchRow(outputs, head, paddedValue, first));
    });
}

/// Step 1 without scale: dot products of keys [first, end) with the queries of all heads.
void AttentionEmission::emitScores(Value start, Value first, Value end) {
  b.loop(first, end, 1, [&](Value place) {
    Value key = cacheHead(op.getKey(), keyCache, place);
    Value quantScale = loadCacheScale(b, keyCache, key);
    llvm::SmallVector<Value> sums(heads, b.splat(0.0f, lanes));
    sums = b.forVectors(keySize, lanes, sums, [&](Value at, int64_t count, ValueRange state) {
      Value k = loadCacheFloats(b, keyCache, key, at, count, lanes);
      llvm::SmallVector<Value> next;
      for (int64_t head = 0; head < heads; ++head) {
        Value q = b.load(b.f32s(lanes), scratchRow(queries, head, paddedKey, at));
        next.push_back(b.keepTail(b.fma(q, k, state[head]), state[head], count));
      }
      return next;
    });
    for (int64_t head = 0; head < heads; ++head) {
      Value sum = b.combineLanes(sums[head], order.getTree());
      b.store(quantScale ? b.fmul(sum, quantScale) : sum,
              scratchRow(scores, head, block, b.sub(place, start)));
    }
    if (op.getBias())
      copyBias(place, start);
  });
}

/// Takes the bias of the key at `place` to scratch, from where vectors of it are loaded: those
/// of the operand end with the last key.
void AttentionEmission::copyBias(Value place, Value start) {
  RankedTensorType type = op.getBias().getType();
  int64_t bytes = elementBytes(type.getElementType());
  BiasLines lines(op);
  int64_t pitch = lines.ofHead * lines.keys * bytes; // from one head to the next
  for (int64_t head = 0; head < biasHeads; ++head) {
    Value source = b.advance(biasRow, b.add(b.mul(place, bytes), head * pitch));
    b.store(b.loadFloat(type.getElementType(), source),
            scratchRow(biases, head, block, b.sub(place, start)));
  }
}

/// Adds bias and slopes to a vector of scores, of keys `first` and on of the block at `start`, as
/// which `index` counts them.
Value AttentionEmission::addToScores(Value scores, int64_t head, Value start, int64_t first,
                                     Value index) {
  if (!slopes.empty()) {
    Value offset = b.splat(b.sub(start, rowPosition), lanes);
    Value distance = arith::AddIOp::create(b, index, offset);
    distance = arith::SIToFPOp::create(b, b.f32s(lanes), distance);
    distance = math::AbsFOp::create(b, distance);
    scores = b.fsub(scores, b.fmul(b.splat(slopes[head], lanes), distance));
  }
  if (!op.getBias())
    return scores;
  Value at = scratchRow(biases, biasHeads == 1 ? 0 : head, block, b.i64(first));
  return b.fadd(scores, b.load(b.f32s(lanes), at));
}

/// `largest`, or `other` where it is −∞: a bias has hidden all keys.
Value AttentionEmission::finiteOr(Value largest, float other) {
  Value none = b.splat(-std::numeric_limits<float>::infinity(), 0);
  Value isNone = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, none);
  return b.select(isNone, b.splat(other, 0), largest);
}

/// A vector of scores of the block at `start`, from its key `first` on: scaled, soft-capped, with
/// what is added to them, −∞ outside the range of keys.
Value AttentionEmission::scoresInRange(int64_t head, Value start, int64_t first) {
  auto indices = VectorType::get({lanes}, b.getI64Type());
  llvm::SmallVector<int64_t> counting(lanes);
  std::iota(counting.begin(), counting.end(), 0);
  Value lane =
      arith::ConstantOp::create(b, DenseElementsAttr::get(indices, llvm::ArrayRef(counting)));
  Value low = b.splat(b.sub(firstKey, start), lanes), high = b.splat(b.sub(endKey, start), lanes);
  Value minusInfinity = b.splat(-std::numeric_limits<float>::infinity(), lanes);
  float cap = op.getSoftcap().convertToDouble();
  Value s = b.load(b.f32s(lanes), scratchRow(scores, head, block, b.i64(first)));
  s = b.fmul(s, b.splat(static_cast<float>(op.getScale().convertToDouble()), lanes));
  if (cap > 0)
    s = b.fmul(b.tanh(b.fdiv(s, b.splat(cap, lanes))), b.splat(cap, lanes));
  Value index = b.add(lane, b.splat(b.i64(first), lanes));
  s = addToScores(s, head, start, first, index);
  Value inRange =
      arith::AndIOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, index, low),
                            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, index, high));
  return b.select(inRange, s, minusInfinity);
}

/// Step 2: replaces the scores of `head` by p; returns the new maximum and r, updates the sum.
std::pair<Value, Value> AttentionEmission::emitSoftmax(int64_t head, Value start, Value oldMax,
                                                       Value& sum) {
  llvm::SmallVector<Value> parts;
  Value greatest = b.splat(oldMax, lanes);
  for (int64_t first = 0; first < block; first += lanes) {
    parts.push_back(scoresInRange(head, start, first));
    greatest = b.fmax(parts.back(), greatest);
  }
  Value newMax = b.greatestLane(greatest);
  Value base = op.getBias() ? finiteOr(newMax, 0.0f) : newMax;
  Value shift = b.splat(base, lanes), total = b.splat(0.0f, lanes);
  for (auto [index, part] : llvm::enumerate(parts)) {
    Value p = b.exp(b.fsub(part, shift));
    b.store(p, scratchRow(scores, head, block, b.i64(index * lanes)));
    total = b.fadd(total, p);
  }
  Value correction = b.lane(b.exp(b.splat(b.fsub(oldMax, base), 1)), 0);
  sum = b.fadd(b.fmul(sum, correction), b.combineLanes(total, order.getTree()));
  return {newMax, correction};
}

/// Step 3, a few vectors of the value at a time so that the sums of all heads stay in registers.
void AttentionEmission::emitValues(Value start, Value first, Value end,
                                   llvm::ArrayRef<Value> corrections) {
  constexpr int64_t accumulators = 16;
  int64_t vectors = std::max<int64_t>(accumulators / heads, 1);
  b.forVectors(valueSize, vectors * lanes, [&](Value at, int64_t count) {
    llvm::SmallVector<Value> sums;
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t part = 0; part < count; part += lanes) {
        Value place = scratchRow(outputs, head, paddedValue, b.add(at, part));
        Value correction = b.splat(corrections[head], lanes);
        sums.push_back(b.fmul(b.load(b.f32s(lanes), place), correction));
      }
    sums = b.loop(first, end, 1, sums, [&](Value place, ValueRange state) {
      Value value = cacheHead(op.getValue(), valueCache, place);
      Value quantScale = loadCacheScale(b, valueCache, value);
      llvm::SmallVector<Value> loaded, next;
      for (int64_t part = 0; part < count; part += lanes)
        loaded.push_back(loadCacheFloats(b, valueCache, value, b.add(at, part),
                                         std::min(lanes, count - part), lanes));
      for (int64_t head = 0; head < heads; ++head) {
        Value weight = b.load(b.getF32Type(), scratchRow(scores, head, block, b.sub(place, start)));
        Value p = b.splat(quantScale ? b.fmul(weight, quantScale) : weight, lanes);
        for (Value v : loaded)
          next.push_back(b.fma(p, v, state[next.size()]));
      }
      return next;
    });
    size_t index = 0;
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t part = 0; part < count; part += lanes)
        b.store(sums[index++], scratchRow(outputs, head, paddedValue, b.add(at, part)));
  });
}

/// One block of keys; the state is the maximum of every head, then the sum of every head.
llvm::SmallVector<Value> AttentionEmission::emitBlock(Value start, ValueRange state) {
  Value first = b.max(start, firstKey), end = b.min(b.add(start, block), endKey);
  emitScores(start, first, end);
  llvm::SmallVector<Value> maxima, sums, corrections;
  for (int64_t head = 0; head < heads; ++head) {
    Value sum = state[heads + head];
    auto [newMax, correction] = emitSoftmax(head, start, state[head], sum);
    maxima.push_back(newMax), sums.push_back(sum), corrections.push_back(correction);
  }
  emitValues(start, first, end, corrections);
  maxima.append(sums);
  return maxima;
}

/// What the sums of `head` are divided by: its total, and the weight of its sink. Where a bias has
/// hidden all keys, the sums are zeros and so are the results.
Value AttentionEmission::emitDenominator(int64_t head, ValueRange state) {
  Value total = state[heads + head];
  if (auto sinks = op.getSinks()) {
    Value exponent = b.fsub(loadOfHead(sinks, head), state[head]);
    return b.fadd(total, b.lane(b.exp(b.splat(exponent, 1)), 0));
  }
  if (!op.getBias())
    return total;
  Value isEmpty = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, b.splat(0.0f, 0));
  return b.select(isEmpty, b.splat(1.0f, 0), total);
}

void AttentionEmission::storeResult(Value row, ValueRange state) {
  for (int64_t head = 0; head < heads; ++head) {
    Value target = b.add(b.add(b.mul(row, queryHeads), firstHead), head);
    Value sum = b.splat(emitDenominator(head, state), lanes);
    b.forVectors(valueSize, lanes, [&](Value first, int64_t count) {
      Value output = b.load(b.f32s(lanes), scratchRow(outputs, head, paddedValue, first));
      storeRow(context, op.getResult(), target, first, b.fdiv(output, sum), count);
    });
  }
}

/// The row of the weights, [Hq · M, C], of the tile's head `head`.
Value AttentionEmission::weightRow(Value row, int64_t head) {
  return b.add(b.mul(b.add(firstHead, head), rows), row);
}

bool AttentionEmission::givesWeights() {
  return op.getWeights() && !context.destinations(op.getWeights()).empty();
}

/// The weights of keys [start, start + count), of which some are in the range.
void AttentionEmission::storeBlockWeights(Value row, Value start, int64_t count, ValueRange state,
                                          llvm::ArrayRef<Value> denominators) {
  emitScores(start, b.max(start, firstKey), b.min(b.add(start, count), endKey));
  for (int64_t head = 0; head < heads; ++head) {
    Value shift = b.splat(op.getBias() ? finiteOr(state[head], 0.0f) : state[head], lanes);
    Value divisor = b.splat(denominators[head], lanes);
    for (int64_t first = 0; first < count; first += lanes) {
      Value p = b.exp(b.fsub(scoresInRange(head, start, first), shift));
      storeRow(context, op.getWeights(), weightRow(row, head), b.add(start, first),
               b.fdiv(p, divisor), std::min(lanes, count - first));
    }
  }
}

/// The weights of all keys, 0 of those outside the range.
void AttentionEmission::storeWeights(Value row, ValueRange state) {
  llvm::SmallVector<Value> denominators;
  for (int64_t head = 0; head < heads; ++head)
    denominators.push_back(emitDenominator(head, state));
  b.forVectors(keyCache.capacity, block, [&](Value start, int64_t count) {
    Value isBefore = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, start, endKey);
    Value isBehind =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, b.add(start, count), firstKey);
    b.branch(
        arith::AndIOp::create(b, isBefore, isBehind),
        [&] { storeBlockWeights(row, start, count, state, denominators); },
        [&] {
          for (int64_t head = 0; head < heads; ++head)
            for (int64_t first = 0; first < count; first += lanes)
              storeRow(context, op.getWeights(), weightRow(row, head), b.add(start, first),
                       b.splat(0.0f, lanes), std::min(lanes, count - first));
        });
  });
}

void AttentionEmission::storeZeros(Value row) {
  if (givesWeights())
    for (int64_t head = 0; head < heads; ++head)
      b.forVectors(keyCache.capacity, lanes, [&](Value first, int64_t count) {
        storeRow(context, op.getWeights(), weightRow(row, head), first, b.splat(0.0f, lanes),
                 count);
      });
  Value start = b.add(b.mul(row, queryHeads), firstHead);
  b.loop(start, b.add(start, heads), 1, [&](Value target) {
    b.forVectors(valueSize, lanes, [&](Value first, int64_t count) {
      storeRow(context, op.getResult(), target, first, b.splat(0.0f, lanes), count);
    });
  });
}

/// Over the keys of all ranges; one of them has some.
void AttentionEmission::attend(Value row, llvm::ArrayRef<KeyRange> ranges) {
  llvm::SmallVector<Value> state(heads, b.splat(-std::numeric_limits<float>::infinity(), 0));
  state.append(heads, b.splat(0.0f, 0));
  clearOutputs();
  loadScoreOperands(row);
  for (const KeyRange& range : ranges) {
    loadQuery(b.add(row, range.view * rows));
    firstKey = range.first, endKey = range.end;
    Value isEmpty = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, firstKey, endKey);
    Value start = b.sub(firstKey, b.rem(firstKey, block));
    if (ranges.size() > 1)
      start = b.select(isEmpty, endKey, start);
    state = b.loop(start, endKey, block, state, [&](Value blockStart, ValueRange current) {
      return emitBlock(blockStart, current);
    });
  }
  storeResult(row, state);
  if (givesWeights())
    storeWeights(row, state);
}

LogicalResult AttentionEmission::emit(Value tile) {
  if (failed(checkSchedule()))
    return failure();
  allocate();
  Value row = b.div(tile, queryHeads / heads);
  firstHead = b.mul(b.rem(tile, queryHeads / heads), heads);
  keyHead = b.div(firstHead, queryHeads / keyCache.heads);
  AttentionRows of(op);
  Value part = of.sequences == 1 ? b.i64(0) : of.rows == 1 ? row : b.div(row, of.rows);
  sequence = b.loadIndex(context.pointer(op.getSequences()), part);
  rowPosition = b.loadIndex(context.pointer(op.getPositions()), row);
  llvm::SmallVector<KeyRange, 3> ranges = findRanges();
  Value attends = arith::AndIOp::create(
      b, b.isBelow(sequence, keyCache.sequences),
      arith::CmpIOp::create(b, arith::CmpIPredicate::sge, rowPosition, b.i64(0)));
  // An active row over a ring sees its own key.
  if (!keyCache.isRing())
    attends =
        arith::AndIOp::create(b, attends,
                              arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                                    ranges.front().first, ranges.front().end));
  b.branch(attends, [&] { attend(row, ranges); }, [&] { storeZeros(row); });
  return success();
}

static LogicalResult emitAttention(KernelContext& context, Value tile) {
  FailureOr<AttentionKernel> kernel = context.read<AttentionKernel>();
  return failed(kernel) ? failure() : AttentionEmission(context, *kernel).emit(tile);
}

extern constexpr Emitter attention = {AttentionKernel::name, emitAttention};

} // namespace tenon::codegen::cpu::emitters
