#include "tests/common/RandomGraph.h"

#include <cmath>
#include <random>

#include "frontends/builder/GraphBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace tenon::tests {

namespace {

using frontends::GraphBuilder;
using frontends::Value;

class GraphMaker {
public:
  GraphMaker(MLIRContext& context, uint64_t seed)
      : random(seed), builder(context, activationType(context)) {}

  absl::StatusOr<OwningOpRef<ModuleOp>> make();

private:
  Type activationType(MLIRContext& context) {
    constexpr const char* names[] = {"f32", "f16", "bf16"};
    return getElementType(&context, *findEncoding(names[upTo(3)]));
  }
  /// A number in [0, count).
  int64_t upTo(int64_t count) { return static_cast<int64_t>(random() % count); }
  int64_t oneOf(std::initializer_list<int64_t> list) { return *(list.begin() + upTo(list.size())); }
  Value argument(llvm::ArrayRef<int64_t> shape, Type type = {}) {
    return builder.input("a" + std::to_string(arguments++), shape, type);
  }
  int64_t widthOf(Value value) { return value.getShape().back(); }
  Value norm(Value x);
  Value unary(Value x);
  Value binary(Value x);
  Value matmul(Value x, int64_t width);
  Value gated(Value x);
  Value rotated(Value x);
  Value next(Value x);

  std::mt19937_64 random;
  GraphBuilder builder;
  int arguments = 0;
  int64_t rows = 1;
  std::vector<Value> pool; ///< values [rows, width]
};

} // namespace

Value GraphMaker::norm(Value x) {
  Value weight = argument({widthOf(x)}, builder.getActivationType());
  switch (upTo(4)) {
  case 0:
    return builder.layerNorm(x, weight, argument({widthOf(x)}), 1e-5);
  case 1:
    return builder.softmax(x);
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
  Value other = upTo(3) == 0 ? argument({widthOf(x)}) : same[upTo(same.size())];
  switch (upTo(4)) {
  case 0:
    return builder.mul(x, other);
  case 1:
    return builder.sub(other, x);
  default:
    return builder.add(x, other);
  }
}

Value GraphMaker::matmul(Value x, int64_t width) {
  MLIRContext* context = builder.getActivationType().getContext();
  Type type = builder.getActivationType();
  if (upTo(4) == 0)
    type = Float16Type::get(context);
  if (upTo(4) == 0 && widthOf(x) % 32 == 0)
    type = BlockType::get(context, "q8_0");
  return builder.matmul(x, argument({width, widthOf(x)}, type));
}

/// norm → gate, up → glu → down → residual.
Value GraphMaker::gated(Value x) {
  Value normed = norm(x);
  int64_t width = oneOf({32, 48, 96, 130});
  Value hidden = builder.glu(Activation::Silu, matmul(normed, width), matmul(normed, width));
  return builder.add(x, matmul(hidden, widthOf(x)));
}

Value GraphMaker::rotated(Value x) {
  int64_t heads = widthOf(x) % 4 == 0 ? 2 : 1, size = widthOf(x) / heads;
  if (size % 2 != 0)
    return unary(x);
  Type i32 = IntegerType::get(builder.getActivationType().getContext(), 32);
  Type f32 = Float32Type::get(builder.getActivationType().getContext());
  Value split = builder.reshape(x, {rows, heads, size});
  RopePairing pairing = upTo(2) == 0 ? RopePairing::Halves : RopePairing::Adjacent;
  Value turned = builder.rope(pairing, split, argument({rows}, i32), argument({size / 2}, f32));
  return builder.reshape(turned, {rows, widthOf(x)});
}

Value GraphMaker::next(Value x) {
  switch (upTo(10)) {
  case 0:
  case 1:
    return norm(x);
  case 2:
    return gated(x);
  case 3:
    return rotated(x);
  case 4:
  case 5:
    return matmul(x, oneOf({24, 33, 64, 129, 160}));
  case 6:
    return unary(x);
  default:
    return binary(x);
  }
}

absl::StatusOr<OwningOpRef<ModuleOp>> GraphMaker::make() {
  rows = oneOf({1, 1, 2, 3, 5});
  builder.beginFunction("f");
  int64_t width = oneOf({32, 33, 64, 96, 129, 160, 257});
  Type i32 = IntegerType::get(builder.getActivationType().getContext(), 32);
  pool.push_back(upTo(2) == 0 ? argument({rows, width})
                              : builder.embedding(argument({50, width}), argument({rows}, i32)));
  int64_t steps = 6 + upTo(9);
  for (int64_t step = 0; step < steps; ++step) {
    // Mostly a chain; at times a branch from earlier on.
    Value from = upTo(5) == 0 ? pool[upTo(pool.size())] : pool.back();
    pool.push_back(next(from));
  }
  int outputs = 0;
  for (auto [index, value] : llvm::enumerate(pool)) {
    bool isArgument = !value || llvm::isa<BlockArgument>(value.get());
    if (!isArgument && (value.get().use_empty() || upTo(8) == 0))
      builder.output("y" + std::to_string(outputs++), value);
  }
  builder.endFunction();
  return builder.finish();
}

absl::StatusOr<OwningOpRef<ModuleOp>> makeRandomGraph(MLIRContext& context, uint64_t seed) {
  context.loadDialect<TenonDialect, func::FuncDialect>();
  return GraphMaker(context, seed).make();
}

std::vector<ReferenceTensor> makeRandomInputs(ModuleOp graph, uint64_t seed) {
  std::mt19937_64 random(seed ^ 0x9e3779b97f4a7c15);
  std::vector<ReferenceTensor> inputs;
  auto function = *graph.getOps<func::FuncOp>().begin();
  for (Type type : function.getArgumentTypes()) {
    auto tensor = llvm::cast<RankedTensorType>(type);
    bool isInteger = tensor.getElementType().isInteger(), isMatrix = tensor.getRank() == 2;
    double scale = isMatrix ? 2 / std::sqrt(static_cast<double>(tensor.getShape().back())) : 1;
    ReferenceTensor values(tensor);
    for (double& value : values.getValues())
      value = isInteger ? static_cast<double>(random() % 50)
                        : scale * (static_cast<double>(random() >> 11) * 0x1p-52 - 1);
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
