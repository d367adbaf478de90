#include "tools/driver/internal/RandomTensors.h"

#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"

namespace tenon::tools {

int64_t RandomTensor::elements() const {
  int64_t product = 1;
  for (int64_t length : shape)
    product *= length;
  return product;
}

/// Collects tensors of the kinds that the architectures share.
class TensorList {
public:
  TensorList(const ModelShape& shape, const Encoding& encoding)
      : shape(shape), encoding(encoding) {}

  std::vector<RandomTensor> take() { return std::move(tensors); }

  /// [outputs, inputs], deviation 1/sqrt(inputs). f16 where a row is no whole number of blocks.
  void matrix(const std::string& name, int64_t outputs, int64_t inputs) {
    matrices(name, {outputs, inputs}, besideExperts());
  }

  /// One of the shape's experts each.
  void experts(const std::string& name, int64_t outputs, int64_t inputs) {
    matrices(name, {shape.experts, outputs, inputs}, &encoding);
  }

  /// The scores of the experts stay f32, as llama.cpp has them.
  void router(const std::string& name) {
    matrices(name, {shape.experts, shape.hidden}, findEncoding("f32"));
  }

  void bias(const std::string& name, int64_t length) { bias(name, std::vector{length}); }

  /// Of one of the shape's experts each.
  void expertsAndBiases(const std::string& name, int64_t outputs, int64_t inputs) {
    experts(name, outputs, inputs);
    bias(name, std::vector{shape.experts, outputs});
  }

  void bias(const std::string& name, std::vector<int64_t> extents) {
    tensors.push_back({.name = name + ".bias",
                       .shape = std::move(extents),
                       .encoding = findEncoding("f32"),
                       .deviation = 0.02f});
  }

  void norm(const std::string& name) { norm(name, shape.hidden); }

  void norm(const std::string& name, int64_t length) {
    tensors.push_back({.name = name + ".weight",
                       .shape = {length},
                       .encoding = findEncoding("f32"),
                       .mean = 1.0f,
                       .deviation = 0.05f});
  }

  void matrixAndBias(const std::string& name, int64_t outputs, int64_t inputs) {
    matrix(name, outputs, inputs);
    bias(name, outputs);
  }

  void normAndBias(const std::string& name) {
    norm(name);
    bias(name, shape.hidden);
  }

  void constant(const std::string& name, std::vector<float> values) {
    tensors.push_back({.name = name + ".weight",
                       .shape = {static_cast<int64_t>(values.size())},
                       .encoding = findEncoding("f32"),
                       .values = std::move(values)});
  }

private:
  /// Of matrices that are no expert's.
  const Encoding* besideExperts() const {
    if (!shape.isGptOss())
      return &encoding;
    return findEncoding(encoding.name == "mxfp4" ? "q8_0" : "bf16");
  }

  void matrices(const std::string& name, std::vector<int64_t> extents, const Encoding* stored) {
    int64_t inputs = extents.back();
    if (inputs % stored->blockSize != 0)
      stored = findEncoding("f16");
    tensors.push_back({.name = name + ".weight",
                       .shape = std::move(extents),
                       .encoding = stored,
                       .deviation = 1.0f / std::sqrt(static_cast<float>(inputs))});
  }

  const ModelShape& shape;
  const Encoding& encoding;
  std::vector<RandomTensor> tensors;
};

/// Llama 3's divisor of each rotary frequency, hidden / heads / 2 of them: 1 for wavelengths below
/// 8192 / 4, the factor for those above 8192, and between them the reciprocal of a straight line in
/// 8192 / wavelength (`rope_type` "llama3" of Hugging Face transformers).
static std::vector<float> ropeDivisors(const ModelShape& shape) {
  constexpr double originalContext = 8192;
  constexpr double lowFactor = 1;
  constexpr double highFactor = 4;
  int64_t dimensions = shape.headElements() / shape.rotaryDivisor;
  std::vector<float> divisors;
  for (int64_t i = 0; i < dimensions; i += 2) {
    double exponent = static_cast<double>(i) / static_cast<double>(dimensions);
    double wavelength = 2 * std::numbers::pi * std::pow(shape.ropeBase, exponent);
    double smooth = (originalContext / wavelength - lowFactor) / (highFactor - lowFactor);
    double divisor = 1 / ((1 - smooth) / shape.ropeFactor + smooth);
    if (wavelength < originalContext / highFactor)
      divisor = 1;
    if (wavelength > originalContext / lowFactor)
      divisor = shape.ropeFactor;
    divisors.push_back(static_cast<float>(divisor));
  }
  return divisors;
}

static void addGptOssLayer(TensorList& list, const ModelShape& shape, const std::string& block) {
  int64_t width = shape.headElements() * shape.heads,
          kvWidth = shape.headElements() * shape.kvHeads;
  list.norm(block + "attn_norm");
  list.matrixAndBias(block + "attn_q", width, shape.hidden);
  list.matrixAndBias(block + "attn_k", kvWidth, shape.hidden);
  list.matrixAndBias(block + "attn_v", kvWidth, shape.hidden);
  list.matrixAndBias(block + "attn_output", shape.hidden, width);
  list.norm(block + "attn_sinks", shape.heads);
  list.norm(block + "post_attention_norm");
  list.router(block + "ffn_gate_inp");
  list.bias(block + "ffn_gate_inp", shape.experts);
  list.expertsAndBiases(block + "ffn_gate_exps", shape.expertFfn, shape.hidden);
  list.expertsAndBiases(block + "ffn_up_exps", shape.expertFfn, shape.hidden);
  list.expertsAndBiases(block + "ffn_down_exps", shape.hidden, shape.expertFfn);
}

static void addAttention(TensorList& list, const ModelShape& shape, const std::string& block) {
  int64_t width = shape.headElements() * shape.heads,
          kvWidth = shape.headElements() * shape.kvHeads;
  list.norm(block + "attn_norm");
  list.matrix(block + "attn_q", width, shape.hidden);
  list.matrix(block + "attn_k", kvWidth, shape.hidden);
  list.matrix(block + "attn_v", kvWidth, shape.hidden);
  list.matrix(block + "attn_output", shape.hidden, width);
  list.norm(block + "ffn_norm");
}

static void addQwen3MoeLayer(TensorList& list, const ModelShape& shape, const std::string& block) {
  addAttention(list, shape, block);
  list.norm(block + "attn_q_norm", shape.headElements());
  list.norm(block + "attn_k_norm", shape.headElements());
  list.router(block + "ffn_gate_inp");
  list.experts(block + "ffn_gate_exps", shape.expertFfn, shape.hidden);
  list.experts(block + "ffn_up_exps", shape.expertFfn, shape.hidden);
  list.experts(block + "ffn_down_exps", shape.hidden, shape.expertFfn);
}

static void addLlamaLayer(TensorList& list, const ModelShape& shape, const std::string& block) {
  addAttention(list, shape, block);
  list.matrix(block + "ffn_gate", shape.ffn, shape.hidden);
  list.matrix(block + "ffn_up", shape.ffn, shape.hidden);
  list.matrix(block + "ffn_down", shape.hidden, shape.ffn);
}

static void addNeoxLayer(TensorList& list, const ModelShape& shape, const std::string& block) {
  list.normAndBias(block + "attn_norm");
  list.normAndBias(block + "ffn_norm");
  list.matrixAndBias(block + "attn_qkv", 3 * shape.hidden, shape.hidden);
  list.matrixAndBias(block + "attn_output", shape.hidden, shape.hidden);
  list.matrixAndBias(block + "ffn_up", shape.ffn, shape.hidden);
  list.matrixAndBias(block + "ffn_down", shape.hidden, shape.ffn);
}

std::vector<RandomTensor> listTensors(const ModelShape& shape, const Encoding& encoding) {
  bool isNeox = shape.architecture == "gptneox";
  TensorList list(shape, encoding);
  list.matrix("token_embd", shape.vocabulary, shape.hidden);
  if (isNeox)
    list.normAndBias("output_norm");
  else
    list.norm("output_norm");
  if (!shape.tiedOutput)
    list.matrix("output", shape.vocabulary, shape.hidden);
  if (shape.ropeFactor != 0.0f)
    list.constant("rope_freqs", ropeDivisors(shape));
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    std::string block = absl::StrCat("blk.", layer, ".");
    if (isNeox)
      addNeoxLayer(list, shape, block);
    else if (shape.isGptOss())
      addGptOssLayer(list, shape, block);
    else if (shape.experts > 0)
      addQwen3MoeLayer(list, shape, block);
    else
      addLlamaLayer(list, shape, block);
  }
  return list.take();
}

} // namespace tenon::tools
