// Steps of random graphs: those that only graphs of all operations have.
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tests/common/GraphMaker.h"

using namespace mlir;

namespace tenon::tests {

using frontends::GraphBuilder;
using frontends::Value;

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

/// Elements that indices choose or place, transforms of sums of a row's first elements, windows of a
/// convolution, remainders of arguments.
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
  case 4: {
    Value sums = builder.cumulativeSum(builder.scale(x, 0.0625));
    if (width % 8 != 0)
      return sums;
    Value heads = builder.reshape(sums, {rows, width / 8, 8});
    return builder.reshape(builder.hadamard(heads), {rows, width});
  }
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
  if (hasIntegers && oneIn(2))
    return integers(x);
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

} // namespace tenon::tests
