#include "runtime/cpu/AnonymousMemory.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

bool isZero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

TEST(AnonymousMemory, IsAlignedAndZero) {
  for (size_t size : {size_t{1}, size_t{100'000}, size_t{2} << 20, (size_t{5} << 20) + 3}) {
    auto memory = AnonymousMemory::create(size, "a test");
    ASSERT_TRUE(memory.ok());
    EXPECT_EQ(memory->bytes().size(), size);
    size_t alignment = size >= 2 << 20 ? 2 << 20 : 64;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->bytes().data()) % alignment, 0u) << size;
    EXPECT_TRUE(isZero(memory->bytes()));
  }
}

TEST(AnonymousMemory, ClearsAllOfIt) {
  auto memory = AnonymousMemory::create((3 << 20) + 17, "a test");
  std::ranges::fill(memory->bytes(), std::byte{1});
  EXPECT_FALSE(isZero(memory->bytes()));
  EXPECT_TRUE(memory->clear().ok());
  EXPECT_TRUE(isZero(memory->bytes()));
}

TEST(AnonymousMemory, MayBeEmpty) {
  auto memory = AnonymousMemory::create(0, "a test");
  ASSERT_TRUE(memory.ok());
  EXPECT_TRUE(memory->bytes().empty());
  EXPECT_TRUE(memory->clear().ok());
}

TEST(AnonymousMemory, MovesItsBytes) {
  auto memory = AnonymousMemory::create(10, "a test");
  std::byte* place = memory->bytes().data();
  AnonymousMemory moved = *std::move(memory);
  EXPECT_EQ(moved.bytes().data(), place);
  EXPECT_TRUE(memory->bytes().empty());
}

TEST(AnonymousMemory, NamesWhatItCannotAllocate) {
  for (size_t size : {SIZE_MAX, size_t{1} << 60}) {
    absl::Status status = AnonymousMemory::create(size, "the workspace").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(std::string(status.message()),
              "cannot allocate " + std::to_string(size) + " bytes for the workspace");
  }
}

} // namespace
} // namespace tenon::runtime
