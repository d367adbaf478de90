#include "frontends/gguf/GgufWriter.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "tests/frontends/gguf/GgufBytes.h"

namespace tenon::frontends {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;
using Shape = std::vector<int64_t>;

std::vector<std::byte> countingBytes(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + 1);
  return bytes;
}

class GgufWriterTest : public ::testing::Test {
protected:
  void SetUp() override {
    auto created = GgufWriter::create(path);
    ASSERT_THAT(created, IsOk());
    writer = *std::move(created);
  }

  const Encoding& f32 = *findEncoding("f32");
  const Encoding& q4 = *findEncoding("q4_0");
  tests::TempFolder folder;
  std::string path = folder.path("out.gguf");
  std::unique_ptr<GgufWriter> writer;
};

TEST_F(GgufWriterTest, TheReaderFindsEverything) {
  writer->addU32("u", 4096);
  writer->addF32("f", 1e-5f);
  writer->addBool("b", true);
  writer->addString("s", "text");
  writer->addI32s("is", std::vector<int32_t>{1, -2});
  writer->addF32s("fs", std::vector<float>{0.5f});
  writer->addStrings("ss", std::vector<std::string>{"a", "", "longer"});
  ASSERT_THAT(writer->addTensor("matrix", Shape{3, 64}, q4), IsOk()); // 108 bytes
  ASSERT_THAT(writer->addTensor("scalar", {}, f32), IsOk());
  ASSERT_THAT(writer->addTensor("row", Shape{5}, f32), IsOk());
  std::vector<std::byte> data = countingBytes(108 + 4 + 20);
  ASSERT_THAT(writer->append(data), IsOk());
  ASSERT_THAT(writer->finish(), IsOk());

  auto opened = GgufFile::open(path);
  ASSERT_THAT(opened, IsOk());
  const GgufFile& file = **opened;
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(*file.requireU64("u"), 4096u);
  EXPECT_EQ(file.find("u")->typeText(), "u32");
  EXPECT_EQ(*file.requireF32("f"), 1e-5f);
  EXPECT_EQ(*file.requireBool("b"), true);
  EXPECT_EQ(*file.requireString("s"), "text");
  EXPECT_EQ(*file.requireI64s("is"), (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(*file.requireF32s("fs"), std::vector<float>{0.5f});
  EXPECT_EQ(*file.requireStrings("ss"), (std::vector<std::string_view>{"a", "", "longer"}));
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].shape(), (Shape{3, 64}));
  EXPECT_EQ(file.tensors()[0].encoding, &q4);
  std::vector<std::byte> found;
  for (const GgufTensor& tensor : file.tensors()) {
    std::span<const std::byte> bytes = file.data(tensor);
    found.insert(found.end(), bytes.begin(), bytes.end());
  }
  EXPECT_EQ(found, data);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"out.gguf"});
}

TEST_F(GgufWriterTest, PiecesOfAnySizeGiveTheSameFile) {
  std::vector<std::byte> data = countingBytes(36 + 12);
  auto write = [&](GgufWriter& target, size_t piece) {
    ASSERT_THAT(target.addTensor("a", Shape{64}, q4), IsOk());
    ASSERT_THAT(target.addTensor("b", Shape{3}, f32), IsOk());
    for (size_t i = 0; i < data.size(); i += piece)
      ASSERT_THAT(target.append(std::span(data).subspan(i, std::min(piece, data.size() - i))),
                  IsOk());
    ASSERT_THAT(target.finish(), IsOk());
  };
  write(*writer, data.size());
  std::string whole = tests::readFile(path);
  for (size_t piece : {1, 5, 36, 40}) {
    auto other = GgufWriter::create(folder.path("other.gguf"));
    ASSERT_THAT(other, IsOk());
    write(**other, piece);
    EXPECT_EQ(tests::readFile(folder.path("other.gguf")), whole) << piece;
  }
}

TEST_F(GgufWriterTest, CopiesARealFileByteForByte) {
  std::string source = std::string(TENON_TEST_DATA) + "/stories260K/stories260K-q4_0.gguf";
  auto original = GgufFile::open(source);
  ASSERT_THAT(original, IsOk());
  for (const GgufMetadata& entry : (*original)->metadata())
    writer->addValue(entry.key, entry.value);
  for (const GgufTensor& tensor : (*original)->tensors())
    ASSERT_THAT(writer->addTensor(tensor.name, tensor.shape(), *tensor.encoding), IsOk());
  for (const GgufTensor& tensor : (*original)->tensors())
    ASSERT_THAT(writer->append((*original)->data(tensor)), IsOk());
  ASSERT_THAT(writer->finish(), IsOk());
  EXPECT_TRUE(tests::readFile(path) == tests::readFile(source));
}

TEST_F(GgufWriterTest, CopiesValuesOfEveryType) {
  GgufBytes bytes(0, 14);
  for (GgufValueType type :
       {GgufValueType::UInt8, GgufValueType::Int8, GgufValueType::UInt16, GgufValueType::Int16,
        GgufValueType::UInt32, GgufValueType::Int32, GgufValueType::Float32, GgufValueType::Bool,
        GgufValueType::UInt64, GgufValueType::Int64, GgufValueType::Float64}) {
    bytes.key(ggufValueTypeName(type), type);
    for (size_t i = 0; i < ggufValueTypeBytes(type); ++i)
      bytes.number<uint8_t>(1);
  }
  bytes.key("string", GgufValueType::String).string("text");
  bytes.arrayKey("strings", GgufValueType::String, 2).string("a").string("");
  bytes.arrayKey("nested", GgufValueType::Array, 2);
  bytes.array(GgufValueType::UInt16, 1).number<uint16_t>(5);
  bytes.array(GgufValueType::String, 1).string("x");
  bytes.data(0);
  auto original = bytes.open();
  ASSERT_THAT(original, IsOk());
  for (const GgufMetadata& entry : (*original)->metadata())
    writer->addValue(entry.key, entry.value);
  ASSERT_THAT(writer->finish(), IsOk());
  EXPECT_EQ(tests::readFile(path), bytes.bytes);
}

TEST_F(GgufWriterTest, AnUnfinishedFileLeavesNothing) {
  ASSERT_THAT(writer->addTensor("a", Shape{3}, f32), IsOk());
  ASSERT_THAT(writer->append(countingBytes(4)), IsOk());
  EXPECT_EQ(folder.names().size(), 1u);
  writer.reset();
  EXPECT_TRUE(folder.names().empty());
}

auto refuses(const std::string& text) {
  return FailsWith(absl::StatusCode::kInvalidArgument,
                   AllOf(HasSubstr("/out.gguf: tensor 'a' expects "), HasSubstr(text)));
}

TEST_F(GgufWriterTest, RefusesTensorsThatAFileCannotHold) {
  EXPECT_THAT(writer->addTensor("a", Shape{1, 1, 1, 1, 1}, f32),
              refuses("at most 4 axes, but got shape [1, 1, 1, 1, 1]"));
  EXPECT_THAT(writer->addTensor("a", Shape{4, 0}, f32),
              refuses("lengths of at least 1 and fewer than 2^63 elements, but got shape [4, 0]"));
  EXPECT_THAT(writer->addTensor("a", Shape{1ll << 62, 2}, f32),
              refuses("fewer than 2^63 elements"));
  EXPECT_THAT(writer->addTensor("a", Shape{1ll << 62}, f32), refuses("fewer than 2^63 bytes"));
  EXPECT_THAT(writer->addTensor("a", Shape{32, 48}, q4),
              refuses("rows of a multiple of 32 elements in q4_0, but got shape [32, 48]"));
  EXPECT_THAT(writer->addTensor("a", {}, q4), refuses("rows of a multiple of 32"));
  Encoding foreign = f32;
  foreign.name = "foreign";
  foreign.ggufType = -1;
  EXPECT_THAT(writer->addTensor("a", Shape{4}, foreign),
              refuses("a type that GGUF files have, but got foreign"));
}

TEST_F(GgufWriterTest, RefusesTooManyAndTooFewData) {
  ASSERT_THAT(writer->addTensor("a", Shape{3}, f32), IsOk());
  ASSERT_THAT(writer->append(countingBytes(8)), IsOk());
  EXPECT_THAT(writer->finish(),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        HasSubstr("/out.gguf: expects 12 bytes of tensor 'a', but got 8")));
  EXPECT_THAT(writer->append(countingBytes(7)),
              FailsWith(absl::StatusCode::kInvalidArgument,
                        HasSubstr("/out.gguf: expects no data after the last tensor, but got 3")));
}

TEST_F(GgufWriterTest, NamesTheFileThatItCannotWrite) {
  EXPECT_THAT(GgufWriter::create("/nowhere/out.gguf"),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("/nowhere/out.gguf: cannot write")));
  std::filesystem::create_symlink("/dev/full", folder.path("full.gguf"));
  auto full = GgufWriter::create(folder.path("full.gguf"));
  ASSERT_THAT(full, IsOk());
  EXPECT_THAT((*full)->finish(), FailsWith(absl::StatusCode::kResourceExhausted,
                                           HasSubstr("full.gguf: cannot write")));
  std::filesystem::create_directory(path);
  EXPECT_THAT(writer->finish(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                          HasSubstr("out.gguf: cannot write")));
}

TEST_F(GgufWriterTest, HolesAreZerosThatTakeNoMemory) {
  const int64_t length = int64_t(1) << 36;
  writer = GgufWriter::createInMemory("shape");
  ASSERT_THAT(writer->addTensor("first", Shape{3}, f32), IsOk());
  ASSERT_THAT(writer->addTensor("hole", Shape{length}, f32), IsOk());
  ASSERT_THAT(writer->addTensor("last", Shape{3}, f32), IsOk());
  auto bytes = countingBytes(12);
  ASSERT_THAT(writer->append(bytes), IsOk());
  ASSERT_THAT(writer->appendHole(), IsOk());
  ASSERT_THAT(writer->append(std::span(bytes).first(4)), IsOk());
  ASSERT_THAT(writer->appendHole(), IsOk()); // the rest of a tensor
  EXPECT_THAT(writer->appendHole(),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("after the last tensor")));
  auto mapped = writer->finishInMemory();
  ASSERT_THAT(mapped, IsOk());

  auto file = GgufFile::create(*mapped);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->path(), "shape");
  EXPECT_TRUE(std::ranges::equal((*file)->data(*(*file)->findTensor("first")), bytes));
  auto hole = (*file)->data(*(*file)->findTensor("hole"));
  EXPECT_EQ(hole.size(), 4u * length);
  EXPECT_EQ(hole.front(), std::byte{0});
  EXPECT_EQ(hole.back(), std::byte{0});
  auto last = (*file)->data(*(*file)->findTensor("last"));
  EXPECT_TRUE(std::ranges::equal(last.first(4), std::span(bytes).first(4)));
  EXPECT_EQ(last[4], std::byte{0});
}

} // namespace
} // namespace tenon::frontends
