#include "support/Hash.h"

#include <string_view>

#include <gtest/gtest.h>

#include "support/Fingerprint.h"

namespace tenon {
namespace {

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

// Programs store hashes, so the function must never change.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hashBytes({}), 0x2D06800538D394C2u);
  EXPECT_EQ(hashBytes(bytesOf("abc")), 0x78AF5F94892F3950u);
}

TEST(Hash, DependsOnEveryByte) {
  std::string text(300, 'a');
  uint64_t whole = hashBytes(bytesOf(text));
  for (char& character : text) {
    character = 'b';
    EXPECT_NE(hashBytes(bytesOf(text)), whole);
    character = 'a';
  }
}

TEST(Fingerprint, SeesSizeEndsAndSmallFilesWhole) {
  std::string large(6 << 20, 'a');
  uint64_t whole = fingerprintFile(bytesOf(large));
  EXPECT_NE(fingerprintFile(bytesOf(large).first(large.size() - 1)), whole);
  for (size_t position : {size_t(0), large.size() - 1}) {
    large[position] = 'b';
    EXPECT_NE(fingerprintFile(bytesOf(large)), whole);
    large[position] = 'a';
  }
  std::string small(2 << 20, 'a');
  uint64_t smallWhole = fingerprintFile(bytesOf(small));
  small[1234567] = 'b';
  EXPECT_NE(fingerprintFile(bytesOf(small)), smallWhole);
}

} // namespace
} // namespace tenon
