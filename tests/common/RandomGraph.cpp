#include "tests/common/RandomGraph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/common/GraphMaker.h"

using namespace mlir;

namespace tenon::tests {

using frontends::AttentionOptions;
using frontends::StateValue;
using frontends::Value;

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

/// A product, at times with a bias, an activation or both, or of an input in another order.
Value GraphMaker::matmul(Value x, int64_t width) {
  if (hasOrders && oneIn(3))
    x = builder.gather(x, argument(x.getShape(), i32(), "ids"), std::ssize(x.getShape()) - 1);
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
    areChunks = hasChunks && !oneIn(3);
    std::string chunks = areChunks ? "chunk_" : "";
    rowSequences =
        argument({rows > mostDecodeRows && !areChunks ? 1 : rows}, i32(), chunks + "sequences");
    rowPositions = argument({rows}, i32(), isStream ? "stream_positions" : chunks + "positions");
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
                                      .window = isStream || oneIn(5) ? window : 0,
                                      .areChunks = areChunks},
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
  if (hasChunks && rows <= AcceptOp::mostRows && oneIn(3)) {
    Value chosen = builder.argmax(matmul(x, 3));
    auto [accepted, nextIds, nextPositions] =
        builder.accept(chosen, argument({rows}, i32(), "guess_ids"),
                       argument({rows}, i32(), "guess_positions"), oneIn(2) ? chosen : Value());
    add(accepted);
    add(nextIds);
    add(nextPositions);
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

} // namespace tenon::tests
