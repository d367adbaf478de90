#include "runtime/program/ProgramFile.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/program/internal/FileFormat.h"
#include "tests/runtime/program/TestPrograms.h"

namespace tenon::runtime {
namespace {

using internal::FileHeader;
using test::richProgram;
using testing::HasSubstr;

/// A folder that is removed at the end of the test.
class ProgramFileTest : public testing::Test {
protected:
  ProgramFileTest() {
    std::string pattern = testing::TempDir() + "tenon-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    path = folder / "program.tnn";
  }
  ~ProgramFileTest() override { std::filesystem::remove_all(folder); }

  std::vector<char> readFile() const {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  void writeFile(const std::vector<char>& bytes) const {
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  /// The bytes of a valid file.
  std::vector<char> validFile() const {
    EXPECT_EQ(writeProgram(richProgram(), path), absl::OkStatus());
    return readFile();
  }
  /// Changes the header of `bytes` and gives it the right hash again.
  static void editHeader(std::vector<char>& bytes, auto edit) {
    FileHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    edit(header);
    header.headerHash = header.computeHash();
    std::memcpy(bytes.data(), &header, sizeof(header));
  }
  void expectRefused(const std::vector<char>& bytes, absl::StatusCode code,
                     const std::string& message) const {
    writeFile(bytes);
    absl::Status status = readProgram(path).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_THAT(std::string(status.message()), HasSubstr(path.string() + ": "));
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
  }

  std::filesystem::path folder;
  std::filesystem::path path;
};

TEST_F(ProgramFileTest, RoundTripsEveryField) {
  Program program = richProgram();
  ASSERT_EQ(writeProgram(program, path), absl::OkStatus());
  absl::StatusOr<Program> read = readProgram(path);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_TRUE(*read == program);
  // The comparison can fail.
  read->functions[1].steps[0].args[1].offset += 1;
  EXPECT_FALSE(*read == program);
}

TEST_F(ProgramFileTest, RoundTripsPages) {
  Program program = richProgram();
  program.model->pages = 3, program.model->pagePositions = 2;
  for (Function& function : std::span(program.functions).first(2))
    function.inputs.push_back({"block_table", "i32", {2, 2}, 16, PortRole::BlockTable});
  ASSERT_EQ(writeProgram(program, path), absl::OkStatus());
  absl::StatusOr<Program> read = readProgram(path);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_TRUE(*read == program);
}

TEST_F(ProgramFileTest, RoundTripsEveryFieldOfCudaKernels) {
  Program program = test::richCudaProgram();
  for (bool stamps : {false, true}) {
    std::get<CudaLaunch>(program.kernels[0].launch).stamps = stamps;
    ASSERT_EQ(writeProgram(program, path), absl::OkStatus());
    absl::StatusOr<Program> read = readProgram(path);
    ASSERT_EQ(read.status(), absl::OkStatus());
    EXPECT_TRUE(*read == program);
    auto& launch = std::get<CudaLaunch>(read->kernels[0].launch);
    ASSERT_EQ(launch.tensorMaps.size(), 1u);
    launch.tensorMaps[0].boxRows = 4;
    EXPECT_FALSE(*read == program);
  }
}

TEST_F(ProgramFileTest, RoundTripsTheEmptyProgram) {
  Program program;
  program.device = "cpu";
  ASSERT_EQ(writeProgram(program, path), absl::OkStatus());
  absl::StatusOr<Program> read = readProgram(path);
  ASSERT_EQ(read.status(), absl::OkStatus());
  EXPECT_TRUE(*read == program);
}

TEST_F(ProgramFileTest, SameProgramGivesSameBytes) {
  std::vector<char> first = validFile();
  EXPECT_EQ(first, validFile());
}

TEST_F(ProgramFileTest, SectionsAreViewsAtPageBoundaries) {
  validFile();
  absl::StatusOr<Program> read = readProgram(path);
  ASSERT_EQ(read.status(), absl::OkStatus());
  const auto& embedded = std::get<SharedBytes>(read->constants[3].source);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(embedded.data()) % internal::pageBytes, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(read->code[0].data()) % internal::pageBytes, 0u);
}

TEST_F(ProgramFileTest, EmbeddedBytesOutliveTheProgramAndTheFile) {
  validFile();
  SharedBytes kept = std::get<SharedBytes>(readProgram(path)->constants[3].source);
  std::filesystem::remove(path);
  EXPECT_TRUE(kept == SharedBytes(std::vector<std::byte>(6000, std::byte{0x5a})));
}

TEST_F(ProgramFileTest, ModelPathsBelowTheProgramFollowIt) {
  Program program = richProgram();
  std::filesystem::path model = folder / "models" / "m.gguf";
  for (const std::filesystem::path& given : {model, std::filesystem::proximate(model)}) {
    program.files[0].path = given.string();
    ASSERT_EQ(writeProgram(program, path), absl::OkStatus());
    EXPECT_EQ(readProgram(path)->files[0].path, model.string());
    std::filesystem::create_directories(folder / "moved");
    std::filesystem::rename(path, folder / "moved" / "p.tnn");
    EXPECT_EQ(readProgram(folder / "moved" / "p.tnn")->files[0].path,
              (folder / "moved" / "models" / "m.gguf").string());
  }
}

TEST_F(ProgramFileTest, OtherModelPathsBecomeAbsolute) {
  Program program = richProgram();
  std::filesystem::create_directories(folder / "out");
  program.files[0].path = std::filesystem::proximate(folder / "m.gguf").string();
  ASSERT_TRUE(std::filesystem::path(program.files[0].path).is_relative());
  ASSERT_EQ(writeProgram(program, folder / "out" / "p.tnn"), absl::OkStatus());
  EXPECT_EQ(readProgram(folder / "out" / "p.tnn")->files[0].path, (folder / "m.gguf").string());
  EXPECT_EQ(readProgram(folder / "out" / "p.tnn")->files[1].path, "/models/b.gguf");
}

TEST_F(ProgramFileTest, WritingReplacesTheFileAndLeavesNoOther) {
  writeFile(std::vector<char>(100'000, 'x'));
  validFile();
  EXPECT_EQ(readProgram(path).status(), absl::OkStatus());
  auto entries = std::filesystem::directory_iterator(folder);
  EXPECT_EQ(std::distance(begin(entries), end(entries)), 1);
}

TEST_F(ProgramFileTest, WritingRefusesAnInvalidProgram) {
  Program program = richProgram();
  program.device = "tpu";
  absl::Status status = writeProgram(program, path);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path.string() + ": expects device"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(ProgramFileTest, WritingNamesAFileItCannotCreate) {
  absl::Status status = writeProgram(richProgram(), folder / "missing" / "p.tnn");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), HasSubstr("missing/p.tnn"));
}

TEST_F(ProgramFileTest, WritingNamesAFileItCannotReplace) {
  std::filesystem::create_directories(path / "inside");
  absl::Status status = writeProgram(richProgram(), path);
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(std::string(status.message()), HasSubstr(path.string() + ": cannot write"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(ProgramFileTest, WritingRefusesToReplaceItsModel) {
  std::filesystem::path model = folder / "m.gguf";
  std::ofstream(model) << "weights";
  Program program = richProgram();
  program.files[0].path = model.string();
  std::filesystem::create_symlink("m.gguf", path);
  absl::Status status = writeProgram(program, path);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("expects an output that is no input"));
  EXPECT_EQ(std::filesystem::file_size(model), 7u);
}

/// Under the name of a model it would be taken for data.
TEST_F(ProgramFileTest, RefusesAProgramUnderAnotherName) {
  validFile();
  std::filesystem::path other = folder / "model.gguf";
  std::filesystem::rename(path, other);
  absl::Status status = readProgram(other).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("model.gguf: is a compiled program, native code; rename it to .tnn if you "
                        "trust its origin"));
}

TEST_F(ProgramFileTest, RecognisesItsMagic) {
  const std::vector<char> valid = validFile();
  EXPECT_TRUE(isProgramFile(std::as_bytes(std::span(valid))));
  EXPECT_FALSE(isProgramFile(test::bytesOf("GGUF....")));
  EXPECT_FALSE(isProgramFile(test::bytesOf("\x89TENON\r")));
}

TEST_F(ProgramFileTest, RefusesAMissingFile) {
  EXPECT_EQ(readProgram(path).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ProgramFileTest, RefusesAForeignFile) {
  expectRefused({'G', 'G', 'U', 'F', 3, 0, 0, 0, 0}, absl::StatusCode::kInvalidArgument,
                R"(expects a Tenon program, which starts with "\x89TENON\r\n", but found "GGUF)");
  expectRefused({}, absl::StatusCode::kInvalidArgument, "but found \"\"");
}

TEST_F(ProgramFileTest, RefusesATruncatedHeader) {
  std::vector<char> bytes = validFile();
  bytes.resize(20);
  expectRefused(bytes, absl::StatusCode::kDataLoss,
                "truncated: expects a header of 56 bytes, but the file has 20");
}

TEST_F(ProgramFileTest, RefusesAnotherByteOrder) {
  std::vector<char> bytes = validFile();
  editHeader(bytes, [](FileHeader& header) { header.byteOrder = 0x04030201; });
  expectRefused(bytes, absl::StatusCode::kUnimplemented,
                "expects byte-order mark 01020304 (little-endian), but found 04030201");
}

TEST_F(ProgramFileTest, RefusesAnotherVersion) {
  std::vector<char> bytes = validFile();
  editHeader(bytes, [](FileHeader& header) { header.version = 99; });
  expectRefused(bytes, absl::StatusCode::kUnimplemented,
                "expects format version 7, but found 99, which a newer Tenon writes");
  editHeader(bytes, [](FileHeader& header) { header.version = 0; });
  expectRefused(bytes, absl::StatusCode::kUnimplemented, "found 0, which an older Tenon writes");
}

TEST_F(ProgramFileTest, RefusesADamagedHeader) {
  std::vector<char> bytes = validFile();
  bytes[30] ^= 1;
  expectRefused(bytes, absl::StatusCode::kDataLoss, "damaged: the header expects hash");
}

TEST_F(ProgramFileTest, RefusesAnotherSize) {
  std::vector<char> bytes = validFile();
  bytes.push_back(0);
  expectRefused(bytes, absl::StatusCode::kDataLoss, "the file is damaged: expects");
  bytes.resize(bytes.size() - 2);
  expectRefused(bytes, absl::StatusCode::kDataLoss, "the file is truncated: expects");
}

TEST_F(ProgramFileTest, RefusesMetadataOutOfPlace) {
  const std::vector<char> valid = validFile();
  auto refuse = [&](auto edit) {
    std::vector<char> bytes = valid;
    editHeader(bytes, edit);
    expectRefused(bytes, absl::StatusCode::kDataLoss,
                  "expects metadata from a page boundary to the end");
  };
  refuse([](FileHeader& header) { header.metadataOffset = 0; });
  refuse([](FileHeader& header) { header.metadataOffset += 8; });
  refuse([](FileHeader& header) { header.metadataOffset = uint64_t{1} << 63; });
  refuse([](FileHeader& header) { header.metadataBytes -= 1; });
}

TEST_F(ProgramFileTest, RefusesDamageBehindTheHeader) {
  std::vector<char> bytes = validFile();
  bytes[sizeof(FileHeader)] = 1;
  expectRefused(bytes, absl::StatusCode::kDataLoss, "expects zeros after the header");
}

TEST_F(ProgramFileTest, RefusesDamagedMetadata) {
  std::vector<char> bytes = validFile();
  bytes.back() ^= 0x10;
  expectRefused(bytes, absl::StatusCode::kDataLoss, "damaged: the metadata expects hash");
}

TEST_F(ProgramFileTest, RefusesInvalidContents) {
  std::vector<char> bytes = validFile();
  const std::string_view name = "f32";
  auto place = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  ASSERT_NE(place, bytes.end());
  *place = 'g'; // the encoding is g32 now
  editHeader(bytes, [&](FileHeader& header) {
    header.metadataHash = hashBytes(std::as_bytes(std::span(bytes)).subspan(header.metadataOffset));
  });
  expectRefused(bytes, absl::StatusCode::kInvalidArgument,
                "expects one of the program's encodings");
}

TEST_F(ProgramFileTest, EveryTruncationIsRefused) {
  const std::vector<char> valid = validFile();
  for (size_t size = 0; size < valid.size(); size += size < 64 ? 1 : 61) {
    std::filesystem::resize_file(path, size);
    EXPECT_FALSE(readProgram(path).ok()) << size;
    writeFile(valid);
  }
}

TEST_F(ProgramFileTest, EveryFlippedByteIsRefused) {
  const std::vector<char> valid = validFile();
  std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
  auto put = [&](size_t offset, char byte) {
    stream.seekp(static_cast<std::streamoff>(offset));
    stream.put(byte).flush();
  };
  for (size_t offset = 0; offset < valid.size(); offset += offset < 64 ? 1 : 7) {
    put(offset, static_cast<char>(valid[offset] ^ (1 << offset % 8)));
    EXPECT_FALSE(readProgram(path).ok()) << offset;
    put(offset, valid[offset]);
  }
  EXPECT_EQ(readProgram(path).status(), absl::OkStatus());
}

/// With the hashes made right again, damage reaches the parser and the validation: whatever they
/// say, they must survive it.
TEST_F(ProgramFileTest, SurvivesChangedMetadata) {
  const std::vector<char> valid = validFile();
  FileHeader header;
  std::memcpy(&header, valid.data(), sizeof(header));
  constexpr int seed = 20261121;
  std::mt19937 random(seed);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<char> bytes = valid;
    for (uint32_t changes = 1 + random() % 3; changes > 0; --changes) {
      size_t offset = header.metadataOffset + random() % header.metadataBytes;
      bytes[offset] =
          static_cast<char>(random() % 2 ? random() : bytes[offset] ^ (1 << random() % 8));
    }
    editHeader(bytes, [&](FileHeader& edited) {
      edited.metadataHash =
          hashBytes(std::as_bytes(std::span(bytes)).subspan(header.metadataOffset));
    });
    writeFile(bytes);
    accepted += readProgram(path).ok();
  }
  // Names and other free values may change; most changes must not pass.
  EXPECT_GT(accepted, 0) << "seed " << seed;
  EXPECT_LT(accepted, 4000) << "seed " << seed;
}

} // namespace
} // namespace tenon::runtime
