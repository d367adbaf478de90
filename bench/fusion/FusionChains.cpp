#include "bench/fusion/FusionChains.h"

#include <cmath>

#include "support/Status.h"

namespace tenon::bench {

using frontends::GraphBuilder;
using frontends::StateValue;
using frontends::Value;

mlir::Type ChainCopy::i32() const {
  return mlir::IntegerType::get(b.getActivationType().getContext(), 32);
}
mlir::Type ChainCopy::f32() const {
  return mlir::Float32Type::get(b.getActivationType().getContext());
}

Value ChainCopy::declared(const std::string& name, llvm::ArrayRef<int64_t> dimensions,
                          mlir::Type type) {
  std::string symbol = named(name);
  int64_t elements = mlir::ShapedType::getNumElements(dimensions);
  int64_t bytes = getEncoding(type)->bytesFor(elements);
  b.declareFile("file." + symbol, "unused", bytes, 0);
  b.declareWeight(symbol, dimensions, type, {{"file." + symbol, 0, bytes}});
  weightBytes += bytes;
  return b.weight(symbol);
}

Value ChainCopy::matrix(const std::string& name, int64_t columns, int64_t depth, mlir::Type type) {
  return declared(name, {columns, depth}, type ? type : b.getActivationType());
}

Value ChainCopy::vector(const std::string& name, int64_t length, mlir::Type type) {
  return declared(name, {length}, type ? type : b.getActivationType());
}

Value ChainCopy::shared(const std::string& name, llvm::ArrayRef<int64_t> dimensions,
                        mlir::Type type, std::optional<PortRole> role) {
  Value& input = inputs[name];
  if (!input)
    input = b.input(name, dimensions, type, role);
  return input;
}

Value ChainCopy::own(const std::string& name, llvm::ArrayRef<int64_t> dimensions) {
  return b.input(named(name), dimensions, {});
}

StateValue ChainCopy::cache(const std::string& name, llvm::ArrayRef<int64_t> dimensions) {
  keepsMemory = true;
  b.declareState(named(name), dimensions, b.getActivationType());
  return b.state(named(name));
}

void ChainCopy::result(Value value) {
  keepsMemory = true;
  b.output("y" + std::to_string(results++), value);
}

/// What a copy of a chain has that no other copy has.
struct OwnMemory {
  int64_t weightBytes;
  bool others; ///< results or caches
};

class ChainFunction {
public:
  ChainFunction(GraphBuilder& builder, const ChainShape& shape) : copy(builder, shape) {}

  OwnMemory build(const FusionChain& chain, int copies) {
    copy.b.beginFunction("f");
    Value x = copy.x = copy.shared("x", {copy.shape.rows, copy.shape.hidden});
    for (; copy.copy < copies; ++copy.copy)
      chain.build(copy);
    OwnMemory own{copy.weightBytes, copy.keepsMemory};
    for (Value last : {copy.x, copy.residual})
      if (last && last.get() != x.get() && !llvm::isa<mlir::BlockArgument>(last.get()))
        copy.result(last);
    copy.b.endFunction();
    return own;
  }

private:
  ChainCopy copy;
};

namespace {

constexpr double epsilon = 1e-5;

Value rmsNorm(ChainCopy& c, Value x) {
  return c.b.rmsNorm(x, c.vector("norm", c.shape.hidden), epsilon);
}
Value layerNorm(ChainCopy& c, Value x, const std::string& name) {
  return c.b.layerNorm(x, c.vector(name, c.shape.hidden), c.vector(name + ".bias", c.shape.hidden),
                       epsilon);
}
/// x and what stands beside it: the residual of the copy before, at first an input.
Value beside(ChainCopy& c) {
  if (!c.residual)
    c.residual = c.shared("residual", {c.shape.rows, c.shape.hidden});
  return c.residual;
}

void residualRms(ChainCopy& c) {
  c.residual = c.b.add(beside(c), c.x);
  c.x = rmsNorm(c, c.residual);
}
void residualLayer(ChainCopy& c) {
  c.residual = c.b.add(beside(c), c.x);
  c.x = layerNorm(c, c.residual, "norm");
}
/// The sum of a parallel residual, and the two norms of the next block.
void parallelSumNorms(ChainCopy& c) {
  c.residual = c.b.add(c.b.add(c.x, c.shared("half", {c.shape.rows, c.shape.hidden})), beside(c));
  c.x = layerNorm(c, c.residual, "norm");
  c.result(layerNorm(c, c.residual, "other"));
}
void normResidual(ChainCopy& c) { c.x = c.b.add(rmsNorm(c, c.x), beside(c)); }

/// cap · tanh(x · w / cap), as of soft-capped logits. Copies stand beside each other: one after the
/// other they would be one chain.
void cappedScale(ChainCopy& c) {
  Value x = c.b.mul(c.x, c.vector("scale", c.shape.hidden));
  c.result(c.b.scale(c.b.tanh(c.b.scale(x, 1.0 / 30)), 30));
}
void biasActivation(ChainCopy& c) {
  Value x = c.b.add(c.x, c.vector("bias", c.shape.hidden));
  c.result(c.b.mul(c.b.geluTanh(x), beside(c)));
}

void embeddingRms(ChainCopy& c) {
  Value e = c.b.embedding(c.matrix("table", 4096, c.shape.hidden),
                          c.shared("ids", {c.shape.rows}, c.i32()));
  c.result(e);
  c.result(rmsNorm(c, e));
}

Value product(ChainCopy& c, Value x, const std::string& name) {
  return c.b.matmul(x, c.matrix(name, c.shape.columns, c.shape.hidden));
}
void productBias(ChainCopy& c) {
  c.result(c.b.add(product(c, c.x, "w"), c.vector("w.bias", c.shape.columns)));
}
void productBiasGelu(ChainCopy& c) {
  c.result(c.b.geluTanh(c.b.add(product(c, c.x, "w"), c.vector("w.bias", c.shape.columns))));
}
void productResidual(ChainCopy& c) {
  Value r = c.shared("wide", {c.shape.rows, c.shape.columns});
  c.result(c.b.add(product(c, c.x, "w"), r));
}
/// ((x · Wᵀ + b) + attention) + residual.
void parallelResidual(ChainCopy& c) {
  Value mlp = c.b.add(product(c, c.x, "w"), c.vector("w.bias", c.shape.columns));
  Value attention = c.shared("attention", {c.shape.rows, c.shape.columns});
  Value r = c.shared("wide", {c.shape.rows, c.shape.columns});
  c.result(c.b.add(c.b.add(mlp, attention), r));
}

void rmsProduct(ChainCopy& c) { c.result(product(c, rmsNorm(c, c.x), "w")); }
void layerProduct(ChainCopy& c) { c.result(product(c, layerNorm(c, c.x, "norm"), "w")); }
/// GPTQ's weights: 4 bits, groups of 128, zeros in the middle.
void layerProductInt4(ChainCopy& c) {
  const Encoding* encoding =
      findEncoding(c.shape.type == "f16" ? "int4_g128x8_f16" : "int4_g128x8_bf16");
  mlir::Type type = getElementType(c.i32().getContext(), *encoding);
  Value w = c.matrix("w", c.shape.columns, c.shape.hidden, type);
  c.result(c.b.matmul(layerNorm(c, c.x, "norm"), w));
}
void layerProductBias(ChainCopy& c) {
  Value y = product(c, layerNorm(c, c.x, "norm"), "w");
  c.result(c.b.add(y, c.vector("w.bias", c.shape.columns)));
}
/// How both halves of GPT-NeoX's block begin: Q, K and V as wide as x after one norm, an up
/// projection of `columns` with its activation after the other.
void parallelProducts(ChainCopy& c) {
  auto biased = [&](Value x, const std::string& name, int64_t columns) {
    Value y = c.b.matmul(x, c.matrix(name, columns, c.shape.hidden));
    return c.b.add(y, c.vector(name + ".bias", columns));
  };
  Value x = c.own("x", {c.shape.rows, c.shape.hidden});
  Value attention = layerNorm(c, x, "norm"), mlp = layerNorm(c, x, "other");
  for (const char* name : {"q", "k", "v"})
    c.result(biased(attention, name, c.shape.hidden));
  c.result(c.b.geluTanh(biased(mlp, "up", c.shape.columns)));
}

/// Q of `columns`, K and V of a quarter of it.
void qkv(ChainCopy& c, Value x) {
  c.result(c.b.matmul(x, c.matrix("q", c.shape.columns, c.shape.hidden)));
  c.result(c.b.matmul(x, c.matrix("k", c.shape.columns / 4, c.shape.hidden)));
  c.result(c.b.matmul(x, c.matrix("v", c.shape.columns / 4, c.shape.hidden)));
}
void sharedQkv(ChainCopy& c) { qkv(c, c.own("x", {c.shape.rows, c.shape.hidden})); }
void rmsQkv(ChainCopy& c) { qkv(c, rmsNorm(c, c.x)); }

Value gated(ChainCopy& c, Value x) {
  return c.b.glu(Activation::Silu, product(c, x, "gate"), product(c, x, "up"));
}
void gatedLinear(ChainCopy& c) { c.result(gated(c, c.x)); }
void rmsGated(ChainCopy& c) { c.result(gated(c, rmsNorm(c, c.x))); }

/// Heads of 128, a quarter of them of keys and values: rotated, cached, attended to.
void ropeCacheAttention(ChainCopy& c) {
  constexpr int64_t size = 128, capacity = 512;
  int64_t rows = c.shape.rows, heads = c.shape.hidden / size, kvHeads = heads / 4;
  Value positions = c.shared("positions", {rows}, c.i32(), PortRole::Positions);
  Value sequences = c.shared("sequences", {rows}, c.i32());
  Value frequencies = c.vector("frequencies", size / 2, c.f32());
  auto rotate = [&](Value value) {
    return c.b.rope(RopePairing::Halves, value, positions, frequencies);
  };
  Value q = rotate(c.b.reshape(c.x, {rows, heads, size}));
  Value k = rotate(c.shared("k", {rows, kvHeads, size}));
  Value v = c.shared("v", {rows, kvHeads, size});
  StateValue keys =
      c.b.kvWrite(k, sequences, positions, c.cache("keys", {rows, capacity, kvHeads, size}));
  StateValue values =
      c.b.kvWrite(v, sequences, positions, c.cache("values", {rows, capacity, kvHeads, size}));
  Value y = c.b.attention(q, keys, values, sequences, positions, {.scale = 0.088});
  c.x = c.b.reshape(y, {rows, c.shape.hidden});
}

/// Causal attention of one prompt, scores to softmax · V: 32 heads of queries, 8 of keys and values.
void promptAttention(ChainCopy& c) {
  constexpr int64_t heads = 32, kvHeads = 8;
  int64_t rows = c.shape.rows, size = c.shape.hidden / heads;
  // Integers that are no positions of decode are filled with 0, 1, 2 ...
  Value places = c.shared("places", {rows}, c.i32());
  Value sequence = c.shared("sequence", {1}, c.i32());
  Value keys = c.shared("keys", {1, rows, kvHeads, size});
  Value values = c.shared("values", {1, rows, kvHeads, size});
  Value query = c.b.reshape(c.x, {rows, heads, size});
  double scale = 1 / std::sqrt(static_cast<double>(size));
  Value y = c.b.attention(query, keys, values, sequence, places, {.scale = scale});
  c.x = c.b.reshape(y, {rows, c.shape.hidden});
}

void headArgmax(ChainCopy& c) {
  c.result(c.b.argmax(c.b.matmul(c.x, c.matrix("head", c.shape.columns, c.shape.hidden),
                                 {.elementType = c.f32()})));
}

} // namespace

const std::vector<FusionChain>& allChains() {
  static const std::vector<FusionChain> chains = {
      {"residual_rms", {"residual-norm"}, residualRms},
      {"residual_layer", {"residual-norm"}, residualLayer},
      {"parallel_sum_norms", {"residual-norm", "parallel-residual"}, parallelSumNorms},
      {"norm_residual", {"norm-residual"}, normResidual},
      {"capped_scale", {"elementwise-chain"}, cappedScale},
      {"bias_activation", {"elementwise-chain"}, biasActivation},
      {"embedding_rms", {"embedding-norm"}, embeddingRms},
      {"product_bias", {"matmul-epilogue"}, productBias},
      {"product_bias_gelu", {"matmul-epilogue"}, productBiasGelu},
      {"product_residual", {"matmul-epilogue"}, productResidual},
      {"parallel_residual", {"parallel-residual"}, parallelResidual},
      {"rms_product", {"norm-matmul"}, rmsProduct},
      {"layer_product", {"norm-matmul"}, layerProduct},
      {"layer_product_int4", {"norm-matmul"}, layerProductInt4},
      {"layer_product_bias", {"norm-matmul", "matmul-epilogue"}, layerProductBias},
      {"qkv", {"shared-input"}, sharedQkv},
      {"rms_qkv", {"shared-input", "norm-matmul"}, rmsQkv},
      {"gated", {"gated-linear"}, gatedLinear},
      {"rms_gated", {"gated-linear"}, rmsGated},
      {"parallel_products", {"parallel-products", "matmul-epilogue"}, parallelProducts},
      {"rope_cache_attention", {"qkv-cache"}, ropeCacheAttention},
      {"attention_cache", {"attention-cache"}, ropeCacheAttention},
      {"prompt_attention", {}, promptAttention},
      {"head_argmax", {"head-argmax"}, headArgmax}};
  return chains;
}

const FusionChain* findChain(const std::string& name) {
  for (const FusionChain& chain : allChains())
    if (chain.name == name)
      return &chain;
  return nullptr;
}

static absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> build(mlir::MLIRContext& context,
                                                               const FusionChain& chain,
                                                               const ChainShape& shape, int copies,
                                                               OwnMemory& own) {
  context.loadDialect<TenonDialect>();
  GraphBuilder builder(context, getElementType(&context, *findEncoding(shape.type)));
  ChainFunction function(builder, shape);
  own = function.build(chain, copies);
  return builder.finish();
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> makeChainModule(mlir::MLIRContext& context,
                                                                  const FusionChain& chain,
                                                                  const ChainShape& shape,
                                                                  int copies) {
  OwnMemory own;
  return build(context, chain, shape, copies, own);
}

absl::StatusOr<int> chooseCopies(const FusionChain& chain, const ChainShape& shape) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  OwnMemory own;
  TENON_RETURN_IF_ERROR(build(context, chain, shape, /*copies=*/1, own).status());
  constexpr int64_t wantedBytes = 200'000'000, fewBytes = 64 << 10, fewElements = 4 << 20;
  if (own.weightBytes >= fewBytes)
    return static_cast<int>(std::clamp<int64_t>(wantedBytes / own.weightBytes, 2, 48));
  return own.others || shape.rows * shape.hidden > fewElements ? 16 : 64;
}

} // namespace tenon::bench
