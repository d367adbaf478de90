#include "frontends/gguf/internal/ModelGraph.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/gguf/architectures/Architecture.h"

namespace tenon::frontends {

std::string keyStateName(int64_t layer) { return absl::StrFormat("kv.%d.k", layer); }
std::string valueStateName(int64_t layer) { return absl::StrFormat("kv.%d.v", layer); }

ModelGraph::ModelGraph(const Shared& shared, const Inputs& inputs)
    : shared(shared), inputs(inputs),
      inverseFrequencies(
          shared.builder.constant({static_cast<int64_t>(shared.frequencies.inverse.size())},
                                  shared.frequencies.inverse, {.name = "rope_frequencies"})) {}

bool ModelGraph::flag(std::string_view key) {
  absl::StatusOr<bool> value = shared.reader.flag(key);
  if (!value.ok())
    builder().fail(value.status());
  return value.ok() && *value;
}

std::string ModelGraph::tensorName(std::string_view name, std::string_view suffix) const {
  return absl::StrFormat("%s%s%s", prefix, name, suffix);
}

Value ModelGraph::embedTokens() {
  const Hyperparameters& p = parameters();
  Value table = shared.weights.get("token_embd.weight", {p.vocabulary, p.hidden});
  return builder().embedding(table, inputs.ids, {.name = "token_embd"});
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

Value ModelGraph::logits(Value x) {
  const Hyperparameters& p = parameters();
  Value normed = norm(x, "output_norm");
  bool tied = shared.architecture.mayTieOutput && !shared.weights.has("output.weight");
  Value weight =
      shared.weights.get(tied ? "token_embd.weight" : "output.weight", {p.vocabulary, p.hidden});
  mlir::Type f32 = mlir::Float32Type::get(builder().getActivationType().getContext());
  return builder().matmul(normed, weight, {.name = "output", .elementType = f32});
}

Value ModelGraph::norm(Value x, std::string_view name) {
  if (!x)
    return {};
  int64_t length = x.getShape().back();
  double epsilon = parameters().normEpsilon;
  Value weight = shared.weights.get(tensorName(name, ".weight"), {length});
  if (shared.architecture.norm == NormKind::Rms)
    return builder().rmsNorm(x, weight, epsilon, {.name = name});
  Value bias = shared.weights.get(tensorName(name, ".bias"), {length});
  return builder().layerNorm(x, weight, bias, epsilon, {.name = name});
}

Value ModelGraph::linear(Value x, std::string_view name, int64_t outputs, Bias bias) {
  return linearPart(x, name, name, outputs, {0, outputs}, bias);
}

Value ModelGraph::linearPart(Value x, std::string_view name, std::string_view fused,
                             int64_t outputs, RowRange part, Bias bias) {
  if (!x)
    return {};
  int64_t inputLength = x.getShape().back();
  Value weight = shared.weights.getRows(tensorName(name, ".weight"), tensorName(fused, ".weight"),
                                        {outputs, inputLength}, part);
  Value product = builder().matmul(x, weight, {.name = name});
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

Value ModelGraph::rotate(Value x, std::string_view name) {
  return builder().rope(shared.architecture.pairing, x, inputs.positions, inverseFrequencies,
                        shared.frequencies.magnitude, {.name = absl::StrFormat("%s.rope", name)});
}

Value ModelGraph::attend(Value query, Value key, Value value) {
  if (!query)
    return {};
  StateValue keys = builder().state(keyStateName(layer));
  StateValue values = builder().state(valueStateName(layer));
  keys = builder().kvWrite(key, inputs.sequences, inputs.positions, keys, {.name = "kv_write.k"});
  values =
      builder().kvWrite(value, inputs.sequences, inputs.positions, values, {.name = "kv_write.v"});
  Value attended =
      builder().attention(query, keys, values, inputs.sequences, inputs.positions,
                          {.scale = parameters().attentionScale}, {.name = "attention"});
  return builder().reshape(attended,
                           {query.getShape().front(), parameters().heads * parameters().valueSize},
                           {.name = "attention.joined"});
}

} // namespace tenon::frontends
