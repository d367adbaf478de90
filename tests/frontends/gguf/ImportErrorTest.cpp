#include <cmath>
#include <functional>

#include "tests/frontends/gguf/ImportFixture.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::FailsWith;
using ::testing::AllOf;
using ::testing::HasSubstr;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode notFound = absl::StatusCode::kNotFound;

/// A change of a good file and the parts of the message that it must give, beside the file's name.
struct ErrorCase {
  const char* name;
  ModelFile (*base)();
  std::function<void(ModelFile&)> change;
  absl::StatusCode code;
  std::vector<std::string> parts;
};

class ImportErrorTest : public ImportFixture, public ::testing::WithParamInterface<ErrorCase> {};

TEST_P(ImportErrorTest, NamesFileAndCause) {
  ModelFile model = GetParam().base();
  GetParam().change(model);
  auto module = import(model);
  EXPECT_THAT(module, FailsWith(GetParam().code, HasSubstr("model.gguf: ")));
  for (const std::string& part : GetParam().parts)
    EXPECT_THAT(module, FailsWith(GetParam().code, HasSubstr(part)));
}

ErrorCase missingKey(const char* name, ModelFile (*base)(), const std::string& key) {
  return {name, base, [=](ModelFile& m) { m.keys.erase(key); }, notFound, {"'" + key + "'"}};
}

ErrorCase badKey(const char* name, ModelFile (*base)(), const std::string& key,
                 const ModelFile::KeyValue& value, const std::string& part) {
  return {name, base, [=](ModelFile& m) { m.keys[key] = value; }, invalid, {"'" + key + "'", part}};
}

ErrorCase missingTensor(const char* name, ModelFile (*base)(), const std::string& tensor) {
  return {
      name, base, [=](ModelFile& m) { m.tensors.erase(tensor); }, notFound, {"'" + tensor + "'"}};
}

ErrorCase badTensor(const char* name, ModelFile (*base)(), const std::string& tensor,
                    const ModelTensor& value, const std::string& part) {
  return {name,
          base,
          [=](ModelFile& m) { m.tensors[tensor] = value; },
          invalid,
          {"'" + tensor + "'", part}};
}

std::string nameOf(const ::testing::TestParamInfo<ErrorCase>& info) { return info.param.name; }

constexpr auto llama = &ModelFile::llama;
constexpr auto neox = &ModelFile::gptNeox;
constexpr auto phi3 = &ModelFile::phi3;
constexpr auto gemma2 = &ModelFile::gemma2;
constexpr uint32_t huge = 4000000000u;

INSTANTIATE_TEST_SUITE_P(
    Keys, ImportErrorTest,
    ::testing::Values(
        missingKey("NoArchitecture", llama, "general.architecture"),
        ErrorCase{
            "UnknownArchitecture",
            llama,
            [](ModelFile& m) { m.keys["general.architecture"] = std::string("mamba"); },
            invalid,
            {"'general.architecture' expects one of 'bert', ", "'llama', ", ", but got 'mamba'"}},
        missingKey("NoBlockCount", llama, "llama.block_count"),
        missingKey("NoEmbeddingLength", llama, "llama.embedding_length"),
        missingKey("NoFfnLength", llama, "llama.feed_forward_length"),
        missingKey("NoContextLength", llama, "llama.context_length"),
        missingKey("NoHeadCount", llama, "llama.attention.head_count"),
        missingKey("NoRmsEpsilon", llama, "llama.attention.layer_norm_rms_epsilon"),
        missingKey("NoEpsilon", neox, "gptneox.attention.layer_norm_epsilon"),
        missingKey("NoParallelResidual", neox, "gptneox.use_parallel_residual"),
        badKey("ParallelResidualNoBool", neox, "gptneox.use_parallel_residual", 1u, "a bool"),
        badKey("ZeroBlocks", llama, "llama.block_count", 0u, "at least 1, but got 0"),
        badKey("HugeBlocks", llama, "llama.block_count", huge, "at most"),
        badKey("TextBlocks", llama, "llama.block_count", std::string("two"), "an integer"),
        badKey("FewerBlocksThanTensors", llama, "llama.block_count", 1u,
               "expects more than 1 for tensor 'blk.1."),
        ErrorCase{"MoreBlocksThanTensors",
                  llama,
                  [](ModelFile& m) { m.keys["llama.block_count"] = 3u; },
                  notFound,
                  {"tensor 'blk.2.attn_norm.weight'"}},
        badKey("ZeroHidden", llama, "llama.embedding_length", 0u, "at least 1"),
        badKey("HugeHidden", llama, "llama.embedding_length", huge, "at most 268435456"),
        badKey("ZeroFfn", llama, "llama.feed_forward_length", 0u, "at least 1"),
        badKey("HugeFfn", llama, "llama.feed_forward_length", huge, "at most"),
        badKey("ZeroContext", llama, "llama.context_length", 0u, "at least 1"),
        badKey("HugeContext", llama, "llama.context_length", huge, "at most"),
        badKey("ZeroHeads", llama, "llama.attention.head_count", 0u, "at least 1"),
        badKey("HugeHeads", llama, "llama.attention.head_count", huge, "at most 65536"),
        badKey("HeadsNotDividing", llama, "llama.attention.head_count", 6u,
               "expects a divisor of the embedding length, 8, but got 6"),
        badKey("ZeroKvHeads", llama, "llama.attention.head_count_kv", 0u, "at least 1"),
        badKey("KvHeadsNotDividing", llama, "llama.attention.head_count_kv", 3u,
               "expects a divisor of the 4 heads, but got 3"),
        badKey("MoreKvHeadsThanHeads", llama, "llama.attention.head_count_kv", 8u, "divisor"),
        badKey("ZeroKeyLength", llama, "llama.attention.key_length", 0u, "at least 1"),
        badKey("HugeKeyLength", llama, "llama.attention.key_length", huge, "at most 65536"),
        badKey("ZeroValueLength", llama, "llama.attention.value_length", 0u, "at least 1"),
        badKey("ZeroRotary", llama, "llama.rope.dimension_count", 0u, "at least 1"),
        badKey("OddRotary", llama, "llama.rope.dimension_count", 1u, "an even number"),
        badKey("RotaryBeyondTheHead", llama, "llama.rope.dimension_count", 4u,
               "up to the head size, 2, but got 4"),
        badKey("NegativeClamp", &ModelFile::mpt, "mpt.attention.clamp_kqv", -0.5f,
               "expects a number of 0 or more, but got -0.5"),
        badKey("ZeroScale", llama, "llama.attention.scale", 0.0f, "above 0, but got 0"),
        badKey("ZeroEpsilon", llama, "llama.attention.layer_norm_rms_epsilon", 0.0f, "above 0"),
        badKey("NanEpsilon", llama, "llama.attention.layer_norm_rms_epsilon", NAN,
               "a finite number above 0, but got nan"),
        badKey("IntegerEpsilon", llama, "llama.attention.layer_norm_rms_epsilon", 1u,
               "a floating-point number"),
        badKey("VocabSize", llama, "llama.vocab_size", 6u,
               "expects the 5 rows of tensor 'token_embd.weight', but got 6"),
        badKey("TokenCount", llama, "tokenizer.ggml.tokens", std::vector<std::string>{"a", "b"},
               "as many tokens as the 5 rows of tensor 'token_embd.weight', but got 2")),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Rope, ImportErrorTest,
    ::testing::Values(
        badKey("BaseOne", llama, "llama.rope.freq_base", 1.0f, "above 1, but got 1"),
        badKey("InfiniteBase", llama, "llama.rope.freq_base", INFINITY, "finite"),
        badKey("UnknownScaling", llama, "llama.rope.scaling.type", std::string("dynamic"),
               "expects 'none', 'linear', 'longrope' or 'yarn', but got 'dynamic'"),
        badKey("ZeroFactor", llama, "llama.rope.scaling.factor", 0.0f, "above 0"),
        badKey("ZeroOlderFactor", llama, "llama.rope.scale_linear", 0.0f, "above 0"),
        badKey("ZeroAttentionFactor", llama, "llama.rope.scaling.attn_factor", 0.0f, "above 0"),
        badTensor("FactorsOfAnotherLength", llama, "rope_freqs.weight", {{2}},
                  "expects shape [1], but got [2]"),
        badTensor("LongFactorsOfAnotherLength", phi3, "rope_factors_long.weight", {{2}},
                  "expects shape [1], but got [2]"),
        badTensor("LongFactorBelowZero", phi3, "rope_factors_long.weight", {{1}, "f32", {-1.0}},
                  "finite numbers above 0, but got -1"),
        badKey("ZeroOriginalContext", phi3, "phi3.rope.scaling.original_context_length", 0u,
               "at least 1, but got 0"),
        badTensor("FactorsWithoutRotation", &ModelFile::gpt2, "rope_freqs.weight", {{2}},
                  "which it has no use for"),
        badTensor("FactorOfZero", llama, "rope_freqs.weight", {{1}, "f32", {0.0}},
                  "finite numbers above 0, but got 0")),
    nameOf);

ErrorCase badYarn(const char* name, const std::string& key, const ModelFile::KeyValue& value,
                  const std::string& part) {
  ErrorCase result = badKey(name, llama, key, value, part);
  auto change = result.change;
  result.change = [=](ModelFile& m) {
    m.keys["llama.rope.scaling.type"] = std::string("yarn");
    change(m);
  };
  return result;
}

INSTANTIATE_TEST_SUITE_P(
    Yarn, ImportErrorTest,
    ::testing::Values(
        badYarn("LogMultiplier", "llama.rope.scaling.yarn_log_multiplier", 0.1f, "to be absent"),
        badYarn("ZeroContext", "llama.rope.scaling.original_context_length", 0u, "at least 1"),
        badYarn("ZeroBetaFast", "llama.rope.scaling.yarn_beta_fast", 0.0f, "above 0"),
        badYarn("ZeroBetaSlow", "llama.rope.scaling.yarn_beta_slow", 0.0f, "above 0"),
        badYarn("ZeroExtFactor", "llama.rope.scaling.yarn_ext_factor", 0.0f, "above 0"),
        badYarn("ZeroAttnFactor", "llama.rope.scaling.yarn_attn_factor", 0.0f, "above 0")),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    Attention, ImportErrorTest,
    ::testing::Values(
        badKey("WindowWithoutMeaning", neox, "gptneox.attention.sliding_window", 4u,
               "expects to be absent or 0, but got 4"),
        badKey("HugeWindow", gemma2, "gemma2.attention.sliding_window", huge, "at most 268435456"),
        badKey("WindowPattern", gemma2, "gemma2.attention.sliding_window_pattern", 6u,
               "expects to be absent: architecture 'gemma2' does not honour it"),
        badKey("ZeroAttentionSoftcap", gemma2, "gemma2.attn_logit_softcapping", 0.0f, "above 0"),
        badKey("InfiniteLogitSoftcap", gemma2, "gemma2.final_logit_softcapping", INFINITY,
               "a finite number above 0"),
        badTensor("FewerPositionsThanTheContext", &ModelFile::gpt2, "position_embd.weight",
                  {{15, 8}}, "expects shape [16, 8], but got [15, 8]")),
    nameOf);

constexpr auto qwen3Moe = &ModelFile::qwen3Moe;

INSTANTIATE_TEST_SUITE_P(
    Experts, ImportErrorTest,
    ::testing::Values(
        badKey("OfAnotherFamily", neox, "gptneox.expert_count", 8u,
               "to be absent or 0: architecture 'gptneox' has no mixtures of experts"),
        ErrorCase{"TensorsOfAnotherFamily",
                  neox,
                  [](ModelFile& m) { m.tensors["blk.0.ffn_gate_inp.weight"] = {{4, 8}}; },
                  absl::StatusCode::kUnimplemented,
                  {"is a mixture of experts, which architecture 'gptneox' has not",
                   "'blk.0.ffn_gate_inp.weight'"}},
        badKey("NoneInTheirFamily", qwen3Moe, "qwen3moe.expert_count", 0u,
               "at least 1 where there is tensor 'blk.0.ffn_"),
        ErrorCase{"NeitherKeyNorTensors",
                  &ModelFile::qwen3,
                  [](ModelFile& m) {
                    std::map<std::string, ModelFile::KeyValue> keys;
                    for (const auto& [key, value] : m.keys)
                      keys[key.starts_with("qwen3.") ? "qwen3moe." + key.substr(6) : key] = value;
                    m.keys.swap(keys);
                    m.keys["general.architecture"] = std::string("qwen3moe");
                  },
                  invalid,
                  {"'qwen3moe.expert_count' expects an integer of at least 1, but got 0 or none"}},
        badKey("Huge", qwen3Moe, "qwen3moe.expert_count", huge, "at most"),
        missingKey("NoneChosen", qwen3Moe, "qwen3moe.expert_used_count"),
        badKey("MoreChosenThanThere", qwen3Moe, "qwen3moe.expert_used_count", 5u, "at most 4"),
        badKey("ZeroFfn", qwen3Moe, "qwen3moe.expert_feed_forward_length", 0u, "at least 1"),
        badKey("NormNoBool", qwen3Moe, "qwen3moe.expert_weights_norm", 1u, "a bool"),
        badKey("Sigmoid", qwen3Moe, "qwen3moe.expert_gating_func", 2u, "to be absent"),
        badKey("Scale", qwen3Moe, "qwen3moe.expert_weights_scale", 2.5f, "to be absent"),
        missingTensor("NoRouter", qwen3Moe, "blk.0.ffn_gate_inp.weight"),
        missingTensor("NoExperts", qwen3Moe, "blk.1.ffn_down_exps.weight"),
        badTensor("FewerExperts", qwen3Moe, "blk.0.ffn_up_exps.weight", {{3, 6, 8}},
                  "expects shape [4, 6, 8], but got [3, 6, 8]"),
        badTensor("NoMatrices", qwen3Moe, "blk.0.ffn_up_exps.weight", {{24, 8}},
                  "expects shape [4, 6, 8], but got [24, 8]")),
    nameOf);

/// Of an encoder, with the shape that it is imported in.
TEST_F(ImportFixture, EncodersNameWhatIsWrong) {
  auto errorWith = [&](const std::function<void(ModelFile&)>& change, const std::string& message,
                       absl::StatusCode code = invalid) {
    ModelFile model = ModelFile::bert();
    change(model);
    EXPECT_THAT(import(model, {.entries = {{Role::Prefill, 8}}}),
                FailsWith(code, HasSubstr(message)));
  };
  auto withKey = [](const std::string& key, const ModelFile::KeyValue& value) {
    return [=](ModelFile& model) { model.keys[key] = value; };
  };
  const std::string kinds =
      "'bert.pooling_type' expects 1, the mean of all tokens, or 2, the first "
      "token, but got ";
  errorWith(withKey("bert.pooling_type", 3u), kinds + "3");
  errorWith([](ModelFile& model) { model.keys.erase("bert.pooling_type"); }, kinds + "0 or none");
  errorWith(withKey("bert.attention.causal", true),
            "'bert.attention.causal' expects false for an encoder, but got true");
  errorWith([](ModelFile& model) { model.tensors.erase("token_types.weight"); },
            "'token_types.weight'", notFound);
  errorWith([](ModelFile& model) { model.tensors["token_types.weight"] = {{2, 7}}; },
            "expects shape [2, 8], but got [2, 7]");
}

INSTANTIATE_TEST_SUITE_P(
    NotHonoured, ImportErrorTest,
    ::testing::Values(
        badKey("YarnMagnitude", &ModelFile::mistral3, "mistral3.rope.scaling.yarn_log_multiplier",
               -0.5f, "a number of 0 or more, but got one below"),
        badKey("Alibi", llama, "llama.attention.max_alibi_bias", 8.0f,
               "does not honour it here, and it may change what the model computes "
               "(--ignore-key=llama.attention.max_alibi_bias goes on without it), but got 8"),
        badKey("Clamp", neox, "gptneox.attention.clamp_kqv", 6.0f, "to be absent"),
        badKey("LogitScale", llama, "llama.logit_scale", 0.0625f, "to be absent"),
        badKey("EmbeddingScale", llama, "llama.embedding_scale", 12.0f, "to be absent"),
        badKey("ResidualScale", &ModelFile::qwen2, "qwen2.residual_scale", 0.22f, "to be absent"),
        badKey("ExpertsUsed", llama, "llama.expert_used_count", 2u,
               "to be absent or 0 without experts"),
        badKey("NotCausal", llama, "llama.attention.causal", false, "to be absent"),
        badKey("ParallelResidual", llama, "llama.use_parallel_residual", true, "to be absent"),
        badKey("Unknown", llama, "llama.quantum_foam", std::string("on"), "but got 'on'")),
    nameOf);

class IgnoredKeysTest : public ImportFixture {};

TEST_F(IgnoredKeysTest, GoesOnWithoutThem) {
  ModelFile model = ModelFile::llama();
  model.keys["llama.attention.clamp_kqv"] = 6.0f;
  model.keys["llama.residual_scale"] = 0.5f;
  ImportOptions options;
  options.ignoredKeys = {"llama.attention.clamp_kqv"};
  EXPECT_THAT(import(model, options), FailsWith(invalid, HasSubstr("'llama.residual_scale'")));
  options.ignoredKeys = {"llama.attention.clamp_kqv", "residual_scale"};
  EXPECT_THAT(import(model, options), tests::IsOk());
  options.ignoredKeys.push_back("llama.block_count");
  EXPECT_THAT(import(model, options),
              FailsWith(invalid, HasSubstr("model.gguf: expects the ignored keys to be metadata "
                                           "keys that architecture 'llama' does not honour, but "
                                           "got 'llama.block_count'")));
}

TEST_F(IgnoredKeysTest, ValuesThatChangeNothingPass) {
  ModelFile model = ModelFile::llama();
  model.keys["llama.attention.clamp_kqv"] = 0.0f;
  model.keys["llama.attention.max_alibi_bias"] = 0.0f;
  model.keys["llama.attention.causal"] = true;
  model.keys["llama.logit_scale"] = 1.0f;
  model.keys["llama.expert_used_count"] = 0u;
  model.keys["llama.tensor_data_layout"] = std::string("Meta AI original pth");
  model.keys["llama.rope.scaling.finetuned"] = false;
  EXPECT_THAT(import(model), tests::IsOk());
}

INSTANTIATE_TEST_SUITE_P(
    Tensors, ImportErrorTest,
    ::testing::Values(
        missingTensor("NoEmbedding", llama, "token_embd.weight"),
        badTensor("EmbeddingOfAnotherWidth", llama, "token_embd.weight", {{5, 9}},
                  "expects shape [vocabulary, 8], but got [5, 9]"),
        badTensor("EmbeddingOfOneAxis", llama, "token_embd.weight", {{40}}, "but got 1 axes"),
        badTensor("OutputOfAnotherShape", llama, "output.weight", {{4, 8}},
                  "expects shape [5, 8], but got [4, 8]"),
        badTensor("TransposedMatrix", llama, "blk.0.ffn_down.weight", {{32, 8}},
                  "expects shape [8, 32], but got [32, 8]"),
        badTensor("LongNorm", llama, "blk.1.ffn_norm.weight", {{9}}, "expects shape [8]"),
        badTensor("QuantisedNorm", llama, "blk.1.ffn_norm.weight", {{8}, "i32"},
                  "expects floating-point numbers, but got type i32"),
        badTensor("IntegerMatrix", llama, "blk.1.ffn_up.weight", {{32, 8}, "i32"},
                  "expects floating-point numbers, but got type i32"),
        badTensor("UnusedTensor", llama, "blk.1.attn_q_norm.weight", {{2}},
                  "which it has no use for"),
        badTensor("UnusedBias", neox, "output.bias", {{5}}, "which it has no use for")),
    nameOf);

constexpr ModelFile (*everyFamily[])() = {llama,
                                          neox,
                                          &ModelFile::qwen2,
                                          &ModelFile::qwen3,
                                          &ModelFile::gpt2,
                                          &ModelFile::bloom,
                                          &ModelFile::mpt,
                                          &ModelFile::phi3,
                                          &ModelFile::gemma2};

/// Every tensor of every family is wanted.
TEST_F(ImportFixture, EveryMissingTensorIsNamed) {
  for (ModelFile (*base)() : everyFamily) {
    ModelFile good = base();
    for (const auto& [name, tensor] : good.tensors) {
      if (name == "output.weight" && base != neox)
        continue; // tied then
      if (name == "rope_factors_short.weight")
        continue; // not for a context of 16
      ModelFile model = good;
      model.tensors.erase(name);
      EXPECT_THAT(import(model), FailsWith(notFound, AllOf(HasSubstr("model.gguf: "),
                                                           HasSubstr("'" + name + "'"))));
    }
  }
}

/// Every tensor's shape is checked.
TEST_F(ImportFixture, EveryIllShapedTensorIsNamed) {
  for (ModelFile (*base)() : everyFamily) {
    ModelFile good = base();
    for (const auto& [name, tensor] : good.tensors) {
      if (name == "token_embd.weight")
        continue; // its rows are the vocabulary; see VocabSize and TokenCount
      if (name == "rope_factors_short.weight")
        continue; // not for a context of 16
      ModelFile model = good;
      model.tensors[name].shape.front() += 1;
      EXPECT_THAT(import(model), FailsWith(invalid, AllOf(HasSubstr("model.gguf: tensor '" + name),
                                                          HasSubstr("expects shape"))));
    }
  }
}

/// A changed byte in the metadata or the tensor table gives a module or an error, never a crash.
TEST_F(ImportFixture, SurvivesMutation) {
  for (ModelFile (*base)() : everyFamily) {
    std::string bytes = tests::readFile(base().write(folder));
    size_t header = bytes.rfind("token_embd.weight") + 64;
    int refused = 0;
    for (size_t i = 4; i < header; i += 7) {
      std::string mutated = bytes;
      mutated[i] = static_cast<char>(mutated[i] ^ "\x01\x80\xff\x10"[i % 4]);
      refused +=
          !importFile(folder.write("m.gguf", mutated), {.entries = {{Role::Decode, 1}}}).ok();
    }
    EXPECT_GT(refused, static_cast<int>(header / 14));
  }
}

TEST_F(ImportFixture, AFileThatIsNotThere) {
  EXPECT_THAT(importFile("/nowhere/m.gguf"), FailsWith(notFound, HasSubstr("/nowhere/m.gguf")));
}

TEST_F(ImportFixture, AFileThatIsNoGguf) {
  EXPECT_THAT(importFile(folder.write("x.gguf", "not a model")),
              FailsWith(invalid, HasSubstr("x.gguf")));
}

TEST_F(ImportFixture, OptionsThatDoNotFit) {
  auto fails = [&](const ImportOptions& options, const char* part) {
    EXPECT_THAT(import(ModelFile::llama(), options), FailsWith(invalid, HasSubstr(part)));
  };
  fails({.contextLength = 17}, "model.gguf: expects a context of 1 to 16 positions");
  fails({.contextLength = -1}, "but got -1");
  fails({.keptTokens = 4, .window = 13}, "model.gguf: expects first tokens and a window (sinks, "
                                         "window of --cache) of at most 16 together, "
                                         "the model's context, but got 4 and 13");
  fails({.keptTokens = 4}, "but got 4 and 0");
  fails({.contextLength = 8, .window = 4},
        "expects no context (--context) beside a window (--cache=window), but got 8 and 4");
  fails({.cache = CacheType::Q8}, "expects heads of a multiple of 8 elements, 256 at most, for "
                                  "caches of 8 and 4 bits (--cache), but "
                                  "got 2");
  fails({.entries = {}}, "expects at least one entry shape");
  fails({.entries = {{Role::Other, 1}}}, "expects entries for decode, prefill or mixed");
  fails({.entries = {{Role::Decode, 0}}},
        "import options: entry 'decode_0' expects 1 to 65536 rows");
  fails({.entries = {{Role::Prefill, 1 << 20}}}, "'prefill_1048576' expects 1 to 65536 rows");
  fails({.entries = {{Role::Decode, 2}, {Role::Decode, 2}}}, "got 'decode_2' twice");
  fails({.sequences = -1}, "expects 1 to 65536 sequences (--cache=sequences), but got -1");
  fails({.sequences = 1 << 20}, "but got 1048576");
}

} // namespace
} // namespace tenon::frontends
