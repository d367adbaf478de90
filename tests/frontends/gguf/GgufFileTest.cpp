#include "frontends/gguf/GgufFile.h"

#include <cstring>
#include <map>

#include "ir/encoding/Float16.h"
#include "tests/common/CollidingNames.h"
#include "tests/frontends/gguf/GgufBytes.h"

namespace tenon::frontends {
namespace {

using tests::IsOk;
using Shape = std::vector<int64_t>;

std::shared_ptr<const GgufFile> openData(const std::string& name) {
  auto file = GgufFile::open(std::string(TENON_TEST_DATA) + "/" + name);
  EXPECT_THAT(file, IsOk());
  return file.ok() ? *file : nullptr;
}

TEST(GgufFile, OpensStories) {
  for (const char* suffix : {"", "-f16", "-q8_0", "-q4_0"}) {
    SCOPED_TRACE(suffix);
    auto file = openData(std::string("stories260K/stories260K") + suffix + ".gguf");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->version(), 3u);
    EXPECT_EQ(file->alignment(), 32u);
    EXPECT_EQ(file->tensors().size(), 48u);
    EXPECT_EQ(*file->requireString("general.architecture"), "llama");
    EXPECT_EQ(*file->requireU64("llama.block_count"), 5u);
    EXPECT_EQ(*file->requireF32("llama.attention.layer_norm_rms_epsilon"), 1e-5f);
    EXPECT_EQ(file->requireStrings("tokenizer.ggml.tokens")->size(), 512u);
    EXPECT_EQ(file->requireF32s("tokenizer.ggml.scores")->size(), 512u);
    EXPECT_EQ(file->requireI64s("tokenizer.ggml.token_type")->at(0), 2);
    std::string_view matrix = *suffix ? suffix + 1 : "f32";
    EXPECT_THAT(file->requireTensor("token_embd.weight", Shape{512, 64}), IsOk());
    EXPECT_THAT(file->requireTensor("output_norm.weight", Shape{64}), IsOk());
    for (int layer = 0; layer < 5; ++layer) {
      std::string block = "blk." + std::to_string(layer) + ".";
      for (const auto& [name, shape] : std::map<std::string, Shape>{{"attn_norm", {64}},
                                                                    {"ffn_norm", {64}},
                                                                    {"attn_q", {64, 64}},
                                                                    {"attn_k", {32, 64}},
                                                                    {"attn_v", {32, 64}},
                                                                    {"attn_output", {64, 64}},
                                                                    {"ffn_gate", {172, 64}},
                                                                    {"ffn_up", {172, 64}},
                                                                    {"ffn_down", {64, 172}}}) {
        auto tensor = file->requireTensor(block + name + ".weight", shape);
        ASSERT_THAT(tensor, IsOk());
        bool isBlocks = matrix[0] == 'q';
        std::string_view expected = shape.size() == 1                 ? "f32"
                                    : isBlocks && shape.back() == 172 ? "f16"
                                                                      : matrix;
        EXPECT_EQ((*tensor)->encoding->name, expected) << block << name;
      }
    }
  }
}

TEST(GgufFile, OpensTinyNeox) {
  auto file = openData("tiny-neox/tiny-neox-262k-f32.gguf");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(*file->requireString("general.architecture"), "gptneox");
  EXPECT_EQ(*file->requireBool("gptneox.use_parallel_residual"), true);
  EXPECT_EQ(file->tensors().size(), 52u);
  EXPECT_THAT(file->requireTensor("blk.3.attn_qkv.weight", Shape{192, 64}), IsOk());
  EXPECT_THAT(file->requireTensor("blk.3.attn_qkv.bias", Shape{192}), IsOk());
}

// The quantised files were made from the f32 file by other software; each tensor must be what our
// encodings make of it.
TEST(GgufFile, DataOfQuantisedStoriesAreTheEncodedOriginals) {
  auto original = openData("stories260K/stories260K.gguf");
  ASSERT_NE(original, nullptr);
  for (const char* suffix : {"f16", "q8_0", "q4_0"}) {
    auto file = openData(std::string("stories260K/stories260K-") + suffix + ".gguf");
    ASSERT_NE(file, nullptr);
    for (const GgufTensor& tensor : file->tensors()) {
      const GgufTensor* source = original->findTensor(tensor.name);
      ASSERT_NE(source, nullptr) << tensor.name;
      ASSERT_EQ(source->ne, tensor.ne) << tensor.name;
      std::vector<float> values(source->byteSize / sizeof(float));
      std::memcpy(values.data(), original->data(*source).data(), source->byteSize);
      std::vector<std::byte> encoded(tensor.byteSize);
      tensor.encoding->encodeF32(values, encoded);
      std::span<const std::byte> found = file->data(tensor);
      ASSERT_EQ(found.size(), encoded.size()) << tensor.name;
      EXPECT_EQ(std::memcmp(found.data(), encoded.data(), encoded.size()), 0)
          << suffix << " " << tensor.name;
    }
  }
}

TEST(GgufFile, ReadsVersion2) {
  auto file = GgufBytes(0, 1, 2).key("a", GgufValueType::UInt8).number<uint8_t>(5).open();
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->version(), 2u);
  EXPECT_EQ(*(*file)->requireU64("a"), 5u);
}

TEST(GgufFile, AnEmptyModelIsAFile) {
  auto file = GgufBytes(0, 0).open();
  ASSERT_THAT(file, IsOk());
  EXPECT_TRUE((*file)->tensors().empty());
  EXPECT_TRUE((*file)->metadata().empty());
  EXPECT_EQ((*file)->find("any"), nullptr);
  EXPECT_EQ((*file)->findTensor("any"), nullptr);
}

TEST(GgufFile, PlacesTensorsByTheFilesAlignment) {
  GgufBytes bytes(2, 1);
  bytes.key("general.alignment", GgufValueType::UInt32).number<uint32_t>(256);
  bytes.tensor("a", {3, 2}, 0, 0).tensor("b", {32}, 2, 256).data(256 + 18, 256);
  bytes.bytes.back() = 'z';
  auto file = bytes.open();
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->alignment(), 256u);
  const GgufTensor& a = (*file)->tensors()[0];
  const GgufTensor& b = (*file)->tensors()[1];
  EXPECT_EQ(a.offset % 256, 0u);
  EXPECT_EQ(a.ne, (Shape{3, 2}));
  EXPECT_EQ(a.shape(), (Shape{2, 3}));
  EXPECT_EQ(a.byteSize, 24u);
  EXPECT_EQ(b.offset, a.offset + 256);
  EXPECT_EQ(b.encoding->name, "q4_0");
  EXPECT_EQ((*file)->data(b).size(), 18u);
  EXPECT_EQ((*file)->data(b).back(), std::byte('z'));
}

TEST(GgufFile, ScalarsAndSharedDataAreFine) {
  auto file = GgufBytes(2, 0).tensor("a", {}, 0, 0).tensor("b", {1}, 0, 0).data(4).open();
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->tensors()[0].byteSize, 4u);
  EXPECT_TRUE((*file)->tensors()[0].shape().empty());
  EXPECT_EQ((*file)->tensors()[0].offset, (*file)->tensors()[1].offset);
}

TEST(GgufFile, UnknownTypesAreListed) {
  auto file = GgufBytes(1, 0).tensor("a", {256}, 16, 0).data(66).open();
  ASSERT_THAT(file, IsOk());
  const GgufTensor* tensor = (*file)->findTensor("a");
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->encoding, nullptr);
  EXPECT_EQ(tensor->ggufType, 16u);
  EXPECT_EQ(tensor->byteSize, 0u);
  EXPECT_TRUE((*file)->data(*tensor).empty());
  EXPECT_EQ(ggufTensorTypeName(16), "iq2_xxs");
  EXPECT_EQ(ggufTensorTypeName(4), "unknown");
  EXPECT_EQ(ggufTensorTypeName(1000), "unknown");
  for (const Encoding* encoding : allEncodings())
    if (encoding->ggufType >= 0)
      EXPECT_EQ(ggufTensorTypeName(encoding->ggufType), encoding->name);
}

TEST(GgufFile, OptionalLookupsFallBack) {
  GgufBytes bytes(0, 4);
  bytes.key("u", GgufValueType::UInt16).number<uint16_t>(9);
  bytes.key("f", GgufValueType::Float64).number(0.25);
  bytes.key("b", GgufValueType::Bool).number<uint8_t>(1);
  bytes.key("s", GgufValueType::String).string("text");
  auto opened = bytes.open();
  ASSERT_THAT(opened, IsOk());
  const GgufFile& file = **opened;
  EXPECT_EQ(*file.optionalU64("u", 1), 9u);
  EXPECT_EQ(*file.optionalU64("none", 1), 1u);
  EXPECT_EQ(*file.optionalF32("f", 1.0f), 0.25f);
  EXPECT_EQ(*file.optionalF32("none", 1.0f), 1.0f);
  EXPECT_EQ(*file.optionalBool("b", false), true);
  EXPECT_EQ(*file.optionalBool("none", true), true);
  EXPECT_EQ(*file.optionalString("s", "other"), "text");
  EXPECT_EQ(*file.optionalString("none", "other"), "other");
}

/// Opens a file of `names` as metadata keys and as tensors, and looks each up.
void openAndFindAll(const std::vector<std::string>& names) {
  GgufBytes bytes(names.size(), names.size());
  for (const std::string& name : names)
    bytes.key(name, GgufValueType::UInt8).number<uint8_t>(1);
  for (size_t i = 0; i < names.size(); ++i)
    bytes.tensor(names[i], {1}, /*type=*/0, 32 * i);
  bytes.data(32 * names.size());
  auto file = bytes.open();
  ASSERT_THAT(file, IsOk());
  for (const std::string& name : names) {
    ASSERT_TRUE((*file)->findTensor(name));
    ASSERT_EQ(*(*file)->requireU64(name), 1u);
  }
}

/// Names that were made to collide cost no more than others: the hash of the tables is not known
/// before the process starts.
TEST(GgufFile, NamesOfOneHashCostNoMore) {
  constexpr size_t count = 20'000;
  std::vector<std::string> colliding = tests::namesOfOneHash(count);
#ifdef __GLIBCXX__
  ASSERT_EQ(std::hash<std::string>()(colliding[0]), std::hash<std::string>()(colliding[count - 1]));
#endif
  std::vector<std::string> others = tests::namesOfManyHashes(count);
  double usual = tests::cpuSecondsOf([&] { openAndFindAll(others); });
  EXPECT_LT(tests::cpuSecondsOf([&] { openAndFindAll(colliding); }), 4 * usual);
}

} // namespace
} // namespace tenon::frontends
