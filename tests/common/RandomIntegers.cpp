// Steps of random graphs: integers of 32 and 64 bits, bools, and weights of attention.
#include "tests/common/GraphMaker.h"

using namespace mlir;

namespace tenon::tests {

using frontends::AttentionOptions;
using frontends::GraphBuilder;
using frontends::OpOptions;
using frontends::Value;

/// What bools of arguments choose, hide or multiply.
Value GraphMaker::masked(Value x) {
  Type type = oneIn(2) ? i64() : i32();
  int64_t width = widthOf(x);
  Value integers = argument({rows, width}, type, "ids"), row = argument({width}, type, "ids");
  auto predicate = [&] { return static_cast<Predicate>(upTo(6)); };
  Value mask = builder.compare(predicate(), integers, row, {.elementType = truth()});
  if (oneIn(2))
    mask = builder.max(mask, argument({rows, 1}, truth(), "truths"), {.elementType = truth()});
  if (oneIn(2))
    mask = builder.min(builder.compare(predicate(), argument({rows, 1}), argument({width}),
                                       {.elementType = truth()}),
                       mask, {.elementType = truth()});
  if (oneIn(4))
    add(mask);
  if (oneIn(3))
    add(builder.select(mask, integers, row, {.elementType = type}));
  return oneIn(2) ? builder.select(mask, x, argument({rows, 1}))
                  : builder.mul(x, builder.cast(mask));
}

/// x and a number that integers give.
Value GraphMaker::counted(Value x) {
  Type type = oneIn(2) ? i64() : i32();
  OpOptions as = {.elementType = type};
  int64_t width = widthOf(x);
  Value a = argument({rows, width}, type, "ids"), b = argument({width}, type, "ids");
  Value bound = builder.cast(builder.constant({1}, {53.0F}), as);
  // Of small numbers, whose product the reference holds.
  Value count = builder.mul(builder.mod(a, bound, as), builder.mod(b, bound, as), as);
  count = oneIn(2) ? builder.sub(count, b, as) : builder.max(builder.min(count, b, as), bound, as);
  if (oneIn(2))
    count = builder.cumulativeSum(builder.mod(count, bound, as), as);
  if (oneIn(2))
    add(count);
  count = builder.mod(count, bound, as);
  if (oneIn(2))
    count = builder.cast(count, {.elementType = oneIn(2) ? i64() : i32()});
  return builder.add(x, builder.scale(builder.cast(count), 0.0078125));
}

/// Attention over tensors, of all rows to some keys, and its weights.
Value GraphMaker::weighed(Value x) {
  int64_t kvHeads = oneOf({1, 2}), queries = kvHeads * oneOf({1, 3}), size = oneOf({4, 16});
  int64_t keys = oneOf({3, 24, 130});
  Value query = builder.reshape(matmul(x, queries * size), {rows, queries, size});
  auto cache = [&] { return builder.scale(argument({2, keys, kvHeads, size}), 0.5); };
  AttentionOptions options{.scale = 0.25, .causal = oneIn(2), .softcap = oneIn(4) ? 20.0 : 0.0};
  if (oneIn(3))
    options.bias = argument({1, oneIn(2) ? 1 : rows, keys});
  if (oneIn(3))
    options.sinks = argument({queries}, Float32Type::get(context()));
  Value sequence = argument({1}, i32(), "sequences");
  Value place = argument({rows}, i32(), "ids");
  GraphBuilder::Attended attended =
      builder.attentionWithWeights(query, cache(), cache(), sequence, place, options);
  add(oneIn(2) ? unary(attended.weights) : attended.weights);
  return matmul(builder.reshape(attended.result, {rows, queries * size}), widthOf(x));
}

/// Integers and bools beside floats: masks, counts, indices of 64 bits, weights of attention.
Value GraphMaker::integers(Value x) {
  int64_t width = widthOf(x);
  auto indices = [&](int64_t high, int64_t wide) { return argument({high, wide}, i64(), "ids"); };
  switch (upTo(8)) {
  case 0:
  case 1:
    return masked(x);
  case 2:
  case 3:
    return counted(x);
  case 4:
    return builder.gather(x, indices(rows, oneOf({40, width})), 1);
  case 5:
    return builder.scatter(x, indices(2, width), unary(argument({2, width})), 0,
                           /*accumulate=*/oneIn(2));
  case 6: {
    Value moved = builder.transpose(argument({width, rows}, truth(), "truths"), {1, 0});
    return builder.select(moved, x, unary(x));
  }
  default:
    return builder.add(x, weighed(x));
  }
}

} // namespace tenon::tests
