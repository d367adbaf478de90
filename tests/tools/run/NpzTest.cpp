#include "tools/run/Npz.h"

#include <cstring>
#include <initializer_list>
#include <optional>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::tools {
namespace {

using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::tenon::tests::TempFolder;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;

template <typename T> std::vector<std::byte> bytesOf(const std::vector<T>& values) {
  auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

template <typename T> void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// An archive of one stored member, whose fields a test may falsify.
struct Archive {
  std::string name = "x.npy";
  std::string data;
  uint16_t flags = 0, method = 0, count = 1;
  uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50, offset = 0;
  std::optional<uint32_t> packedBytes, bytes, checksum;

  std::string text() const {
    uint32_t crc = checksum.value_or(
        crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size())));
    std::string file;
    put(file, localSignature);
    appendFields(file, crc);
    file += name + data;
    uint32_t directory = static_cast<uint32_t>(file.size());
    for (int i = 0; i < repeats; ++i) {
      put(file, centralSignature);
      put<uint16_t>(file, 20);
      appendFields(file, crc);
      file.append(10, '\0');
      put(file, offset);
      file += name;
    }
    put<uint32_t>(file, 0x06054b50);
    file.append(4, '\0');
    put(file, count);
    put(file, count);
    put<uint32_t>(file, static_cast<uint32_t>(file.size()) - directory);
    put(file, directory);
    put<uint16_t>(file, 0);
    return file;
  }

  int repeats = 1;

private:
  void appendFields(std::string& file, uint32_t crc) const {
    put<uint16_t>(file, 20);
    put(file, flags);
    put(file, method);
    put<uint32_t>(file, 0);
    put(file, crc);
    put(file, packedBytes.value_or(static_cast<uint32_t>(data.size())));
    put(file, bytes.value_or(static_cast<uint32_t>(data.size())));
    put<uint16_t>(file, static_cast<uint16_t>(name.size()));
    put<uint16_t>(file, 0);
  }
};

/// An .npy file of version 1 with that header.
std::string npy(std::string_view header, std::string_view elements = "") {
  std::string file = "\x93NUMPY";
  file += {'\x01', '\x00'};
  put(file, static_cast<uint16_t>(header.size()));
  return file + std::string(header) + std::string(elements);
}

std::string npyOfShape(std::string_view shape, std::string_view elements) {
  return npy("{'descr': '|u1', 'fortran_order': False, 'shape': " + std::string(shape) + "}\n",
             elements);
}

class NpzTest : public ::testing::Test {
protected:
  absl::StatusOr<NpyArrays> read(const std::string& bytes) {
    return readNpz(folder.write("x.npz", bytes));
  }
  absl::StatusOr<NpyArrays> readMember(const std::string& npyFile) {
    Archive archive;
    archive.data = npyFile;
    return read(archive.text());
  }
  TempFolder folder;
};

TEST_F(NpzTest, ReadsWhatNumPyDeflated) {
  absl::StatusOr<NpyArrays> arrays = readNpz(TENON_TEST_DATA "/tiny-neox/tiny-neox-262k_ref.npz");
  ASSERT_THAT(arrays, IsOk());
  EXPECT_EQ(arrays->size(), 6u);
  const NpyArray& block = arrays->at("block0_out");
  EXPECT_EQ(npyTypeName(block.type), "<f8");
  EXPECT_THAT(block.shape, ElementsAre(13, 64));
  const NpyArray& ids = arrays->at("ids");
  ASSERT_THAT(ids.shape, ElementsAre(13));
  EXPECT_EQ(ids.type, NpyType::I32);
  int32_t first = 0;
  std::memcpy(&first, ids.bytes.data(), sizeof(first));
  EXPECT_EQ(first, 1);
}

TEST_F(NpzTest, RoundTripsEveryType) {
  NpyArrays arrays;
  for (NpyType type : {NpyType::F32, NpyType::F64, NpyType::F16, NpyType::I32, NpyType::I64,
                       NpyType::U16, NpyType::U8, NpyType::Bool}) {
    NpyArray array{type, {2, 3}, {}};
    for (int64_t i = 0; i < 6 * npyTypeBytes(type); ++i)
      array.bytes.push_back(static_cast<std::byte>(i * 7));
    arrays[std::string(npyTypeName(type))] = array;
  }
  arrays["scalar"] = {NpyType::F32, {}, bytesOf<float>({1.5f})};
  arrays["empty"] = {NpyType::I32, {0, 4}, {}};
  arrays["vector"] = {NpyType::U8, {3}, bytesOf<uint8_t>({1, 2, 3})};
  std::string path = folder.path("all.npz");
  ASSERT_THAT(writeNpz(path, arrays), IsOk());
  absl::StatusOr<NpyArrays> read = readNpz(path);
  ASSERT_THAT(read, IsOk());
  ASSERT_EQ(read->size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    ASSERT_TRUE(read->contains(name)) << name;
    EXPECT_EQ(read->at(name).type, array.type) << name;
    EXPECT_EQ(read->at(name).shape, array.shape) << name;
    EXPECT_EQ(read->at(name).bytes, array.bytes) << name;
  }
}

TEST_F(NpzTest, WritesNoArrays) {
  ASSERT_THAT(writeNpz(folder.path("none.npz"), {}), IsOk());
  absl::StatusOr<NpyArrays> arrays = readNpz(folder.path("none.npz"));
  ASSERT_THAT(arrays, IsOk());
  EXPECT_TRUE(arrays->empty());
}

TEST_F(NpzTest, WriteRefusals) {
  std::string path = folder.path("w.npz");
  EXPECT_THAT(writeNpz(path, {{"a", {NpyType::F32, {2}, bytesOf<float>({1})}}}),
              FailsWith(invalid, AllOf(HasSubstr("w.npz: 'a'"), HasSubstr("got 4"))));
  EXPECT_THAT(writeNpz(path, {{"a", {NpyType::F32, {-1}, {}}}}),
              FailsWith(invalid, HasSubstr("bytes of its shape")));
  EXPECT_THAT(writeNpz(path, {{std::string(2000, 'n'), {NpyType::U8, {0}, {}}}}),
              FailsWith(invalid, HasSubstr("at most 1000 bytes")));
  EXPECT_THAT(writeNpz(folder.path("no/folder.npz"), {}),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("no/folder.npz: cannot write")));
  EXPECT_THAT(writeNpz("/dev/full", {}), FailsWith(absl::StatusCode::kResourceExhausted,
                                                   HasSubstr("/dev/full: cannot write")));
}

TEST_F(NpzTest, ArchiveRefusals) {
  EXPECT_THAT(readNpz(folder.path("absent")),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("absent")));
  EXPECT_THAT(read(""), FailsWith(invalid, HasSubstr("expects an .npz file")));
  EXPECT_THAT(read(std::string(100, 'x')), FailsWith(invalid, HasSubstr("expects an .npz file")));
  Archive good;
  good.data = npyOfShape("(2,)", "ab");
  ASSERT_THAT(read(good.text()), IsOk());

  struct Mistake {
    void (*make)(Archive& archive);
    const char* message;
  };
  for (const Mistake& mistake : std::initializer_list<Mistake>{
           {[](Archive& a) { a.count = 3; }, "expects 3 entries"},
           {[](Archive& a) { a.centralSignature = 1; }, "but got 0"},
           {[](Archive& a) { a.localSignature = 1; }, "'x.npy': expects a member"},
           {[](Archive& a) { a.offset = 0xfffffff0; }, "expects a member"},
           {[](Archive& a) { a.offset = 0xffffffff; }, "ZIP64"},
           {[](Archive& a) { a.packedBytes = static_cast<uint32_t>(a.text().size()); },
            "beyond the end of the file"},
           {[](Archive& a) { a.flags = 1; }, "no encryption"},
           {[](Archive& a) { a.method = 12; }, "method 12"},
           {[](Archive& a) { a.bytes = 1; }, "expects 1 stored bytes"},
           {[](Archive& a) { a.checksum = 1; }, "checksum"},
           {[](Archive& a) { a.repeats = a.count = 2; }, "names to differ"},
           {[](Archive& a) {
              a.data.append(100, 'x');
              a.repeats = a.count = 9;
            },
            "do not overlap"}}) {
    Archive archive = good;
    mistake.make(archive);
    EXPECT_THAT(read(archive.text()), FailsWith(invalid, HasSubstr(mistake.message)))
        << mistake.message;
  }
}

TEST_F(NpzTest, ReordersFortranOrder) {
  auto fortran = [&](std::string_view shape, std::string_view elements) {
    return readMember(
        npy("{'descr': '<u2', 'fortran_order': True, 'shape': " + std::string(shape) + "}\n",
            elements));
  };
  // numpy.asfortranarray([["aa", "bb", "cc"], ["dd", "ee", "ff"]])
  auto matrix = fortran("(2, 3)", "aaddbbeeccff");
  ASSERT_THAT(matrix, IsOk());
  EXPECT_THAT(matrix->at("x").shape, ElementsAre(2, 3));
  auto text = [](const NpyArray& array) {
    return std::string(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  };
  EXPECT_EQ(text(matrix->at("x")), "aabbccddeeff");
  // Element (i, j, k) of [2, 2, 2] is at i + 2 j + 4 k.
  EXPECT_EQ(text(fortran("(2, 2, 2)", "00112233"
                                      "44556677")
                     ->at("x")),
            "0044226611553377");
  EXPECT_EQ(text(fortran("(3,)", "aabbcc")->at("x")), "aabbcc");
  EXPECT_EQ(text(fortran("()", "aa")->at("x")), "aa");
  EXPECT_EQ(text(fortran("(0, 3)", "")->at("x")), "");
}

/// An archive as Python's zipfile writes one with a member of over 2 GiB, in small: sizes, offset
/// and the directory's place in fields of ZIP64.
std::string zip64(const std::string& data, uint64_t bytes, size_t extraBytes = 24) {
  uint32_t crc =
      crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
  std::string name = "x.npy", file, central;
  auto fields = [&](std::string& to, size_t extra) {
    put<uint16_t>(to, 45);
    put<uint16_t>(to, 0);
    put<uint16_t>(to, 0);
    put<uint32_t>(to, 0);
    put(to, crc);
    put<uint32_t>(to, ~0u);
    put<uint32_t>(to, ~0u);
    put<uint16_t>(to, static_cast<uint16_t>(name.size()));
    put<uint16_t>(to, static_cast<uint16_t>(extra));
  };
  put<uint32_t>(file, 0x04034b50);
  fields(file, 20);
  file += name;
  put<uint16_t>(file, 1);
  put<uint16_t>(file, 16);
  put<uint64_t>(file, bytes);
  put<uint64_t>(file, data.size());
  file += data;
  uint64_t directory = file.size();
  put<uint32_t>(central, 0x02014b50);
  put<uint16_t>(central, 45);
  fields(central, 4 + extraBytes);
  central.append(10, '\0');
  put<uint32_t>(central, ~0u);
  central += name;
  put<uint16_t>(central, 1);
  put<uint16_t>(central, static_cast<uint16_t>(extraBytes));
  std::string extra;
  put<uint64_t>(extra, bytes);
  put<uint64_t>(extra, data.size());
  put<uint64_t>(extra, 0);
  central += extra.substr(0, extraBytes);
  file += central;
  uint64_t end = file.size();
  put<uint32_t>(file, 0x06064b50);
  put<uint64_t>(file, 44);
  put<uint16_t>(file, 45);
  put<uint16_t>(file, 45);
  put<uint64_t>(file, 0);
  put<uint64_t>(file, 1);
  put<uint64_t>(file, 1);
  put<uint64_t>(file, central.size());
  put(file, directory);
  put<uint32_t>(file, 0x07064b50);
  put<uint32_t>(file, 0);
  put(file, end);
  put<uint32_t>(file, 1);
  put<uint32_t>(file, 0x06054b50);
  file.append(4, '\0');
  put<uint16_t>(file, 0xffff);
  put<uint16_t>(file, 0xffff);
  put<uint32_t>(file, ~0u);
  put<uint32_t>(file, ~0u);
  put<uint16_t>(file, 0);
  return file;
}

TEST_F(NpzTest, ReadsZip64) {
  std::string data = npyOfShape("(2,)", "ab");
  auto arrays = read(zip64(data, data.size()));
  ASSERT_THAT(arrays, IsOk());
  EXPECT_EQ(arrays->at("x").bytes, bytesOf<char>({'a', 'b'}));
  EXPECT_THAT(read(zip64(data, uint64_t{1} << 62)),
              FailsWith(invalid, HasSubstr("expects 4611686018427387904 stored bytes")));
  EXPECT_THAT(read(zip64(data, data.size(), 16)), FailsWith(invalid, HasSubstr("ZIP64")));
  std::string elsewhere = zip64(data, data.size());
  elsewhere[elsewhere.size() - 22 - 20 + 8] ^= 1; // the locator
  EXPECT_THAT(read(elsewhere), FailsWith(invalid, HasSubstr("end record of ZIP64")));
}

/// What is not asked for is not unpacked: this member would be 64 MiB of damaged data.
TEST_F(NpzTest, UnpacksOnlyWhatIsAskedFor) {
  Archive archive;
  archive.method = 8;
  z_stream stream{};
  ASSERT_EQ(deflateInit2(&stream, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string raw = npyOfShape("(67108800,)", std::string(2 << 20, 'x'));
  archive.data.resize(2 << 20);
  stream.next_in = reinterpret_cast<Bytef*>(raw.data());
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(archive.data.data());
  stream.avail_out = static_cast<uInt>(archive.data.size());
  ASSERT_EQ(deflate(&stream, Z_FULL_FLUSH), Z_OK); // 2 MiB, no end; the rest is zeros
  deflateEnd(&stream);
  archive.bytes = static_cast<uint32_t>(raw.size() - (2 << 20) + 67108800);
  auto file = NpzFile::open(folder.write("x.npz", archive.text()));
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT(file->names(), ElementsAre("x"));
  EXPECT_FALSE(file->has("y"));
  auto header = file->header("x");
  ASSERT_THAT(header, IsOk());
  EXPECT_THAT(header->shape, ElementsAre(67108800));
  EXPECT_THAT(file->read("x"), FailsWith(invalid, HasSubstr("damage")));
}

TEST_F(NpzTest, ADirectoryBeyondTheEnd) {
  Archive archive;
  archive.data = npyOfShape("(2,)", "ab");
  std::string bytes = archive.text();
  size_t nameLength = bytes.rfind("x.npy") - 46 + 28;
  bytes[nameLength + 1] = '\x7f';
  EXPECT_THAT(read(bytes), FailsWith(invalid, HasSubstr("directory goes beyond")));
}

TEST_F(NpzTest, DeflateRefusals) {
  Archive archive;
  archive.method = 8;
  archive.data = "\xff\xff\xff";
  archive.bytes = 50;
  EXPECT_THAT(read(archive.text()), FailsWith(invalid, HasSubstr("damage")));
  archive.bytes = 1u << 30; // far beyond what three bytes can expand to
  EXPECT_THAT(read(archive.text()), FailsWith(invalid, HasSubstr("expects at most")));
  archive.data = std::string("\x03\x00", 2); // deflate's empty stream
  archive.bytes = 7;
  EXPECT_THAT(read(archive.text()), FailsWith(invalid, HasSubstr("got 0 and then the end")));
}

TEST_F(NpzTest, ArrayRefusals) {
  auto fails = [](const char* text) {
    return FailsWith(invalid, AllOf(HasSubstr("x.npz: 'x.npy'"), HasSubstr(text)));
  };
  EXPECT_THAT(readMember("hello, world"), fails("expects an .npy file"));
  std::string version = npyOfShape("(0,)", "");
  version[6] = 9;
  EXPECT_THAT(readMember(version), fails("version 1, 2 or 3, but got 9"));
  std::string longHeader = npyOfShape("(0,)", "");
  longHeader[9] = '\x7f';
  EXPECT_THAT(readMember(longHeader), fails("the array's header goes beyond the end"));
  EXPECT_THAT(readMember(npy("nonsense")), fails("expects '{'"));
  EXPECT_THAT(readMember(npy("{descr")), fails("expects a string"));
  EXPECT_THAT(readMember(npy("{'descr")), fails("a closed string"));
  EXPECT_THAT(readMember(npy("{'descr' 1")), fails("expects ':'"));
  EXPECT_THAT(readMember(npy("{'other': 1}")), fails("each once"));
  EXPECT_THAT(readMember(npy("{'descr': '<f4', 'descr': '<f4'}")), fails("each once"));
  EXPECT_THAT(readMember(npy("{'descr': '>f4'}")), fails("but got '>f4'"));
  EXPECT_THAT(readMember(npy("{'descr': '|O'}")), fails("but got '|O'"));
  EXPECT_THAT(readMember(npy("{'descr': '<f4' 'shape'")), fails("',' or '}'"));
  EXPECT_THAT(readMember(npy("{'fortran_order': 1}")), fails("True or False"));
  EXPECT_THAT(readMember(npy("{'shape': 3}")), fails("a tuple"));
  EXPECT_THAT(readMember(npy("{'shape': (3 4)}")), fails("',' or ')'"));
  EXPECT_THAT(readMember(npy("{'shape': (-3,)}")), fails("a length"));
  EXPECT_THAT(readMember(npy("{'shape': (99999999999999999999,)}")), fails("a length"));
  EXPECT_THAT(readMember(npy("{'descr': '<f4'}")), fails("'descr', 'fortran_order' and 'shape'"));
  EXPECT_THAT(readMember(npyOfShape("(3,)", "ab")), fails("got 2 bytes"));
  EXPECT_THAT(readMember(npyOfShape("(4294967296, 4294967296)", "")), fails("got 0 bytes"));
}

/// Every single-byte change of a real file reads or fails, without a crash (run with sanitizers).
TEST_F(NpzTest, SurvivesMutation) {
  NpyArrays arrays;
  arrays["a"] = {NpyType::F32, {2, 2}, bytesOf<float>({1, 2, 3, 4})};
  std::string path = folder.path("m.npz");
  ASSERT_THAT(writeNpz(path, arrays), IsOk());
  std::string bytes = tests::readFile(path);
  int refused = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char change : {'\x01', '\x80', '\xff'}) {
      std::string mutated = bytes;
      mutated[i] = static_cast<char>(mutated[i] ^ change);
      refused += !read(mutated).ok();
    }
  EXPECT_GT(refused, 300);
}

} // namespace
} // namespace tenon::tools
