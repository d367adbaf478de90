// Damaged files: whatever the bytes, the reader returns, without touching memory outside the file
// (the sanitizer build sees that) and without allocating much more than the file's size.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>

#include "tests/frontends/gguf/GgufBytes.h"
#include "tests/frontends/gguf/ReadEverything.h"

/// The largest request to `new` since it was last reset.
static size_t largestAllocation = 0;

void* operator new(size_t size) {
  largestAllocation = std::max(largestAllocation, size);
  if (void* memory = std::malloc(std::max<size_t>(size, 1)))
    return memory;
  std::abort();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tenon::frontends {
namespace {

class GgufMutation : public ::testing::Test {
protected:
  void SetUp() override {
    std::string source = std::string(TENON_TEST_DATA) + "/stories260K/stories260K-q4_0.gguf";
    original = tests::readFile(source);
    path = folder.write("damaged.gguf", original);
    auto file = GgufFile::open(path);
    ASSERT_TRUE(file.ok()) << file.status();
    for (const GgufTensor& tensor : (*file)->tensors())
      headerBytes = std::min<uint64_t>(headerBytes, tensor.offset);
  }

  /// Overwrites bytes of the file in place.
  void patch(size_t offset, std::string_view bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(bytes.data(), std::ssize(bytes));
  }

  /// Opens the file and, where that works, uses it. False where it was refused.
  bool survives() {
    largestAllocation = 0;
    auto file = GgufFile::open(path);
    if (file.ok())
      readEverything(**file);
    else
      EXPECT_EQ(std::string(file.status().message()).rfind(path + ": ", 0), 0u) << file.status();
    EXPECT_LT(largestAllocation, 4 * original.size());
    return file.ok();
  }

  tests::TempFolder folder;
  std::string original;
  std::string path;
  uint64_t headerBytes = ~0ull;
};

TEST_F(GgufMutation, EveryTruncationIsRefused) {
  ASSERT_GT(headerBytes, 14000u);
  ASSERT_LT(headerBytes, 15000u);
  for (size_t size = original.size(); size-- > headerBytes + 1;)
    if (size % 997 == 0 || size + 40 > original.size()) {
      std::filesystem::resize_file(path, size);
      ASSERT_FALSE(survives()) << size;
    }
  for (size_t size = headerBytes + 1; size-- > 0;) {
    std::filesystem::resize_file(path, size);
    ASSERT_FALSE(survives()) << size;
  }
}

TEST_F(GgufMutation, RandomBytesInTheHeader) {
  constexpr uint32_t seed = 7;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  constexpr int rounds = 6000;
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round);
    size_t changes = 1 + random() % 4;
    std::vector<size_t> offsets;
    for (size_t i = 0; i < changes; ++i) {
      // The strings fill most of the header; the other fields lie at both ends.
      size_t span = i % 2 ? headerBytes : 64;
      size_t offset = random() % 2 ? random() % span : headerBytes - 1 - random() % 3000;
      offsets.push_back(offset);
      uint8_t value = random() % 2 ? random() : "\0\1\x7F\x80\xFF\x09\x08"[random() % 7];
      patch(offset, std::string_view(reinterpret_cast<const char*>(&value), 1));
    }
    accepted += survives();
    for (size_t offset : offsets)
      patch(offset, std::string_view(original).substr(offset, 1));
    if (HasFailure())
      break;
  }
  // The test would say nothing if all files were refused at the first byte, or none.
  EXPECT_GT(accepted, rounds / 100);
  EXPECT_LT(accepted, rounds * 9 / 10);
}

TEST_F(GgufMutation, HugeNumbersAtEveryHeaderOffset) {
  for (size_t offset = 4; offset + 8 <= headerBytes; offset += 3) {
    for (uint64_t number : {~0ull, 1ull << 63, 1ull << 32, 0xFFFFFFFFull}) {
      patch(offset, std::string_view(reinterpret_cast<const char*>(&number), 8));
      survives();
      ASSERT_FALSE(HasFailure()) << offset << " " << number;
    }
    patch(offset, std::string_view(original).substr(offset, 8));
  }
}

} // namespace
} // namespace tenon::frontends
