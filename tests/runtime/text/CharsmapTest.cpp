#include "runtime/text/internal/Charsmap.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime::internal {
namespace {

using testing::HasSubstr;

/// A map with room for `count` units of a double array.
class MapBytes {
public:
  explicit MapBytes(size_t count) : units(count) {}

  /// A unit that `byte` leads to, from which `offset` leads on; with a leaf beside it.
  void add(size_t index, char byte, uint32_t offset, bool hasLeaf) {
    units[index] = uint8_t(byte) | uint32_t(hasLeaf) << 8 | offset << 10;
  }
  void addLeaf(size_t index, uint32_t value) { units[index] = value | 0x80000000; }

  std::string text(std::string_view replacements) const {
    std::string bytes;
    const auto append = [&](uint32_t value) {
      for (int shift = 0; shift < 32; shift += 8)
        bytes += char(value >> shift & 0xFF);
    };
    append(uint32_t(4 * units.size()));
    for (uint32_t unit : units)
      append(unit);
    return bytes + std::string(replacements);
  }

private:
  std::vector<uint32_t> units;
};

/// A becomes a, AB becomes xyz, and C nothing.
std::string smallMap() {
  MapBytes map(0x48);
  map.add(0x41, 'A', 1, true); // from the root, whose offset is 0; its leaf at 0x41 ^ 1
  map.addLeaf(0x40, 0);
  map.add(0x02, 'B', 1, true); // 0x40 ^ 'B'
  map.addLeaf(0x03, 2);
  map.add(0x43, 'C', 4, true);
  map.addLeaf(0x47, 5);
  return map.text(std::string_view("a\0xyz\0", 6));
}

TEST(Charsmap, replacesTheLongestAtEachPlace) {
  const Charsmap map = Charsmap::create(smallMap()).value();
  EXPECT_EQ(map.rewrite("AxABCéA").value(), "axxyzéa");
  EXPECT_EQ(map.rewrite("").value(), "");
  EXPECT_EQ(map.rewrite(std::string_view("\0B", 2)).value(), std::string_view("\0B", 2));
}

TEST(Charsmap, replacesClustersByTheShortestThatTheyBeginWith) {
  const Charsmap map = Charsmap::create(smallMap()).value();
  EXPECT_EQ(map.rewriteClusters("AxABCé").value(), "axaBé");
  EXPECT_EQ(map.rewriteClusters("A\u0301B").value(), "aB"); // the accent goes with its cluster
  // A cluster of more than 5 bytes character by character.
  EXPECT_EQ(map.rewriteClusters("A\u0301\u0301\u0301").value(), "a\u0301\u0301\u0301");
}

TEST(Charsmap, refusesWhatIsNone) {
  const auto refusal = [](const std::string& bytes) {
    return std::string(Charsmap::create(bytes).status().message());
  };
  EXPECT_THAT(refusal(""),
              HasSubstr("expects a map of characters with a trie and texts, but got 0"));
  EXPECT_THAT(refusal(std::string(4, '\0')), HasSubstr("4 bytes of which 0 are"));
  EXPECT_THAT(refusal(std::string("\3\0\0\0abcd", 8)), HasSubstr("3 are to be the trie"));
  EXPECT_THAT(refusal(std::string("\4\0\0\0abcd", 8)), HasSubstr("4 are to be the trie"));
}

TEST(Charsmap, boundsTheResult) {
  MapBytes map(0x42);
  map.add(0x41, 'A', 1, true);
  map.addLeaf(0x40, 0);
  const Charsmap large = Charsmap::create(map.text(std::string(1 << 20, 'x'))).value();
  EXPECT_THAT(std::string(large.rewrite(std::string(1 << 20, 'A')).status().message()),
              HasSubstr("expects a text of at most 536870912 bytes"));
}

// Offsets and values that lead anywhere: the address sanitizer watches.
TEST(Charsmap, readsNothingBeyondItsBytes) {
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = smallMap();
    for (int change = 0; change < 20; ++change)
      bytes[4 + random() % (bytes.size() - 4)] = char(random());
    const Charsmap map = Charsmap::create(bytes).value();
    for (const char* text : {"AABC", "é日A\u0301", "xyz"}) {
      EXPECT_TRUE(map.rewrite(text).ok());
      EXPECT_TRUE(map.rewriteClusters(text).ok());
    }
  }
}

} // namespace
} // namespace tenon::runtime::internal
