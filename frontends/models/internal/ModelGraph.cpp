#include "frontends/models/internal/ModelGraph.h"

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/models/Architecture.h"
#include "llvm/ADT/bit.h"

namespace tenon::frontends {

std::string keyStateName(int64_t layer) { return absl::StrFormat("kv.%d.k", layer); }
std::string valueStateName(int64_t layer) { return absl::StrFormat("kv.%d.v", layer); }

/// Of each head its slope (Press et al. 2021, arXiv 2108.12409, and its code for other numbers of
/// heads than powers of two): with n the largest power of two up to `heads`, 2^(−b · (h + 1) / n) of
/// the first n heads, of the others every second one of those between them.
static std::vector<float> alibiSlopesOf(int64_t heads, double largestExponent) {
  auto power = static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(heads)));
  std::vector<float> slopes;
  for (int64_t head = 0; head < heads; ++head) {
    double step =
        head < power ? static_cast<double>(head + 1) : static_cast<double>(head - power) + 0.5;
    slopes.push_back(
        static_cast<float>(std::exp2(-largestExponent * step / static_cast<double>(power))));
  }
  return slopes;
}

ModelGraph::ModelGraph(const Shared& shared, const Inputs& inputs)
    : shared(shared), inputs(inputs) {
  auto declare = [&](const std::vector<float>& inverse, std::string_view name) {
    return shared.builder.constant({static_cast<int64_t>(inverse.size())}, inverse, {.name = name});
  };
  if (shared.architecture.pairing)
    inverseFrequencies = declare(shared.frequencies.inverse, "rope_frequencies");
  if (!shared.frequencies.windowedInverse.empty())
    windowedFrequencies = declare(shared.frequencies.windowedInverse, "rope_frequencies.windowed");
  const Hyperparameters& p = shared.parameters;
  if (p.alibiBias > 0)
    alibiSlopes = shared.builder.constant({p.heads}, alibiSlopesOf(p.heads, p.alibiBias),
                                          {.name = "alibi_slopes"});
  keyPositions = queryPositions = inputs.positions;
  if (shared.ring.window > 0) {
    constexpr int64_t views = 3;
    keyPositions = builder().ringPlaces(inputs.positions, shared.ring, 1, {.name = "places.k"});
    queryPositions =
        builder().ringPlaces(inputs.positions, shared.ring, views, {.name = "places.q"});
  }
}

bool ModelGraph::flag(std::string_view key) {
  absl::StatusOr<bool> value = shared.source.flag(key);
  if (!value.ok())
    builder().fail(value.status());
  return value.ok() && *value;
}

Value ModelGraph::vector(std::string_view name, int64_t length) {
  return shared.weights.get(tensorName(name, ".weight"), {length});
}

std::string ModelGraph::tensorName(std::string_view name, std::string_view suffix) const {
  return absl::StrFormat("%s%s%s", prefix, name, suffix);
}

Value ModelGraph::embedTokens() { return embedTokens(inputs.ids); }

Value ModelGraph::embedTokens(Value ids) {
  const Hyperparameters& p = parameters();
  Value table = shared.weights.get("token_embd.weight", {p.vocabulary, p.hidden});
  Value tokens = builder().embedding(table, ids, {.name = "token_embd"});
  if (p.embeddingScale == 1)
    return tokens;
  return builder().scale(tokens, p.embeddingScale, {.name = "embedding_scaled"});
}

Value ModelGraph::embedPositions() {
  const Hyperparameters& p = parameters();
  Value table = shared.weights.get("position_embd.weight", {p.contextLength, p.hidden});
  return builder().embedding(table, inputs.positions, {.name = "position_embd"});
}

Value ModelGraph::embedFirstType() {
  constexpr std::string_view types = "token_types.weight";
  absl::StatusOr<const SourceTensor*> tensor = shared.source.requireTensor(types);
  if (!tensor.ok()) {
    builder().fail(tensor.status());
    return {};
  }
  const std::vector<int64_t>& shape = (*tensor)->shape;
  const int64_t count = shape.empty() ? 1 : shape.front();
  return shared.weights.getRows("token_types.first", types, {count, parameters().hidden}, {0, 1});
}

Value ModelGraph::block(int64_t index, Value x) {
  std::string name = absl::StrFormat("blk.%d", index);
  GraphBuilder::Scope scope = builder().scope(name);
  prefix = name + ".";
  layer = index;
  Value y = shared.architecture.buildBlock(*this, x);
  prefix.clear();
  return y;
}

Value ModelGraph::draftHidden(Value hidden, Value next) {
  GraphBuilder::Scope scope = builder().scope("mtp");
  prefix = draftTensors;
  layer = parameters().blocks;
  Value state = norm(hidden, "hidden_norm"), token = norm(embedTokens(next), "token_norm");
  Value y;
  if (state && token) {
    Value x = builder().concat({state, token}, 1, {.name = "input.joined"});
    x = linear(x, "input", parameters().hidden, Bias::Optional);
    y = norm(shared.architecture.buildBlock(*this, x), "output_norm");
  }
  prefix.clear();
  return y;
}

Value ModelGraph::logits(Value normed) {
  const Hyperparameters& p = parameters();
  bool tied = shared.architecture.mayTieOutput && !shared.weights.has("output.weight");
  Value weight =
      shared.weights.get(tied ? "token_embd.weight" : "output.weight", {p.vocabulary, p.hidden});
  mlir::Type f32 = mlir::Float32Type::get(builder().getActivationType().getContext());
  Value scores = builder().matmul(normed, weight, {.name = "output", .elementType = f32});
  if (shared.architecture.hasOutputBias) {
    Value bias = shared.weights.get("output.bias", {p.vocabulary});
    scores = builder().add(scores, bias, {.name = "output.bias", .elementType = f32});
  }
  if (p.logitScale != 1)
    scores = builder().scale(scores, p.logitScale, {.name = "output.scaled", .elementType = f32});
  if (p.logitSoftcap == 0)
    return scores;
  float cap = static_cast<float>(p.logitSoftcap);
  Value divisor = builder().constant({1}, {cap}, {.name = "output.softcap"});
  scores = builder().div(scores, divisor, {.name = "output.divided", .elementType = f32});
  scores = builder().tanh(scores, {.name = "output.tanh", .elementType = f32});
  return builder().scale(scores, cap, {.name = "output.capped", .elementType = f32});
}

Value ModelGraph::pool(Value x) {
  if (!x)
    return {};
  mlir::Type f32 = mlir::Float32Type::get(builder().getActivationType().getContext());
  const int64_t rows = x.getShape()[0], hidden = x.getShape()[1];
  if (parameters().pooling == Pooling::First) {
    Value first = builder().intConstant({1}, {0}, {.name = "pooling.first"});
    return builder().embedding(x, first, {.name = "pooling", .elementType = f32});
  }
  Value count =
      builder().reduce(ReduceKind::Sum, inputs.mask, {.name = "pooling.count", .elementType = f32});
  Value weights =
      builder().div(inputs.mask, count, {.name = "pooling.weights", .elementType = f32});
  weights = builder().reshape(weights, {1, rows}, {.name = "pooling.weights"});
  Value tokens = builder().reshape(x, {1, rows, hidden}, {.name = "pooling.tokens"});
  return builder().weightedSum(tokens, weights, {.name = "pooling", .elementType = f32});
}

Value ModelGraph::norm(Value x, std::string_view name) {
  if (!x)
    return {};
  int64_t length = x.getShape().back();
  double epsilon = parameters().normEpsilon;
  Value weight = shared.weights.get(tensorName(name, ".weight"), {length});
  if (shared.architecture.norm == NormKind::Rms)
    return builder().rmsNorm(x, weight, epsilon, {.name = name});
  std::string biasName = tensorName(name, ".bias");
  if (shared.architecture.mayLackNormBias && !shared.weights.has(biasName))
    return builder().layerNorm(x, weight, epsilon, {.name = name});
  Value bias = shared.weights.get(biasName, {length});
  return builder().layerNorm(x, weight, bias, epsilon, {.name = name});
}

Value ModelGraph::linear(Value x, std::string_view name, int64_t outputs, Bias bias) {
  return linearPart(x, name, name, outputs, {0, outputs}, bias);
}

Value ModelGraph::inOrderOf(Value x, const std::string& weight) {
  std::span<const int32_t> order = shared.weights.permutation(weight);
  if (order.empty() || !builder().getStatus().ok())
    return x;
  auto length = static_cast<int64_t>(order.size());
  llvm::ArrayRef<int32_t> places(order.data(), order.size());
  if (x.getShape().front() == 1)
    return builder().gather(x, builder().intConstant({1, length}, places), 1);
  Value columns = builder().intConstant({length}, places);
  Value chosen = builder().embedding(builder().transpose(x, {1, 0}), columns);
  return builder().transpose(chosen, {1, 0});
}

Value ModelGraph::linearPart(Value x, std::string_view name, std::string_view fused,
                             int64_t outputs, RowRange part, Bias bias) {
  if (!x)
    return {};
  int64_t inputLength = x.getShape().back();
  Value weight = shared.weights.getRows(tensorName(name, ".weight"), tensorName(fused, ".weight"),
                                        {outputs, inputLength}, part);
  Value product =
      builder().matmul(inOrderOf(x, tensorName(fused, ".weight")), weight, {.name = name});
  std::string biasTensor = tensorName(fused, ".bias");
  if (bias == Bias::Optional && !shared.weights.has(biasTensor))
    return product;
  Value addend = shared.weights.getRows(tensorName(name, ".bias"), biasTensor, {outputs}, part);
  return builder().add(product, addend, {.name = absl::StrFormat("%s.bias", name)});
}

Value ModelGraph::splitHeads(Value x, int64_t heads, std::string_view name) {
  if (!x)
    return {};
  return builder().reshape(x, {x.getShape().front(), heads, x.getShape().back() / heads},
                           {.name = absl::StrFormat("%s.heads", name)});
}

Value ModelGraph::clampHeads(Value x, std::string_view name) {
  double bound = parameters().clampQkv;
  if (bound == 0 || !x)
    return x;
  return builder().clamp(x, -bound, bound, {.name = absl::StrFormat("%s.clamp", name)});
}

Heads ModelGraph::splitHeads(const Heads& flat) {
  const Hyperparameters& p = parameters();
  return {.query = splitHeads(clampHeads(flat.query, "attn_q"), p.heads, "attn_q"),
          .key = splitHeads(clampHeads(flat.key, "attn_k"), p.kvHeads, "attn_k"),
          .value = splitHeads(clampHeads(flat.value, "attn_v"), p.kvHeads, "attn_v")};
}

Heads ModelGraph::projectFlat(Value x, Bias bias, bool isFused) {
  const Hyperparameters& p = parameters();
  const int64_t queryRows = p.heads * p.headSize;
  const int64_t keyRows = p.kvHeads * p.headSize;
  const int64_t valueRows = p.kvHeads * p.valueSize;
  if (!isFused && !shared.weights.has(tensorName("attn_qkv", ".weight")))
    return {.query = linear(x, "attn_q", queryRows, bias),
            .key = linear(x, "attn_k", keyRows, bias),
            .value = linear(x, "attn_v", valueRows, bias)};
  auto part = [&](std::string_view name, int64_t first, int64_t count) {
    return linearPart(x, name, "attn_qkv", queryRows + keyRows + valueRows, {first, count}, bias);
  };
  return {.query = part("attn_q", 0, queryRows),
          .key = part("attn_k", queryRows, keyRows),
          .value = part("attn_v", queryRows + keyRows, valueRows)};
}

Heads ModelGraph::projectHeads(Value x, Bias bias) {
  return splitHeads(projectFlat(x, bias, /*isFused=*/false));
}

Heads ModelGraph::projectFusedHeads(Value x, Bias bias) {
  return splitHeads(projectFlat(x, bias, /*isFused=*/true));
}

Heads ModelGraph::projectNormedHeads(Value x) {
  Heads flat = projectFlat(x, Bias::Optional, /*isFused=*/false);
  return splitHeads({.query = norm(flat.query, "attn_q_norm"),
                     .key = norm(flat.key, "attn_k_norm"),
                     .value = flat.value});
}

Heads ModelGraph::normEachHead(Heads heads) {
  heads.query = norm(heads.query, "attn_q_norm");
  heads.key = norm(heads.key, "attn_k_norm");
  return heads;
}

Value ModelGraph::normHeadsApart(Value heads, std::string_view name) {
  std::string tensor = tensorName(name, ".weight");
  if (!heads || !shared.weights.has(tensor))
    return heads;
  Value weight = shared.weights.get(tensor, {heads.getShape()[1], heads.getShape()[2]});
  Value normed = builder().layerNorm(heads, parameters().normEpsilon,
                                     {.name = absl::StrFormat("%s.centred", name)});
  return builder().mul(normed, weight, {.name = name});
}

Heads ModelGraph::normHeadsApart(Heads heads) {
  heads.query = normHeadsApart(heads.query, "attn_q_norm");
  heads.key = normHeadsApart(heads.key, "attn_k_norm");
  return heads;
}

bool ModelGraph::isWindowed() const {
  return shared.parameters.window != 0 &&
         frontends::isWindowed(shared.architecture.windowed, layer);
}

Value ModelGraph::rotate(Value x, Value positions, std::string_view name) {
  RopePairing pairing =
      shared.source.keepsHalves() ? RopePairing::Halves : *shared.architecture.pairing;
  Value frequencies =
      isWindowed() && windowedFrequencies ? windowedFrequencies : inverseFrequencies;
  return builder().rope(pairing, x, positions, frequencies, shared.frequencies.magnitude,
                        {.name = absl::StrFormat("%s.rope", name)});
}

Value ModelGraph::inViews(Value query) {
  if (shared.ring.window == 0 || !query)
    return query;
  return builder().concat({query, query, query}, 0, {.name = "attn_q.views"});
}

Value ModelGraph::rotateAndAttend(Heads heads, Bias bias) {
  heads.query = rotate(inViews(heads.query), queryPositions, "attn_q");
  heads.key = rotate(heads.key, keyPositions, "attn_k");
  return attendInViews(heads, bias);
}

Value ModelGraph::attend(Heads heads, Bias bias) {
  heads.query = inViews(heads.query);
  return attendInViews(heads, bias);
}

Value ModelGraph::addResidual(Value x, Value change, std::string_view name) {
  const double factor = parameters().residualScale;
  if (factor != 1)
    change = builder().scale(change, factor, {.name = absl::StrFormat("%s.scaled", name)});
  return builder().add(x, change, {.name = name});
}

Value ModelGraph::addHalves(Value x, Value attention, llvm::function_ref<Value(Value)> mlp) {
  Value middle = addResidual(x, attention, "attn_residual");
  return addResidual(middle, mlp(norm(middle, "ffn_norm")), "ffn_residual");
}

Value ModelGraph::addHalves(Value x, Value attention, Activation activation) {
  return addHalves(x, attention, [&](Value normed) { return feedForward(normed, activation); });
}

int64_t ModelGraph::window() const {
  if (shared.ring.window > 0)
    return shared.ring.window;
  return isWindowed() ? parameters().window : 0;
}

Value ModelGraph::roundToCache(Value x, std::string_view name) {
  if (!x || !llvm::isa_and_nonnull<mlir::FloatType>(shared.cacheType) ||
      x.getElementType() == shared.cacheType)
    return x;
  return builder().cast(x, {.name = name, .elementType = shared.cacheType});
}

Value ModelGraph::attendToTokens(const Heads& heads) {
  const Hyperparameters& p = parameters();
  mlir::Type f32 = mlir::Float32Type::get(builder().getActivationType().getContext());
  const int64_t rows = heads.query.getShape().front();
  Value visible = builder().constant({1}, {0.0f}, {.name = "attention.visible"});
  Value hidden = builder().constant({1}, {-std::numeric_limits<float>::infinity()},
                                    {.name = "attention.hidden"});
  Value bias = builder().select(inputs.mask, visible, hidden,
                                {.name = "attention.mask", .elementType = f32});
  bias = builder().reshape(bias, {1, 1, rows}, {.name = "attention.mask"});
  Value keys = builder().reshape(heads.key, {1, rows, p.kvHeads, p.headSize}, {.name = "keys"});
  Value values =
      builder().reshape(heads.value, {1, rows, p.kvHeads, p.valueSize}, {.name = "values"});
  return builder().attention(
      heads.query, keys, values, inputs.sequences, inputs.positions,
      {.scale = p.attentionScale, .causal = false, .softcap = p.attentionSoftcap, .bias = bias},
      {.name = "attention"});
}

Value ModelGraph::attendToCaches(const Heads& heads) {
  const Hyperparameters& p = parameters();
  StateValue keys = builder().state(keyStateName(layer));
  StateValue values = builder().state(valueStateName(layer));
  auto transform = [&](Value x, std::string_view name) {
    return shared.transformsHeads ? builder().hadamard(x, {.name = name}) : x;
  };
  Value query = transform(heads.query, "attn_q.hadamard");
  Value key = transform(roundToCache(heads.key, "attn_k.rounded"), "attn_k.hadamard");
  Value value = transform(roundToCache(heads.value, "attn_v.rounded"), "attn_v.hadamard");
  keys = builder().kvWrite(key, inputs.sequences, inputs.positions, keys, {.name = "kv_write.k"});
  values =
      builder().kvWrite(value, inputs.sequences, inputs.positions, values, {.name = "kv_write.v"});
  Value attended = builder().attention(query, keys, values, inputs.sequences, inputs.positions,
                                       {.scale = p.attentionScale,
                                        .softcap = p.attentionSoftcap,
                                        .window = window(),
                                        .slopes = alibiSlopes,
                                        .sinks = heads.sinks,
                                        .areChunks = inputs.areChunks},
                                       {.name = "attention"});
  return transform(attended, "attention.hadamard");
}

Value ModelGraph::attendInViews(const Heads& heads, Bias bias) {
  if (!heads.query || !heads.key || !heads.value)
    return {};
  const Hyperparameters& p = parameters();
  Value attended = shared.architecture.isEncoder ? attendToTokens(heads) : attendToCaches(heads);
  if (!attended)
    return {};
  attended = builder().reshape(attended, {attended.getShape().front(), p.heads * p.valueSize},
                               {.name = "attention.joined"});
  return linear(attended, "attn_output", p.hidden, bias);
}

Value ModelGraph::feedForward(Value x, Activation activation) {
  return parameters().experts > 0 ? expertMlp(x, activation) : gatedMlp(x, activation);
}

Value ModelGraph::gatedMlp(Value x, Activation activation) {
  return gatedMlp(x, activation, "", parameters().ffn);
}

Value ModelGraph::gatedMlp(Value x, Activation activation, std::string_view suffix,
                           int64_t outputs) {
  auto name = [&](std::string_view layer) { return absl::StrFormat("%s%s", layer, suffix); };
  Value gate = linear(x, name("ffn_gate"), outputs, Bias::Optional);
  Value up = linear(x, name("ffn_up"), outputs, Bias::Optional);
  Value gated = builder().glu(activation, gate, up, {.name = name("ffn_glu")});
  return linear(gated, name("ffn_down"), parameters().hidden, Bias::Optional);
}

Value ModelGraph::expertBias(std::string_view name, Value ids, int64_t outputs) {
  std::string tensor = tensorName(name, ".bias");
  if (!ids || !shared.weights.has(tensor))
    return {};
  const Hyperparameters& p = parameters();
  Value table = shared.weights.get(tensor, {p.experts, outputs});
  return builder().embedding(table, ids, {.name = absl::StrFormat("%s.biases", name)});
}

Value ModelGraph::expertMlp(Value x, Activation activation) {
  return expertMlp(x, [&](Value gate, Value up) {
    return builder().glu(activation, gate, up, {.name = "ffn_glu_exps"});
  });
}

Value ModelGraph::expertMlp(Value x, llvm::function_ref<Value(Value, Value)> unit) {
  const Hyperparameters& p = parameters();
  mlir::Type f32 = mlir::Float32Type::get(builder().getActivationType().getContext());
  auto weight = [&](std::string_view name, llvm::ArrayRef<int64_t> shape) {
    return shared.weights.get(tensorName(name, ".weight"), shape);
  };
  Value scores = builder().matmul(x, weight("ffn_gate_inp", {p.experts, p.hidden}),
                                  {.name = "ffn_gate_inp", .elementType = f32});
  if (std::string bias = tensorName("ffn_gate_inp", ".bias"); shared.weights.has(bias))
    scores = builder().add(scores, shared.weights.get(bias, {p.experts}),
                           {.name = "ffn_gate_inp.bias", .elementType = f32});
  Value shares = builder().softmax(scores, {.name = "ffn_experts.softmax", .elementType = f32});
  GraphBuilder::TopK chosen =
      builder().topK(shares, p.chosenExperts, {.name = "ffn_experts.chosen", .elementType = f32});
  Value weights = chosen.values;
  if (p.normalisesExperts) {
    Value sum =
        builder().reduce(ReduceKind::Sum, weights, {.name = "ffn_experts.sum", .elementType = f32});
    weights = builder().div(weights, sum, {.name = "ffn_experts.weights", .elementType = f32});
  }
  auto linear = [&](Value input, std::string_view name, int64_t outputs, int64_t inputs) {
    Value y = builder().expertMatmul(input, weight(name, {p.experts, outputs, inputs}),
                                     chosen.indices, {.name = name});
    Value bias = expertBias(name, chosen.indices, outputs);
    return bias ? builder().add(y, bias, {.name = absl::StrFormat("%s.bias", name)}) : y;
  };
  Value gate = linear(x, "ffn_gate_exps", p.expertFfn, p.hidden);
  Value up = linear(x, "ffn_up_exps", p.expertFfn, p.hidden);
  Value down = linear(unit(gate, up), "ffn_down_exps", p.hidden, p.expertFfn);
  return builder().weightedSum(down, weights, {.name = "ffn_experts"});
}

Value ModelGraph::fusedGatedMlp(Value x, Activation activation) {
  const Hyperparameters& p = parameters();
  Value gate = linearPart(x, "ffn_gate", "ffn_up", 2 * p.ffn, {0, p.ffn}, Bias::Optional);
  Value up = linearPart(x, "ffn_up", "ffn_up", 2 * p.ffn, {p.ffn, p.ffn}, Bias::Optional);
  Value gated = builder().glu(activation, gate, up, {.name = "ffn_glu"});
  return linear(gated, "ffn_down", p.hidden, Bias::Optional);
}

Value ModelGraph::geluTanhMlp(Value x, Bias bias) {
  const Hyperparameters& p = parameters();
  Value up = linear(x, "ffn_up", p.ffn, bias);
  Value activated = builder().geluTanh(up, {.name = "ffn_gelu"});
  return linear(activated, "ffn_down", p.hidden, bias);
}

} // namespace tenon::frontends
