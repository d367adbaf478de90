#include "runtime/program/internal/Metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/Program_generated.h"
#include "runtime/program/internal/FileFormat.h"
#include "support/Hash.h"
#include "tests/runtime/program/TestPrograms.h"

namespace tenon::runtime::internal {
namespace {

using testing::HasSubstr;

/// A vector of 8-byte aligned elements that starts 4 bytes off.
template <typename T>
flatbuffers::Offset<flatbuffers::Vector<T>>
createMisaligned(flatbuffers::FlatBufferBuilder& builder, const std::vector<T>& elements) {
  while (builder.GetSize() % 8 != 4)
    builder.PushElement(uint8_t{0});
  size_t words = elements.size() * sizeof(T) / 4;
  builder.StartVector(words, 4);
  builder.PushBytes(reinterpret_cast<const uint8_t*>(elements.data()), words * 4);
  return builder.EndVector(elements.size());
}

/// A file in memory whose metadata the test writes field by field: two sections, of 5 bytes and of
/// one page, and one embedded constant.
struct TestFile {
  std::vector<std::byte> bytes = std::vector<std::byte>(2 * pageBytes + 5);
  std::vector<fbs::Section> sections;
  std::vector<uint32_t> code = {0};
  int32_t constantSection = 1;
  bool constantRanges = false;
  bool constantRandom = false;
  bool kernelOfTwoKinds = false;
  bool mapsWithoutLaunch = false;
  int32_t tokenizer = -1;
  int32_t report = -1;
  std::string name = "c";
  size_t copies = 1; ///< of the same string as features
  bool misalignShape = false;
  bool misalignSections = false;

  TestFile() {
    bytes.resize(3 * pageBytes);
    for (uint64_t size : {uint64_t{5}, pageBytes})
      sections.emplace_back((sections.size() + 1) * pageBytes, size, 0);
    updateHashes();
  }

  void updateHashes() {
    for (fbs::Section& section : sections)
      section =
          fbs::Section(section.offset(), section.bytes(),
                       hashBytes(std::span(bytes).subspan(section.offset(), section.bytes())));
  }

  std::vector<std::byte> encodeMetadata() const {
    flatbuffers::FlatBufferBuilder builder;
    auto text = builder.CreateString(name);
    const std::vector<int64_t> extents = {1024};
    auto shape = misalignShape ? createMisaligned(builder, extents) : builder.CreateVector(extents);
    std::vector<fbs::FileRange> ranges;
    auto rangeVector = builder.CreateVectorOfStructs(ranges);
    auto randomVector = builder.CreateVectorOfStructs(std::vector<fbs::RandomRange>());
    std::vector constants = {fbs::CreateConstant(
        builder, text, text, shape, 4096, constantRanges ? rangeVector : decltype(rangeVector)(),
        constantSection, constantRandom ? randomVector : decltype(randomVector)())};
    std::vector<flatbuffers::Offset<flatbuffers::String>> features(copies, text);
    auto featureVector = builder.CreateVector(features);
    auto encodings = builder.CreateVector(std::vector<flatbuffers::Offset<fbs::EncodingInfo>>());
    auto files = builder.CreateVector(std::vector<flatbuffers::Offset<fbs::SourceFile>>());
    auto constantVector = builder.CreateVector(constants);
    auto states = builder.CreateVector(std::vector<flatbuffers::Offset<fbs::Value>>());
    fbs::CudaLaunch launch;
    fbs::LibraryMatmul matmul;
    std::vector<flatbuffers::Offset<fbs::Kernel>> kernelList;
    if (kernelOfTwoKinds)
      kernelList = {
          fbs::CreateKernel(builder, text, 0, &launch, &matmul, 1,
                            builder.CreateVectorOfStructs(std::vector<fbs::KernelArgument>()))};
    if (mapsWithoutLaunch)
      kernelList = {
          fbs::CreateKernel(builder, text, 0, nullptr, nullptr, 1,
                            builder.CreateVectorOfStructs(std::vector<fbs::KernelArgument>()),
                            builder.CreateVectorOfStructs(
                                std::vector<fbs::TensorMap>{fbs::TensorMap(2, 8, 0, 2, 1)}))};
    auto kernels = builder.CreateVector(kernelList);
    auto functions = builder.CreateVector(std::vector<flatbuffers::Offset<fbs::Function>>());
    flatbuffers::Offset<flatbuffers::Vector<const fbs::Section*>> sectionVector;
    if (misalignSections)
      sectionVector = createMisaligned(builder, sections).o;
    else
      sectionVector = builder.CreateVectorOfStructs(sections);
    auto codeVector = builder.CreateVector(code);
    builder.Finish(fbs::CreateProgram(builder, text, text, featureVector, encodings, files,
                                      constantVector, states, kernels, functions, 0, 0,
                                      sectionVector, codeVector, tokenizer, report));
    auto metadata = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
    return {metadata.begin(), metadata.end()};
  }

  absl::StatusOr<Program> decode(const std::vector<std::byte>& metadata) const {
    std::vector<std::byte> file = bytes;
    file.insert(file.end(), metadata.begin(), metadata.end());
    return decodeProgram(file, std::span(file).subspan(bytes.size()), nullptr, "");
  }
  absl::StatusOr<Program> decode() const { return decode(encodeMetadata()); }

  void expectRefused(const std::string& message) const {
    EXPECT_THAT(std::string(decode().status().message()), HasSubstr(message));
  }
};

TEST(DecodeProgram, AcceptsTheTestFile) {
  absl::StatusOr<Program> program = TestFile().decode();
  ASSERT_EQ(program.status(), absl::OkStatus());
  EXPECT_EQ(program->code[0].size(), 5u);
  EXPECT_EQ(std::get<SharedBytes>(program->constants[0].source).size(), 4096u);
}

TEST(DecodeProgram, RefusesMetadataThatIsNoFlatBuffer) {
  absl::Status status = TestFile().decode(std::vector<std::byte>(64, std::byte{0xff})).status();
  EXPECT_THAT(std::string(status.message()), HasSubstr("the metadata is no valid FlatBuffer"));
  EXPECT_FALSE(TestFile().decode({}).ok());
}

TEST(DecodeProgram, RefusesASectionOutOfPlace) {
  TestFile file;
  file.sections[1] = fbs::Section(pageBytes, 5, file.sections[0].hash());
  file.expectRefused("section 1 expects offset 8192, but found 4096");
}

TEST(DecodeProgram, RefusesASectionThatReachesTheMetadata) {
  TestFile file;
  file.sections[1] = fbs::Section(2 * pageBytes, pageBytes + 1, 0);
  file.expectRefused("section 1 expects at most 4096 bytes before the metadata, but found 4097");
  file.sections[1] = fbs::Section(2 * pageBytes, ~uint64_t{0}, 0);
  file.expectRefused("section 1 expects at most 4096 bytes");
  file = TestFile();
  file.sections.emplace_back(3 * pageBytes, 0, hashBytes({}));
  file.sections.emplace_back(3 * pageBytes, 1, 0);
  file.expectRefused("section 3 expects at most 0 bytes before the metadata, but found 1");
}

TEST(DecodeProgram, RefusesDirtBetweenSections) {
  TestFile file;
  file.bytes[2 * pageBytes - 1] = std::byte{1};
  file.expectRefused("expects zeros before section 1");
}

TEST(DecodeProgram, RefusesDirtBehindTheLastSection) {
  TestFile file;
  file.sections[1] = fbs::Section(2 * pageBytes, 8, 0);
  file.bytes[3 * pageBytes - 1] = std::byte{1};
  file.updateHashes();
  file.expectRefused("expects zeros up to the next page between the last section and the metadata");
}

TEST(DecodeProgram, RefusesAGapBeforeTheMetadata) {
  TestFile file;
  file.sections.pop_back();
  file.expectRefused("expects zeros up to the next page between the last section");
}

TEST(DecodeProgram, RefusesADamagedSection) {
  TestFile file;
  file.bytes[pageBytes + 2] = std::byte{1};
  file.expectRefused("the file is damaged: section 0 expects hash");
}

TEST(DecodeProgram, RefusesUnknownSections) {
  TestFile file;
  file.constantSection = 2;
  file.expectRefused("the constant c expects one of the 2 sections, but names section 2");
  file.constantSection = -2;
  file.expectRefused("but names section -2");
  file = TestFile();
  file.code = {0, 4'000'000'000};
  file.expectRefused(
      "the list of objects expects one of the 2 sections, but names section 4000000000");
  file = TestFile();
  file.tokenizer = 2;
  file.expectRefused("the tokeniser expects one of the 2 sections, but names section 2");
  file = TestFile();
  file.report = 2;
  file.expectRefused("the report expects one of the 2 sections, but names section 2");
}

TEST(DecodeProgram, RefusesAConstantWithTwoSourcesOrNone) {
  TestFile file;
  file.constantRanges = true;
  file.expectRefused(
      "constant c expects either file ranges, random ranges or a section, but has 2");
  file.constantRandom = true;
  file.expectRefused("but has 3 of them");
  file.constantRanges = false;
  file.constantRandom = false;
  file.constantSection = -1;
  file.expectRefused("but has 0 of them");
}

TEST(DecodeProgram, RefusesAKernelOfTwoKinds) {
  TestFile file;
  file.kernelOfTwoKinds = true;
  file.expectRefused("kernel c expects a launch or a matmul, but has both");
}

TEST(DecodeProgram, RefusesTensorMapsWithoutALaunch) {
  TestFile file;
  file.mapsWithoutLaunch = true;
  file.expectRefused("kernel c expects a launch beside its tensor maps");
}

TEST(DecodeProgram, RefusesATokenizerThatIsNoFlatBuffer) {
  TestFile file;
  std::ranges::fill(std::span(file.bytes).subspan(2 * pageBytes), std::byte{0xee});
  file.updateHashes();
  file.tokenizer = 1;
  file.expectRefused("the tokeniser section is no valid FlatBuffer");
}

TEST(DecodeProgram, RefusesMisalignedVectors) {
  TestFile file;
  file.misalignShape = true;
  file.expectRefused("the metadata holds overlapping or misaligned values");
  file = TestFile();
  file.misalignSections = true;
  file.expectRefused("the metadata holds a misaligned table of sections");
}

/// A thousand references to one string would copy it a thousand times.
TEST(DecodeProgram, RefusesMetadataThatGrowsWhenCopied) {
  TestFile file;
  file.name = std::string(1000, 'n');
  file.copies = 1000;
  file.expectRefused("the metadata holds overlapping or misaligned values");
}

TEST(DecodeProgram, RefusesATokenizerThatGrowsWhenCopied) {
  flatbuffers::FlatBufferBuilder builder;
  auto text = builder.CreateString(std::string(1000, 't'));
  auto tokens = builder.CreateVector(std::vector(100, text));
  auto scores = builder.CreateVector(std::vector<float>());
  auto kinds = builder.CreateVector(std::vector<uint8_t>());
  auto merges = builder.CreateVector(std::vector<flatbuffers::Offset<flatbuffers::String>>());
  builder.Finish(fbs::CreateTokenizer(builder, 0, text, tokens, scores, kinds, merges, -1, -1, -1,
                                      builder.CreateVector(std::vector<int32_t>())));
  TestFile file;
  std::ranges::copy(std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize())),
                    file.bytes.begin() + 2 * pageBytes);
  file.updateHashes();
  file.tokenizer = 1;
  file.expectRefused("the tokeniser section holds overlapping or misaligned values");
}

} // namespace
} // namespace tenon::runtime::internal
