#include "tests/common/RandomGraph.h"

#include <cmath>
#include <limits>
#include <random>

#include "frontends/builder/GraphBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tenon::tests {

namespace {

using frontends::AttentionOptions;
using frontends::GraphBuilder;
using frontends::StateValue;
using frontends::Value;

/// Rows of the embedding table.
constexpr int64_t ids = 50;

/// From this seed on weights are also in groups (`ir/encoding/families`): a smaller seed keeps its
/// graph.
constexpr uint64_t firstWithGroups = 1'000'000;
/// From this one on also in E2M1 numbers and in eight groups together.
constexpr uint64_t firstWithFp4 = 2'000'000;

/// From this seed on graphs of all operations also have rounding, comparisons and powers, and
/// attention with operands of its scores.
constexpr uint64_t firstWithScores = 3'000'000;

/// From this seed on graphs have mixtures of experts.
constexpr uint64_t firstWithExperts = 4'000'000;

/// From this seed on graphs with attention are streams: their caches are rings.
constexpr uint64_t firstWithStreams = 5'000'000;

/// From this seed on graphs of all operations gather and scatter, and have windows, sums of what
/// stands before and remainders.
constexpr uint64_t firstWithIndexed = 6'000'000;

/// Positions that a stream may be at.
constexpr int64_t streamPositions = int64_t(1) << 30;

/// More rows than kernels of a few rows take are consecutive tokens of one sequence, as in prefill;
/// fewer are tokens of a sequence each, as in decode.
constexpr int64_t mostDecodeRows = 16;

class GraphMaker {
public:
  GraphMaker(MLIRContext& context, uint64_t seed, GraphOps ops)
      : random(seed), hasAll(ops == GraphOps::All), hasGroups(seed >= firstWithGroups),
        hasFp4(seed >= firstWithFp4), hasScores(hasAll && seed >= firstWithScores),
        hasExperts(seed >= firstWithExperts),
        isStream(seed >= firstWithStreams && seed < firstWithIndexed),
        hasIndexed(hasAll && seed >= firstWithIndexed), builder(context, activationType(context)) {}

  absl::StatusOr<OwningOpRef<ModuleOp>> make();

private:
  Type activationType(MLIRContext& context) {
    constexpr const char* names[] = {"f32", "f16", "bf16"};
    return getElementType(&context, *findEncoding(names[upTo(3)]));
  }
  /// A number in [0, count).
  int64_t upTo(int64_t count) { return static_cast<int64_t>(random() % count); }
  bool oneIn(int64_t count) { return upTo(count) == 0; }
  int64_t oneOf(std::initializer_list<int64_t> list) { return *(list.begin() + upTo(list.size())); }
  MLIRContext* context() const { return builder.getActivationType().getContext(); }
  Type i32() { return IntegerType::get(context(), 32); }
  Value argument(llvm::ArrayRef<int64_t> shape, Type type = {}, const std::string& prefix = "a") {
    return builder.input(prefix + std::to_string(arguments++), shape, type);
  }
  int64_t widthOf(Value value) { return value.getShape().back(); }
  Type weightType(int64_t depth);
  Type groupType(int64_t depth);
  Value first(int64_t width);
  Value norm(Value x);
  Value unary(Value x);
  Value binary(Value x);
  Value elements(Value x);
  Value matmul(Value x, int64_t width);
  Value gated(Value x);
  Value mixture(Value x);
  Value swapped(Value x);
  Value onePlus(Value x);
  Value otherUnary(Value x);
  Value otherBinary(Value x);
  Value stepped(Value x);
  Value indexed(Value x);
  AttentionOptions scored(AttentionOptions options, int64_t queries);
  Value moved(Value x);
  Value dequantized(Value x);
  Value other(Value x);
  void addSelection(Value x);
  void add(Value value) { builder.output("y" + std::to_string(outputs++), value); }
  Value attention(Value x);
  Value block(Value x);
  Value next(Value x);
  Value heads(Value x, int64_t count, int64_t size, bool normed, int64_t views = 1);
  Value rotated(Value x, Value positions);
  StateValue written(Value values);
  void finish(Value x);

  std::mt19937_64 random;
  bool hasAll;     ///< operations
  bool hasGroups;  ///< weights
  bool hasFp4;     ///< among them
  bool hasScores;  ///< operands of attention's scores, and what came with them
  bool hasExperts; ///< mixtures of them
  bool isStream;
  bool hasIndexed; ///< elements chosen by index, and what came with them
  GraphBuilder builder;
  int arguments = 0, states = 0, outputs = 0;
  int64_t rows = 1, capacity = 24;
  Value rowSequences, rowPositions; ///< once an attention needs them
  int64_t kept = 0;                 ///< of a ring
  std::vector<Value> pool;          ///< values [rows, width]
};

} // namespace

Value GraphMaker::norm(Value x) {
  Value weight = argument({widthOf(x)}, builder.getActivationType());
  switch (upTo(8)) {
  case 0:
    return builder.softmax(x);
  case 1:
  case 2:
  case 3:
    return builder.layerNorm(x, weight, argument({widthOf(x)}), 1e-5);
  default:
    return builder.rmsNorm(x, weight, 1e-6);
  }
}

Value GraphMaker::unary(Value x) {
  switch (upTo(6)) {
  case 0:
    return builder.silu(x);
  case 1:
    return builder.geluTanh(x);
  case 2:
    return builder.relu(x);
  case 3:
    return builder.scale(x, 0.75);
  case 4:
    return builder.tanh(x);
  default:
    return builder.neg(x);
  }
}

/// With a value of the same width from earlier on (a residual), or a vector (a bias).
Value GraphMaker::binary(Value x) {
  std::vector<Value> same;
  for (Value value : pool)
    if (widthOf(value) == widthOf(x))
      same.push_back(value);
  Value other = same.empty() || oneIn(3) ? argument({widthOf(x)}) : same[upTo(same.size())];
  switch (upTo(4)) {
  case 0:
    return builder.mul(x, other);
  case 1:
    return builder.sub(other, x);
  default:
    return builder.add(x, other);
  }
}

/// A chain of elementwise operations.
Value GraphMaker::elements(Value x) {
  for (int64_t left = 2 + upTo(4); left > 0; --left)
    x = oneIn(2) ? unary(x) : binary(x);
  return x;
}

/// An encoding of a family whose groups divide the row.
Type GraphMaker::groupType(int64_t depth) {
  std::vector<std::string_view> names;
  auto has = [](std::string_view name, std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  for (const Encoding* encoding : allEncodings()) {
    std::string_view name = encoding->name;
    bool isLater = has(name, "fp4") || has(name, "x8");
    bool isOfFamily = name.starts_with("int") || name.starts_with("e4m3") || isLater;
    if (isOfFamily && (hasFp4 || !isLater) && depth % encoding->blockSize == 0)
      names.push_back(name);
  }
  if (hasFp4 && oneIn(2))
    std::erase_if(names,
                  [&](std::string_view name) { return !has(name, "fp4") && !has(name, "x8"); });
  return BlockType::get(context(), names[upTo(std::ssize(names))]);
}

/// Mostly the activations' type, at times f16, or blocks where they divide the row.
Type GraphMaker::weightType(int64_t depth) {
  if (hasGroups && depth % 32 == 0 && oneIn(3))
    return groupType(depth);
  constexpr const char* of256[] = {"q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};
  constexpr const char* of32[] = {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl"};
  if (depth % 256 == 0 && oneIn(10))
    return BlockType::get(context(), of256[upTo(std::size(of256))]);
  if (depth % 32 == 0 && oneIn(10))
    return BlockType::get(context(), of32[upTo(std::size(of32))]);
  return oneIn(12) ? Float16Type::get(context()) : builder.getActivationType();
}

/// A product, at times with a bias, an activation or both.
Value GraphMaker::matmul(Value x, int64_t width) {
  Value y = builder.matmul(x, argument({width, widthOf(x)}, weightType(widthOf(x))));
  if (oneIn(3))
    y = builder.add(y, argument({width}));
  return oneIn(4) ? unary(y) : y;
}

/// norm → gate, up → glu → down → residual.
Value GraphMaker::gated(Value x) {
  Value normed = norm(x);
  int64_t width = oneOf({96, 130});
  Type type = weightType(widthOf(x));
  auto half = [&] { return builder.matmul(normed, argument({width, widthOf(x)}, type)); };
  Value gate = half(), up = half();
  Value hidden = builder.glu(oneIn(2) ? Activation::Silu : Activation::GeluTanh, gate, up);
  return builder.add(x, matmul(hidden, widthOf(x)));
}

/// norm → gate, up, glu and down of experts that ids choose, some twice and some of none → weighted
/// sum → residual.
Value GraphMaker::mixture(Value x) {
  int64_t chosen = oneOf({1, 2, 5}), experts = oneOf({8, ids}), width = oneOf({32, 96, 130});
  Value normed = norm(x), which = argument({rows, chosen}, i32(), "ids");
  auto products = [&](Value input, int64_t outputs) {
    Type type = weightType(widthOf(input));
    return builder.expertMatmul(input, argument({experts, outputs, widthOf(input)}, type), which);
  };
  Activation activation = oneIn(2) ? Activation::Silu : Activation::GeluTanh;
  Value gate = products(normed, width), up = products(normed, width);
  Value y = products(builder.glu(activation, gate, up), widthOf(x));
  if (oneIn(4))
    y = unary(y);
  y = builder.weightedSum(y, argument({rows, chosen}));
  return oneIn(4) ? y : builder.add(x, y);
}

/// Both halves of every row, each other's places taken; the halves of odd rows begin at no multiple
/// of anything.
Value GraphMaker::swapped(Value x) {
  int64_t width = widthOf(x), half = width / 2;
  Value low = builder.slice(x, {0, 0}, {rows, half}, {1, 1});
  Value high = builder.slice(x, {0, half}, {rows, width - half}, {1, 1});
  return builder.concat({oneIn(2) ? unary(high) : high, low}, 1);
}

Value GraphMaker::onePlus(Value x) {
  std::vector<float> ones(oneIn(2) ? 1 : widthOf(x), 1.0f);
  return builder.add(x, builder.constant({static_cast<int64_t>(ones.size())}, ones));
}

/// Functions that models do not have, of arguments where an error of x stays one of its size.
Value GraphMaker::otherUnary(Value x) {
  switch (upTo(12)) {
  case 0:
    return builder.abs(x);
  case 1:
    return builder.cos(builder.scale(x, 0.25));
  case 2:
    return builder.sin(builder.scale(x, 0.25));
  case 3:
    return builder.erf(x);
  case 4:
    return builder.exp(builder.neg(builder.abs(x)));
  case 5:
    return builder.gelu(x);
  case 6:
    return builder.log(onePlus(builder.abs(x)));
  case 7:
    return builder.rsqrt(onePlus(builder.square(builder.tanh(x))));
  case 8:
    return builder.sqrt(onePlus(builder.square(builder.tanh(x))));
  case 9:
    return builder.sigmoid(x);
  case 10:
    return builder.square(builder.tanh(x));
  default:
    Type other = oneIn(2) ? Type(Float16Type::get(context())) : Float32Type::get(context());
    return builder.cast(
        builder.scale(builder.cast(x, {.elementType = other}), 0.5, {.elementType = other}));
  }
}

Value GraphMaker::otherBinary(Value x) {
  Value other = oneIn(2) ? argument({widthOf(x)}) : argument({rows, 1});
  switch (upTo(3)) {
  case 0:
    return builder.max(x, other);
  case 1:
    return builder.min(other, x);
  default:
    return builder.div(x, onePlus(builder.abs(argument({widthOf(x)}))));
  }
}

/// Functions that jump, of arguments, which are the same everywhere; powers and bounds of x.
Value GraphMaker::stepped(Value x) {
  Value row = argument({widthOf(x)}), column = argument({rows, 1});
  switch (upTo(8)) {
  case 0:
    return builder.add(x, builder.floor(builder.scale(row, 4)));
  case 1:
    return builder.sub(x, builder.ceil(builder.scale(column, 4)));
  case 2:
    return builder.add(x, builder.round(builder.scale(row, 8)));
  case 3:
    return builder.mul(x, builder.sign(column));
  case 4:
    return builder.add(builder.trunc(builder.scale(row, 2)), x);
  case 5:
    return builder.clamp(x, -0.5, 0.75);
  case 6:
    return builder.pow(onePlus(builder.abs(x)), row);
  default:
    Value mask = builder.compare(static_cast<Predicate>(upTo(6)), row, column);
    return builder.select(mask, x, oneIn(2) ? column : builder.tanh(x));
  }
}

/// Elements that indices choose or place, sums of a row's first elements, windows of a convolution,
/// remainders of arguments.
Value GraphMaker::indexed(Value x) {
  int64_t width = widthOf(x);
  auto indices = [&](int64_t high, int64_t wide) { return argument({high, wide}, i32(), "ids"); };
  switch (upTo(6)) {
  case 0:
    return builder.gather(x, indices(rows, oneOf({40, width})), 1);
  case 1:
    return builder.gather(unary(x), indices(rows, width), 0);
  case 2:
    return builder.scatter(x, indices(rows, 5), argument({rows, 5}), 1, /*accumulate=*/oneIn(2));
  case 3:
    return builder.scatter(x, indices(2, width), unary(argument({2, width})), 0,
                           /*accumulate=*/oneIn(2));
  case 4:
    return builder.cumulativeSum(builder.scale(x, 0.0625));
  default:
    break;
  }
  if (oneIn(2)) {
    Value divisor = onePlus(builder.abs(argument({width})));
    return builder.add(x, builder.mod(argument({rows, 1}), divisor));
  }
  Value windows = builder.patches(builder.reshape(x, {1, rows, width}), {3}, {1}, {1}, {1});
  Value y = builder.matmul(builder.reshape(windows, {width, 3 * rows}),
                           argument({rows, 3 * rows}, builder.getActivationType()));
  return builder.transpose(y, {1, 0});
}

/// Transposed and back, with something between; or every second element beside the others.
Value GraphMaker::moved(Value x) {
  int64_t width = widthOf(x);
  if (oneIn(2))
    return builder.transpose(unary(builder.transpose(x, {1, 0})), {1, 0});
  Value even = builder.slice(x, {0, 0}, {rows, (width + 1) / 2}, {1, 2});
  Value odd = builder.slice(x, {0, 1}, {rows, width / 2}, {1, 2});
  return builder.concat({odd, otherUnary(even)}, 1);
}

/// A sum with the numbers of blocks, where those divide the row.
Value GraphMaker::dequantized(Value x) {
  if (widthOf(x) % 32 != 0)
    return otherUnary(x);
  constexpr const char* names[] = {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl"};
  Type block = BlockType::get(context(), names[upTo(std::size(names))]);
  return builder.add(x, builder.dequantize(argument({rows, widthOf(x)}, block)));
}

/// A step that only graphs of all operations have.
Value GraphMaker::other(Value x) {
  if (hasIndexed && oneIn(2))
    return indexed(x);
  if (hasScores && oneIn(2))
    return stepped(x);
  switch (upTo(6)) {
  case 0:
    return otherBinary(x);
  case 1:
    return moved(x);
  case 2:
    return dequantized(x);
  case 3:
    return otherUnary(matmul(norm(x), oneOf({40, 64})));
  case 4:
    return otherBinary(otherUnary(unary(x)));
  default:
    return otherUnary(binary(otherUnary(x)));
  }
}

/// The largest of each row, with or without their places; a row's mean or smallest.
void GraphMaker::addSelection(Value x) {
  if (oneIn(2)) {
    GraphBuilder::TopK top = builder.topK(x, oneOf({1, 3, 8}));
    add(top.values);
    if (oneIn(2))
      add(top.indices);
  }
  if (oneIn(2))
    add(oneIn(2) ? builder.reduce(ReduceKind::Mean, builder.abs(x))
                 : builder.reduce(ReduceKind::Min, x));
}

Value GraphMaker::heads(Value x, int64_t count, int64_t size, bool normed, int64_t views) {
  Value split = builder.reshape(x, {rows, count, size});
  if (normed)
    split = builder.rmsNorm(split, argument({size}), 1e-6);
  return views == 1 ? split : builder.concat(std::vector<Value>(views, split), 0);
}

Value GraphMaker::rotated(Value x, Value positions) {
  int64_t size = widthOf(x);
  RopePairing pairing = oneIn(2) ? RopePairing::Halves : RopePairing::Adjacent;
  int64_t turned = pairing == RopePairing::Halves ? size / 2 : size / 4; // pairs
  Type f32 = Float32Type::get(context());
  return builder.rope(pairing, x, positions, argument({turned}, f32, "frequencies"));
}

StateValue GraphMaker::written(Value values) {
  std::string name = "s" + std::to_string(states++);
  llvm::ArrayRef<int64_t> shape = values.getShape();
  int64_t sequences = rowSequences.getShape()[0] + 2;
  auto layout =
      StateLayoutAttr::get(context(), isStream ? StateLayout::Ring : StateLayout::Dense, kept);
  builder.declareState(name, {sequences, capacity, shape[1], shape[2]}, builder.getActivationType(),
                       layout);
  return builder.kvWrite(values, rowSequences, rowPositions, builder.state(name));
}

/// With bias, slopes and sinks at times, over a ring with sinks alone.
AttentionOptions GraphMaker::scored(AttentionOptions options, int64_t queries) {
  if (!hasScores)
    return options;
  if (!isStream && oneIn(3))
    options.bias = argument({oneIn(2) ? 1 : queries, oneIn(2) ? 1 : rows, capacity});
  if (!isStream && oneIn(3))
    options.slopes = builder.abs(argument({queries}));
  if (oneIn(3))
    options.sinks = argument({queries}, Float32Type::get(context()));
  return options;
}

/// norm → Q, K, V → (norm of heads) → rope → cache write → attention → product.
Value GraphMaker::attention(Value x) {
  if (!rowPositions) {
    rowSequences = argument({rows > mostDecodeRows ? 1 : rows}, i32(), "sequences");
    rowPositions = argument({rows}, i32(), isStream ? "stream_positions" : "positions");
    kept = isStream ? oneOf({0, 1, 4}) : 0;
  }
  constexpr int64_t window = 7;
  const int64_t views = isStream ? 3 : 1;
  int64_t size = widthOf(x) == 64 ? 16 : 32, kvHeads = oneOf({1, 2}), queries = 2;
  bool normed = oneIn(3), rotates = !oneIn(6), causal = true;
  if (hasAll) {
    size = oneOf({4, 8, 24, 40, 64, 128});
    kvHeads = oneOf({1, 2, 3}), queries = kvHeads * oneOf({1, 2, 5});
    causal = isStream || !oneIn(3);
  }
  Value input = norm(x);
  Type type = weightType(widthOf(x));
  auto project = [&](int64_t count) {
    Value y = builder.matmul(input, argument({count * size, widthOf(x)}, type));
    return oneIn(4) ? builder.add(y, argument({count * size})) : y;
  };
  Value query = project(queries), key = project(kvHeads), value = project(kvHeads);
  auto placesOf = [&](int64_t count) {
    return isStream ? builder.ringPlaces(rowPositions, {kept, capacity - kept, window}, count)
                    : rowPositions;
  };
  query = heads(query, queries, size, normed, views);
  if (rotates)
    query = rotated(query, placesOf(views));
  key = heads(key, kvHeads, size, normed);
  if (rotates)
    key = rotated(key, placesOf(1));
  StateValue keys = written(key);
  StateValue values = written(heads(value, kvHeads, size, false));
  Value y = builder.attention(query, keys, values, rowSequences, rowPositions,
                              scored({.scale = 1 / std::sqrt(static_cast<double>(size)),
                                      .causal = causal,
                                      .softcap = oneIn(5) ? 20.0 : 0.0,
                                      .window = isStream || oneIn(5) ? window : 0},
                                     queries));
  return matmul(builder.reshape(y, {rows, queries * size}), widthOf(x));
}

/// A parallel residual: (mlp + attention) + x, with a product alone at times for the attention; or
/// both halves one after the other.
Value GraphMaker::block(Value x) {
  if (oneIn(3))
    return gated(builder.add(x, attention(x)));
  Value mlp = matmul(unary(matmul(norm(x), 96)), widthOf(x));
  Value other = oneIn(3) ? matmul(norm(x), widthOf(x)) : attention(x);
  return builder.add(builder.add(mlp, other), x);
}

Value GraphMaker::next(Value x) {
  if (isStream && oneIn(2))
    return builder.add(x, attention(x));
  if (hasExperts && oneIn(2))
    return mixture(x);
  if (hasAll && oneIn(2))
    return other(x);
  switch (upTo(14)) {
  case 0:
    return norm(x);
  case 1:
  case 2:
    return gated(x);
  case 3:
  case 4:
    return builder.add(x, attention(x));
  case 5:
  case 6:
    return block(x);
  case 7:
    return binary(norm(x));
  case 8:
    return unary(matmul(x, oneOf({64, 257})));
  case 9:
    return norm(binary(x));
  case 10:
    return matmul(norm(x), oneOf({33, 64}));
  case 11:
    return swapped(x);
  default:
    return elements(x);
  }
}

/// An embedding, at times the sum of two, or an argument.
Value GraphMaker::first(int64_t width) {
  if (oneIn(3))
    return argument({rows, width});
  Value x = builder.embedding(argument({ids, width}), argument({rows}, i32(), "ids"));
  return oneIn(3) ? builder.add(x, builder.embedding(argument({ids, width}),
                                                     argument({rows}, i32(), "ids")))
                  : x;
}

/// At times a head: the largest of its results, with or without them; a sum or maximum of rows.
void GraphMaker::finish(Value x) {
  if (hasAll && oneIn(2))
    addSelection(x);
  if (oneIn(3)) {
    Value logits = matmul(oneIn(2) ? norm(x) : x, 301);
    add(builder.argmax(logits));
    if (oneIn(2))
      add(logits);
  }
  if (oneIn(5))
    add(builder.reduce(oneIn(2) ? ReduceKind::Sum : ReduceKind::Max, pool[upTo(pool.size())]));
  for (Value value : pool) {
    bool isArgument = !value || llvm::isa<BlockArgument>(value.get());
    if (!isArgument && (value.get().use_empty() || oneIn(8)))
      add(value);
  }
  // Rows that the warps of a block share.
  if (rows > 2 && rows <= 16 && oneIn(3))
    add(matmul(norm(matmul(x, 3848)), 72));
}

absl::StatusOr<OwningOpRef<ModuleOp>> GraphMaker::make() {
  rows = oneOf({1, 1, 1, 1, 3, 3, 11, 40});
  capacity = rows > mostDecodeRows ? 64 : oneOf({24, 24, 24, 600});
  builder.beginFunction("f");
  int64_t width = oneOf({33, 64, 256, 257});
  pool.push_back(first(width));
  int64_t steps = 1 + upTo(hasAll ? 2 : 3);
  for (int64_t step = 0; step < steps; ++step) {
    // Mostly a chain; at times a branch from earlier on.
    Value from = oneIn(5) ? pool[upTo(pool.size())] : pool.back();
    pool.push_back(next(from));
  }
  finish(pool.back());
  builder.endFunction();
  return builder.finish();
}

absl::StatusOr<OwningOpRef<ModuleOp>> makeRandomGraph(MLIRContext& context, uint64_t seed,
                                                      GraphOps ops) {
  context.loadDialect<TenonDialect, func::FuncDialect>();
  auto module = GraphMaker(context, seed, ops).make();
  constexpr uint64_t quantizedEvery = 8;
  if (module.ok() && ops == GraphOps::All && seed % quantizedEvery == 0)
    (**module)->setAttr(TenonDialect::quantizeAttrName, UnitAttr::get(&context));
  return module;
}

/// Extent `axis` of the caches, 0 for sequences and 1 for positions; 0 where there are no caches.
static int64_t findExtent(ModuleOp graph, unsigned axis) {
  auto states = graph.getOps<StateOp>();
  return states.empty() ? 0 : llvm::cast<StateType>((*states.begin()).getType()).getShape()[axis];
}

/// At or beyond an end of [0, count).
static double wildIndex(int64_t count, std::mt19937_64& random) {
  const int64_t ends[] = {-1,        0,         count - 1,        count, count + 1, -count,
                          INT32_MAX, INT32_MIN, INT32_MAX - count};
  return static_cast<double>(ends[random() % std::size(ends)]);
}

/// Every second number of an integer argument, of the range that its name says.
static void makeWild(ReferenceTensor& values, llvm::StringRef name, int64_t sequences,
                     int64_t capacity, std::mt19937_64& random) {
  int64_t count = name.starts_with("positions")          ? capacity
                  : name.starts_with("stream_positions") ? streamPositions
                  : name.starts_with("ids")              ? ids
                                                         : sequences;
  for (double& value : values.getValues())
    if (random() % 2 == 0)
      value = wildIndex(count, random);
}

static void makeSpecial(ReferenceTensor& values, std::mt19937_64& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double special[] = {std::numeric_limits<double>::quiet_NaN(),
                                infinity,
                                -infinity,
                                0.0,
                                -0.0,
                                0x1p-140,
                                -0x1p-24,
                                std::numeric_limits<float>::max(),
                                std::numeric_limits<float>::lowest(),
                                65504,
                                1e-30};
  constexpr uint64_t oneIn = 16;
  for (double& value : values.getValues())
    if (random() % oneIn == 0)
      value = special[random() % std::size(special)];
}

/// An integer argument: ids anywhere, a sequence of its own a row, positions in the first half of
/// the caches or of those of a stream, or consecutive ones where rows share a sequence.
static void fillIndices(ReferenceTensor& values, llvm::StringRef name, int64_t capacity,
                        std::mt19937_64& random) {
  auto upTo = [&](int64_t count) { return static_cast<int64_t>(random() % count); };
  int64_t count = values.getNumElements();
  const bool areOfStream = name.starts_with("stream_positions");
  bool isChunk = count > mostDecodeRows,
       arePositions = areOfStream || name.starts_with("positions");
  if (areOfStream)
    capacity = streamPositions;
  int64_t first = isChunk && arePositions ? upTo(capacity - count + 1) : 0;
  for (auto [element, value] : llvm::enumerate(values.getValues())) {
    auto number = static_cast<int64_t>(element);
    if (!name.starts_with("sequences") && !(arePositions && isChunk))
      number = upTo(arePositions ? capacity / 2 : ids);
    value = static_cast<double>(first + number);
  }
}

std::vector<ReferenceTensor> makeRandomInputs(ModuleOp graph, uint64_t seed, InputValues kind) {
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15);
  std::vector<ReferenceTensor> inputs;
  int64_t sequences = findExtent(graph, 0), capacity = findExtent(graph, 1);
  auto function = *graph.getOps<func::FuncOp>().begin();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = llvm::cast<RankedTensorType>(type);
    auto name = function.getArgAttrOfType<StringAttr>(index, TenonDialect::portAttrName);
    bool isInteger = tensor.getElementType().isInteger(), isMatrix = tensor.getRank() == 2;
    double scale = isMatrix ? 2 / std::sqrt(static_cast<double>(tensor.getShape().back())) : 1;
    ReferenceTensor values(tensor);
    if (isInteger)
      fillIndices(values, name.getValue(), capacity, random);
    else
      for (double& value : values.getValues())
        value = scale * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    if (isInteger && kind == InputValues::WildIndices)
      makeWild(values, name.getValue(), sequences, capacity, random);
    if (!isInteger && kind == InputValues::SpecialFloats)
      makeSpecial(values, random);
    if (isInteger || !llvm::isa<BlockType>(tensor.getElementType())) {
      values.roundToElementType();
      inputs.push_back(values);
      continue;
    }
    auto bytes = std::make_shared<std::vector<std::byte>>(values.encode());
    inputs.emplace_back(tensor, *bytes, bytes);
  }
  return inputs;
}

} // namespace tenon::tests
