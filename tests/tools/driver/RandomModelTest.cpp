#include "tools/driver/RandomModel.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "frontends/gguf/GgufFile.h"
#include "support/Hash.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"
#include "tools/driver/internal/RandomWeights.h"

namespace tenon::tools {
namespace {

using frontends::GgufFile;
using frontends::GgufTensor;
using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;
using Shape = std::vector<int64_t>;

/// The named shape with two narrow layers.
ModelShape smallShape(const std::string& name) {
  ModelShape shape = *findModelShape(name);
  shape.layers = 2;
  shape.hidden = 128;
  shape.ffn = 352;
  shape.heads = 4;
  shape.kvHeads = shape.architecture == "gptneox" ? 4 : 2;
  shape.vocabulary = 1000;
  shape.context = 256;
  return shape;
}

class RandomModel : public ::testing::Test {
protected:
  std::shared_ptr<const GgufFile> make(const ModelShape& shape, std::string_view type,
                                       uint64_t seed = 1) {
    absl::Status written = writeRandomModel(shape, *findEncoding(type), seed, path);
    EXPECT_THAT(written, IsOk());
    auto file = GgufFile::open(path);
    EXPECT_THAT(file, IsOk());
    return file.ok() ? *file : nullptr;
  }

  std::vector<double> decode(const GgufFile& file, std::string_view name) {
    auto tensor = file.requireTensor(name);
    EXPECT_THAT(tensor, IsOk());
    const Encoding& encoding = *(*tensor)->encoding;
    std::vector<double> values((*tensor)->byteSize / encoding.blockBytes * encoding.blockSize);
    encoding.decode(file.data(**tensor), values);
    return values;
  }

  tests::TempFolder folder;
  std::string path = folder.path("random.gguf");
};

TEST(ModelShapes, AreTheRealModels) {
  // Parameters as the model cards count them, in millions.
  for (auto [name, millions] : {std::pair("llama-3.2-1b", 1236), std::pair("llama-3.1-8b", 8030),
                                std::pair("pythia-2.8b", 2775), std::pair("qwen3-30b-a3b", 30532),
                                std::pair("gpt-oss-20b", 20908)}) {
    auto found = findModelShape(name);
    ASSERT_THAT(found, IsOk());
    const ModelShape& s = *found;
    bool isNeox = s.architecture == "gptneox";
    int64_t width = s.headElements() * s.heads, kvWidth = s.headElements() * s.kvHeads;
    int64_t mlp = (isNeox ? 2 : 3) * s.hidden * s.ffn;
    if (s.experts > 0)
      mlp = s.experts * (s.hidden + 3 * s.hidden * s.expertFfn);
    int64_t layer = 2 * s.hidden * width + 2 * s.hidden * kvWidth + mlp;
    int64_t all = s.layers * layer + (s.tiedOutput ? 1 : 2) * s.vocabulary * s.hidden;
    EXPECT_NEAR(static_cast<double>(all) / 1e6, millions, 1.5) << name;
  }
  EXPECT_THAT(findModelShape("gpt-9"),
              FailsWith(absl::StatusCode::kNotFound,
                        HasSubstr("expects one of llama-3.2-1b, llama-3.1-8b, pythia-2.8b, "
                                  "qwen3-30b-a3b, gpt-oss-20b, but got 'gpt-9'")));
}

TEST(ModelShapes, TakeOtherSizes) {
  auto found = findModelShape("llama-3.2-1b,layers=2,kv-heads=4,vocabulary=300,context=64");
  ASSERT_THAT(found, IsOk());
  ModelShape expected = *findModelShape("llama-3.2-1b");
  EXPECT_EQ(found->name, expected.name);
  EXPECT_EQ(std::tuple(found->layers, found->kvHeads, found->vocabulary, found->context),
            std::tuple(2, 4, 300, 64));
  EXPECT_EQ(std::tuple(found->hidden, found->ffn, found->heads),
            std::tuple(expected.hidden, expected.ffn, expected.heads));
  for (const char* size : {"width=3", "ffn", "ffn=", "ffn=3x", "=3", ""})
    EXPECT_THAT(
        findModelShape("llama-3.2-1b," + std::string(size)),
        FailsWith(absl::StatusCode::kInvalidArgument,
                  HasSubstr("expects sizes, SIZE=NUMBER, of layers, hidden, ffn, heads, "
                            "kv-heads, vocabulary, context, experts, expert-ffn, but got '" +
                            std::string(size) + "'")))
        << size;
}

TEST_F(RandomModel, LlamaHasTheTensorsAndKeysOfRealFiles) {
  auto file = make(smallShape("llama-3.2-1b"), "q8_0");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(*file->requireString("general.architecture"), "llama");
  EXPECT_EQ(*file->requireU64("llama.block_count"), 2u);
  EXPECT_EQ(*file->requireU64("llama.embedding_length"), 128u);
  EXPECT_EQ(*file->requireU64("llama.feed_forward_length"), 352u);
  EXPECT_EQ(*file->requireU64("llama.attention.head_count"), 4u);
  EXPECT_EQ(*file->requireU64("llama.attention.head_count_kv"), 2u);
  EXPECT_EQ(*file->requireU64("llama.rope.dimension_count"), 32u);
  EXPECT_EQ(*file->requireU64("llama.context_length"), 256u);
  EXPECT_EQ(*file->requireU64("llama.vocab_size"), 1000u);
  EXPECT_EQ(*file->requireF32("llama.rope.freq_base"), 500000.0f);
  EXPECT_EQ(*file->requireF32("llama.attention.layer_norm_rms_epsilon"), 1e-5f);
  EXPECT_EQ(*file->requireU64("general.file_type"), 7u);
  EXPECT_EQ(*file->requireU64("general.quantization_version"), 2u);
  EXPECT_EQ(file->tensors().size(), 3u + 2 * 9);
  EXPECT_EQ(file->findTensor("output.weight"), nullptr);
  EXPECT_EQ((*file->requireTensor("blk.1.attn_k.weight", Shape{64, 128}))->encoding->name, "q8_0");
  EXPECT_THAT(file->requireTensor("blk.1.ffn_down.weight", Shape{128, 352}), IsOk());
  EXPECT_EQ((*file->requireTensor("blk.1.ffn_norm.weight", Shape{128}))->encoding->name, "f32");
  EXPECT_THAT(file->requireTensor("rope_freqs.weight", Shape{16}), IsOk());
}

TEST_F(RandomModel, MixturesOfExpertsHaveTheirTensors) {
  auto found = findModelShape("qwen3-30b-a3b,layers=1,hidden=64,ffn=96,heads=2,kv-heads=1,"
                              "vocabulary=300,context=64,experts=9,expert-ffn=32");
  ASSERT_THAT(found, IsOk());
  auto file = make(*found, "q8_0");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(*file->requireString("general.architecture"), "qwen3moe");
  EXPECT_EQ(*file->requireU64("qwen3moe.expert_count"), 9u);
  EXPECT_EQ(*file->requireU64("qwen3moe.expert_used_count"), 8u);
  EXPECT_EQ(*file->requireU64("qwen3moe.attention.key_length"), 128u);
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_gate_inp.weight", Shape{9, 64}))->encoding->name,
            "f32");
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_up_exps.weight", Shape{9, 32, 64}))->encoding->name,
            "q8_0");
  EXPECT_THAT(file->requireTensor("blk.0.ffn_down_exps.weight", Shape{9, 64, 32}), IsOk());
  EXPECT_THAT(file->requireTensor("blk.0.attn_q.weight", Shape{256, 64}), IsOk());
  EXPECT_THAT(file->requireTensor("blk.0.attn_k_norm.weight", Shape{128}), IsOk());
  EXPECT_EQ(file->findTensor("blk.0.ffn_up.weight"), nullptr);
}

TEST_F(RandomModel, GptOssHasExpertsInItsType) {
  auto found = findModelShape("gpt-oss-20b,layers=1,hidden=64,ffn=32,heads=2,kv-heads=1,"
                              "vocabulary=300,context=64,experts=9,expert-ffn=32");
  ASSERT_THAT(found, IsOk());
  auto file = make(*found, "mxfp4");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(*file->requireString("general.architecture"), "gpt-oss");
  EXPECT_EQ(*file->requireU64("gpt-oss.attention.sliding_window"), 128u);
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_up_exps.weight", Shape{9, 32, 64}))->encoding->name,
            "mxfp4");
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_up_exps.bias", Shape{9, 32}))->encoding->name, "f32");
  EXPECT_EQ((*file->requireTensor("blk.0.attn_q.weight", Shape{128, 64}))->encoding->name, "q8_0");
  EXPECT_THAT(file->requireTensor("blk.0.attn_sinks.weight", Shape{2}), IsOk());
  // Beside experts in another type all else is as in safetensors.
  auto dense = make(*found, "f16");
  ASSERT_NE(dense, nullptr);
  EXPECT_EQ((*dense->requireTensor("blk.0.attn_q.weight", Shape{128, 64}))->encoding->name, "bf16");
}

TEST_F(RandomModel, UntiedLlamaHasAnOutput) {
  auto file = make(smallShape("llama-3.1-8b"), "bf16");
  ASSERT_NE(file, nullptr);
  auto output = file->requireTensor("output.weight", Shape{1000, 128});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ((*output)->encoding->name, "bf16");
  EXPECT_NE(decode(*file, "output.weight"), decode(*file, "token_embd.weight"));
}

TEST_F(RandomModel, NeoxHasTheTensorsAndKeysOfTinyNeox) {
  auto tiny = GgufFile::open(std::string(TENON_TEST_DATA) + "/tiny-neox/tiny-neox-262k-f32.gguf");
  ASSERT_THAT(tiny, IsOk());
  ModelShape shape = smallShape("pythia-2.8b");
  shape.layers = 4;
  auto file = make(shape, "f16");
  ASSERT_NE(file, nullptr);
  for (const frontends::GgufMetadata& entry : (*tiny)->metadata()) {
    ASSERT_TRUE(file->has(entry.key)) << entry.key;
    EXPECT_EQ(file->find(entry.key)->type, entry.value.type) << entry.key;
  }
  EXPECT_EQ(file->tensors().size(), (*tiny)->tensors().size());
  for (const GgufTensor& tensor : (*tiny)->tensors()) {
    auto made = file->requireTensor(tensor.name);
    ASSERT_THAT(made, IsOk());
    EXPECT_EQ((*made)->ne.size(), tensor.ne.size());
    EXPECT_EQ((*made)->encoding->name, tensor.ne.size() == 1 ? "f32" : "f16");
  }
  EXPECT_EQ(*file->requireU64("gptneox.rope.dimension_count"), 8u);
}

TEST_F(RandomModel, WeightsHaveTheStatedDeviations) {
  auto file = make(smallShape("llama-3.2-1b"), "f32");
  ASSERT_NE(file, nullptr);
  for (auto [name, mean, deviation] :
       {std::tuple("token_embd.weight", 0.0, 1 / std::sqrt(128.0)),
        std::tuple("blk.0.ffn_down.weight", 0.0, 1 / std::sqrt(352.0)),
        std::tuple("blk.0.attn_norm.weight", 1.0, 0.05)}) {
    std::vector<double> values = decode(*file, name);
    double sum = 0;
    double squares = 0;
    for (double value : values) {
      sum += value - mean;
      squares += (value - mean) * (value - mean);
    }
    double count = static_cast<double>(values.size());
    EXPECT_NEAR(sum / count / deviation, 0.0, 5 / std::sqrt(count)) << name;
    EXPECT_NEAR(std::sqrt(squares / count) / deviation, 1.0, 5 / std::sqrt(count)) << name;
  }
}

// The divisors that transformers computes for Llama-3.2-1B (rope_type llama3, factor 32): one for
// the short wavelengths, 32 for the long, between them a blend.
TEST_F(RandomModel, RopeDivisorsAreLlama3s) {
  ModelShape shape = smallShape("llama-3.2-1b");
  shape.hidden = 256; // heads of 64, as the model has
  auto file = make(shape, "f16");
  ASSERT_NE(file, nullptr);
  std::vector<double> divisors = decode(*file, "rope_freqs.weight");
  ASSERT_EQ(divisors.size(), 32u);
  for (int i = 0; i < 32; ++i) {
    double wavelength = 2 * M_PI * std::pow(500000.0, i / 32.0);
    if (wavelength < 2048)
      EXPECT_EQ(divisors[i], 1.0) << i;
    else if (wavelength > 8192)
      EXPECT_EQ(divisors[i], 32.0) << i;
    else {
      double smooth = (8192 / wavelength - 1) / 3;
      EXPECT_NEAR(divisors[i], 32 / (1 - smooth + 32 * smooth), 1e-5) << i;
      EXPECT_GT(divisors[i], 1.0);
    }
  }
  EXPECT_EQ(divisors[0], 1.0);
  EXPECT_EQ(divisors[31], 32.0);
}

TEST_F(RandomModel, RowsThatAreNoBlocksAreF16) {
  ModelShape shape = smallShape("llama-3.2-1b");
  shape.ffn = 172;
  auto file = make(shape, "q4_0");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_down.weight"))->encoding->name, "f16");
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_up.weight"))->encoding->name, "q4_0");
  EXPECT_EQ(*file->requireU64("general.file_type"), 2u);
}

TEST_F(RandomModel, SuperBlocksNeedRowsOf256) {
  ModelShape shape = smallShape("llama-3.2-1b");
  shape.hidden = 256;
  auto file = make(shape, "q4_k"); // ffn is 352
  ASSERT_NE(file, nullptr);
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_down.weight"))->encoding->name, "f16");
  EXPECT_EQ((*file->requireTensor("blk.0.ffn_up.weight"))->encoding->name, "q4_k");
  EXPECT_EQ(*file->requireU64("general.file_type"), 14u);
  EXPECT_EQ(*file->requireU64("general.quantization_version"), 2u);
  double power = 0;
  std::vector<double> values = decode(*file, "blk.0.ffn_up.weight");
  ASSERT_EQ(values.size(), 352u * 256);
  for (double value : values)
    power += value * value;
  EXPECT_NEAR(power / static_cast<double>(values.size()), 1.0 / 256, 0.02 / 256);
}

// llama.cpp's numbers, by which readers name the file.
TEST_F(RandomModel, FileTypeNamesTheEncoding) {
  for (auto [name, type] : {std::pair("f32", 0u), std::pair("q4_1", 3u), std::pair("q5_1", 9u),
                            std::pair("q6_k", 18u), std::pair("iq4_nl", 25u)}) {
    auto file = make(smallShape("llama-3.2-1b"), name);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(*file->requireU64("general.file_type"), type) << name;
  }
}

TEST_F(RandomModel, BytesDependOnTheSeedAlone) {
  ModelShape shape = smallShape("llama-3.2-1b");
  shape.vocabulary = 40000; // several units of work in one tensor
  make(shape, "q4_0");
  std::string first = tests::readFile(path);
  make(shape, "q4_0");
  EXPECT_TRUE(tests::readFile(path) == first);
  make(shape, "q4_0", 2);
  EXPECT_FALSE(tests::readFile(path) == first);
}

// A matrix is made in many units on all cores, and written in several pieces; together they must be
// the one sequence of its name.
TEST_F(RandomModel, LargeMatricesAreOneSequence) {
  ModelShape shape = smallShape("llama-3.2-1b");
  shape.vocabulary = 140000;
  auto file = make(shape, "f16", 5);
  ASSERT_NE(file, nullptr);
  const GgufTensor& tensor = *file->findTensor("token_embd.weight");
  std::vector<float> values(140000 * 128);
  ASSERT_GT(values.size(), size_t(1) << 24);
  GaussianSequence(5, tensor.name, 0.0f, 1.0f / std::sqrt(128.0f)).fill(0, values);
  std::vector<std::byte> expected(tensor.byteSize);
  tensor.encoding->encodeF32(values, expected);
  EXPECT_TRUE(std::ranges::equal(file->data(tensor), expected));
}

// Benchmarks on two machines must see the same weights: the hash was taken on x86-64.
TEST_F(RandomModel, BytesAreTheSameEverywhere) {
  make(smallShape("llama-3.2-1b"), "q8_0");
  std::string bytes = tests::readFile(path);
  EXPECT_EQ(hashBytes(std::as_bytes(std::span(bytes))), 17638623835081601092u);
}

TEST_F(RandomModel, OtherTypesHoldTheSameWeights) {
  ModelShape shape = smallShape("pythia-2.8b");
  std::vector<double> exact = decode(*make(shape, "f32"), "blk.1.ffn_up.weight");
  std::vector<double> half = decode(*make(shape, "f16"), "blk.1.ffn_up.weight");
  for (size_t i = 0; i < exact.size(); ++i)
    ASSERT_NEAR(half[i], exact[i], std::fabs(exact[i]) * 0x1p-11 + 1e-7);
}

TEST_F(RandomModel, VocabularyHasBytesAndDistinctPieces) {
  auto file = make(smallShape("pythia-2.8b"), "f16");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(*file->requireString("tokenizer.ggml.model"), "llama");
  std::vector<std::string_view> tokens = *file->requireStrings("tokenizer.ggml.tokens");
  std::vector<int64_t> types = *file->requireI64s("tokenizer.ggml.token_type");
  std::vector<float> scores = *file->requireF32s("tokenizer.ggml.scores");
  ASSERT_EQ(tokens.size(), 1000u);
  ASSERT_EQ(types.size(), 1000u);
  ASSERT_EQ(scores.size(), 1000u);
  EXPECT_EQ(std::set<std::string_view>(tokens.begin(), tokens.end()).size(), 1000u);
  EXPECT_EQ(tokens[0], "<unk>");
  EXPECT_EQ(tokens[1], "<s>");
  EXPECT_EQ(tokens[2], "</s>");
  EXPECT_EQ(tokens[3], "<0x00>");
  EXPECT_EQ(tokens[258], "<0xFF>");
  EXPECT_EQ(types[0], 2);
  EXPECT_EQ(types[1], 3);
  EXPECT_EQ(types[3], 6);
  EXPECT_EQ(types[258], 6);
  EXPECT_EQ(types[259], 1);
  EXPECT_EQ(tokens[259], "▁");
  EXPECT_EQ(tokens[260], "!");
  EXPECT_EQ(tokens[354], "▁a");
  EXPECT_LT(scores[999], scores[300]);
}

TEST_F(RandomModel, TellsHowFarItIs) {
  uint64_t last = 0;
  uint64_t all = 0;
  ASSERT_THAT(writeRandomModel(smallShape("llama-3.2-1b"), *findEncoding("f16"), 1, path,
                               [&](uint64_t done, uint64_t total) {
                                 EXPECT_GT(done, last);
                                 last = done;
                                 all = total;
                               }),
              IsOk());
  EXPECT_EQ(last, all);
  EXPECT_NEAR(static_cast<double>(all) / std::filesystem::file_size(path), 1.0, 0.1);
}

TEST_F(RandomModel, RefusesWhatIsNoModel) {
  auto attempt = [&](auto change) {
    ModelShape shape = smallShape("llama-3.2-1b");
    change(shape);
    return writeRandomModel(shape, *findEncoding("f16"), 1, path);
  };
  auto refuses = [](const char* text) {
    return FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr(text));
  };
  EXPECT_THAT(attempt([](ModelShape& s) { s.layers = 0; }),
              refuses("random model expects layers from 1 to 1024, but got 0"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.hidden = -1; }), refuses("expects hidden from 1 to"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.ffn = 1ll << 40; }), refuses("expects ffn from 1 to"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.heads = 0; }), refuses("expects heads from 1 to"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.kvHeads = 0; }), refuses("expects kv-heads from 1 to"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.vocabulary = 258; }),
              refuses("expects vocabulary from 259 to"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.context = 0; }), refuses("expects context from 1 to"));
  EXPECT_THAT(
      attempt([](ModelShape& s) { s.hidden = 132; }),
      refuses("expects a hidden size that is a multiple of 8 (heads, times 2 for the rotary "
              "pairs of 1/1 of each head), but got 132"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.kvHeads = 3; }),
              refuses("expects kv-heads that divide the 4 heads, but got 3"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.experts = 8; }),
              refuses("expects experts from 0 to 0, but got 8"));
  EXPECT_THAT(attempt([](ModelShape& s) { s.expertFfn = 8; }),
              refuses("expects expert-ffn from 0 to 0, but got 8"));
  ModelShape mixture = *findModelShape("qwen3-30b-a3b,experts=7");
  EXPECT_THAT(writeRandomModel(mixture, *findEncoding("f16"), 1, path),
              refuses("expects experts from 8 to 4096, but got 7"));
  ModelShape neox = smallShape("pythia-2.8b");
  neox.kvHeads = 2;
  EXPECT_THAT(writeRandomModel(neox, *findEncoding("f16"), 1, path),
              refuses("expects kv-heads that equal the 4 heads, but got 2"));
  EXPECT_THAT(
      writeRandomModel(smallShape("llama-3.2-1b"), *findEncoding("f16"), 1, "/nowhere/random.gguf"),
      FailsWith(absl::StatusCode::kNotFound, HasSubstr("/nowhere/random.gguf")));
}

TEST_F(RandomModel, MetadataAloneHaveNoWeights) {
  ModelShape shape = smallShape("llama-3.2-1b");
  auto full = make(shape, "bf16");
  size_t files = folder.names().size();
  auto mapped = makeModelMetadata(shape, *findEncoding("bf16"));
  ASSERT_THAT(mapped, IsOk());
  EXPECT_EQ(folder.names().size(), files);
  EXPECT_FALSE((*mapped)->isFile());
  auto file = GgufFile::create(*mapped);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->path(), shape.name);
  ASSERT_EQ((*file)->metadata().size(), full->metadata().size());
  ASSERT_EQ((*file)->tensors().size(), full->tensors().size());
  EXPECT_EQ((*file)->mapping()->bytes().size(), full->mapping()->bytes().size());
  for (const GgufTensor& tensor : full->tensors()) {
    auto found = (*file)->data(*(*file)->findTensor(tensor.name));
    bool isConstant = tensor.name == "rope_freqs.weight";
    EXPECT_EQ(std::ranges::equal(found, full->data(tensor)), isConstant) << tensor.name;
  }
  shape.layers = 0;
  EXPECT_THAT(makeModelMetadata(shape, *findEncoding("bf16")),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("layers")));
}

} // namespace
} // namespace tenon::tools
