#include "tests/frontends/gguf/ModelFile.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "frontends/gguf/GgufFile.h"

namespace tenon::frontends {

static constexpr int64_t hidden = 8, ffn = 32, vocabulary = 5;

/// What both families have, with the keys' prefix.
static ModelFile makeCommon(const std::string& architecture) {
  ModelFile model;
  model.keys = {
      {"general.architecture", architecture},
      {"general.name", std::string("a test's model")},
      {architecture + ".block_count", 2u},
      {architecture + ".embedding_length", uint32_t(hidden)},
      {architecture + ".feed_forward_length", uint32_t(ffn)},
      {architecture + ".context_length", 16u},
      {"tokenizer.ggml.tokens", std::vector<std::string>{"a", "b", "c", "d", "e"}},
  };
  model.tensors = {
      {"token_embd.weight", {{vocabulary, hidden}}},
      {"output_norm.weight", {{hidden}}},
      {"output.weight", {{vocabulary, hidden}}},
  };
  return model;
}

ModelFile ModelFile::llama() {
  ModelFile model = makeCommon("llama");
  model.keys["llama.attention.head_count"] = 4u;
  model.keys["llama.attention.head_count_kv"] = 2u;
  model.keys["llama.attention.layer_norm_rms_epsilon"] = 1e-5f;
  for (std::string block : {"blk.0.", "blk.1."})
    model.tensors.insert({
        {block + "attn_norm.weight", {{hidden}}},
        {block + "attn_q.weight", {{8, hidden}}},
        {block + "attn_k.weight", {{4, hidden}}},
        {block + "attn_v.weight", {{4, hidden}}},
        {block + "attn_output.weight", {{hidden, 8}}},
        {block + "ffn_norm.weight", {{hidden}}},
        {block + "ffn_gate.weight", {{ffn, hidden}}},
        {block + "ffn_up.weight", {{ffn, hidden}}},
        {block + "ffn_down.weight", {{hidden, ffn}}},
    });
  return model;
}

ModelFile ModelFile::gptNeox() {
  ModelFile model = makeCommon("gptneox");
  model.keys["gptneox.attention.head_count"] = 2u;
  model.keys["gptneox.rope.dimension_count"] = 2u;
  model.keys["gptneox.attention.layer_norm_epsilon"] = 1e-5f;
  model.keys["gptneox.use_parallel_residual"] = true;
  model.tensors["output_norm.bias"] = {{hidden}};
  for (std::string block : {"blk.0.", "blk.1."})
    model.tensors.insert({
        {block + "attn_norm.weight", {{hidden}}},
        {block + "attn_norm.bias", {{hidden}}},
        {block + "attn_qkv.weight", {{24, hidden}}},
        {block + "attn_qkv.bias", {{24}}},
        {block + "attn_output.weight", {{hidden, hidden}}},
        {block + "attn_output.bias", {{hidden}}},
        {block + "ffn_norm.weight", {{hidden}}},
        {block + "ffn_norm.bias", {{hidden}}},
        {block + "ffn_up.weight", {{ffn, hidden}}},
        {block + "ffn_up.bias", {{ffn}}},
        {block + "ffn_down.weight", {{hidden, ffn}}},
        {block + "ffn_down.bias", {{hidden}}},
    });
  return model;
}

static void addKey(GgufWriter& writer, const std::string& key, const ModelFile::KeyValue& value) {
  if (auto* number = std::get_if<uint32_t>(&value))
    writer.addU32(key, *number);
  else if (auto* real = std::get_if<float>(&value))
    writer.addF32(key, *real);
  else if (auto* flag = std::get_if<bool>(&value))
    writer.addBool(key, *flag);
  else if (auto* text = std::get_if<std::string>(&value))
    writer.addString(key, *text);
  else
    writer.addStrings(key, std::get<std::vector<std::string>>(value));
}

static std::vector<std::byte> encodeTensor(const ModelTensor& tensor) {
  int64_t elements = 1;
  for (int64_t length : tensor.shape)
    elements *= length;
  std::vector<double> values = tensor.values;
  while (std::ssize(values) < elements)
    values.push_back(0.25 * std::sin(static_cast<double>(values.size() + elements)));
  const Encoding* encoding = findEncoding(tensor.encoding);
  std::vector<std::byte> bytes(encoding->bytesFor(elements));
  encoding->encode(values, bytes);
  return bytes;
}

static ModelFile::KeyValue keyValue(const GgufValue& value) {
  if (std::optional<bool> flag = value.asBool())
    return *flag;
  if (std::optional<uint64_t> number = value.asU64())
    return static_cast<uint32_t>(*number);
  if (std::optional<double> real = value.asF64())
    return static_cast<float>(*real);
  return std::string(value.asString().value());
}

ModelFile ModelFile::read(const std::string& path) {
  ModelFile model;
  auto file = GgufFile::open(path);
  EXPECT_THAT(file, tests::IsOk());
  if (!file.ok())
    return model;
  for (const GgufMetadata& entry : (*file)->metadata())
    model.keys[std::string(entry.key)] = keyValue(entry.value);
  for (const GgufTensor& tensor : (*file)->tensors()) {
    ModelTensor& copy = model.tensors[std::string(tensor.name)];
    copy = {tensor.shape(), std::string(tensor.encoding->name)};
    int64_t elements = 1;
    for (int64_t length : copy.shape)
      elements *= length;
    copy.values.resize(elements);
    tensor.encoding->decode((*file)->data(tensor), copy.values);
  }
  return model;
}

ModelFile ModelFile::part(uint32_t part, uint32_t parts) const {
  ModelFile result;
  if (part == 0)
    result.keys = keys;
  result.keys["split.no"] = part;
  result.keys["split.count"] = parts;
  result.keys["split.tensors.count"] = static_cast<uint32_t>(tensors.size());
  uint32_t index = 0;
  for (const auto& [name, tensor] : tensors)
    if (index++ % parts == part)
      result.tensors[name] = tensor;
  return result;
}

std::string ModelFile::writeSplit(const tests::TempFolder& folder, uint32_t parts) const {
  auto name = [&](uint32_t index) {
    return absl::StrFormat("model-%05d-of-%05d.gguf", index + 1, parts);
  };
  for (uint32_t index = 0; index < parts; ++index)
    part(index, parts).write(folder, name(index));
  return folder.path(name(0));
}

std::string ModelFile::write(const tests::TempFolder& folder, const std::string& name) const {
  std::string path = folder.path(name);
  auto writer = GgufWriter::create(path);
  EXPECT_THAT(writer, tests::IsOk());
  for (const auto& [key, value] : keys)
    addKey(**writer, key, value);
  for (const auto& [name, tensor] : tensors)
    EXPECT_THAT((*writer)->addTensor(name, tensor.shape, *findEncoding(tensor.encoding)),
                tests::IsOk());
  for (const auto& [name, tensor] : tensors)
    EXPECT_THAT((*writer)->append(encodeTensor(tensor)), tests::IsOk());
  EXPECT_THAT((*writer)->finish(), tests::IsOk());
  return path;
}

} // namespace tenon::frontends
