#include "runtime/text/internal/Utf8.h"

#include <gtest/gtest.h>

#include "runtime/text/internal/ByteTable.h"

namespace tenon::runtime::internal {
namespace {

void expectUnit(std::string_view text, Utf8Kind kind, size_t length) {
  const Utf8Unit unit = readUtf8(text);
  EXPECT_EQ(unit.kind, kind) << text;
  EXPECT_EQ(unit.length, length) << text;
}

TEST(Utf8, readsWholeCharacters) {
  expectUnit("a", Utf8Kind::Valid, 1);
  expectUnit(std::string_view("\0", 1), Utf8Kind::Valid, 1);
  expectUnit("é!", Utf8Kind::Valid, 2);
  expectUnit("\xDF\xBF", Utf8Kind::Valid, 2);
  expectUnit("\xE0\xA0\x80", Utf8Kind::Valid, 3);
  expectUnit("\xED\x9F\xBF", Utf8Kind::Valid, 3);
  expectUnit("\xEF\xBF\xBF", Utf8Kind::Valid, 3);
  expectUnit("😀😀", Utf8Kind::Valid, 4);
  expectUnit("\xF4\x8F\xBF\xBF", Utf8Kind::Valid, 4);
}

TEST(Utf8, refusesIllFormedBytes) {
  expectUnit("\x80", Utf8Kind::Invalid, 1);
  expectUnit("\xC0\x80", Utf8Kind::Invalid, 1);         // overlong
  expectUnit("\xC1\xBF", Utf8Kind::Invalid, 1);         // overlong
  expectUnit("\xE0\x9F\xBF", Utf8Kind::Invalid, 1);     // overlong
  expectUnit("\xED\xA0\x80", Utf8Kind::Invalid, 1);     // a surrogate
  expectUnit("\xF0\x8F\xBF\xBF", Utf8Kind::Invalid, 1); // overlong
  expectUnit("\xF4\x90\x80\x80", Utf8Kind::Invalid, 1); // above U+10FFFF
  expectUnit("\xF5\x80\x80\x80", Utf8Kind::Invalid, 1);
  expectUnit("\xFF", Utf8Kind::Invalid, 1);
  expectUnit("\xC3(", Utf8Kind::Invalid, 1);
  expectUnit("\xE2\x82(", Utf8Kind::Invalid, 2);
  expectUnit("\xF0\x9F\x98(", Utf8Kind::Invalid, 3);
}

TEST(Utf8, tellsTruncatedFromIllFormed) {
  expectUnit("\xC3", Utf8Kind::Truncated, 1);
  expectUnit("\xE2\x82", Utf8Kind::Truncated, 2);
  expectUnit("\xF0\x9F\x98", Utf8Kind::Truncated, 3);
  expectUnit("\xED", Utf8Kind::Truncated, 1);
}

TEST(ByteTable, isGpt2sBijection) {
  EXPECT_EQ(characterOfByte('a'), "a");
  EXPECT_EQ(characterOfByte(' '), "Ġ");
  EXPECT_EQ(characterOfByte('\n'), "Ċ");
  EXPECT_EQ(characterOfByte(0x00), "Ā");
  EXPECT_EQ(characterOfByte(0xAD), "Ń");
  EXPECT_EQ(characterOfByte(0xFF), "ÿ");
  for (int byte = 0; byte < 256; ++byte)
    EXPECT_EQ(bytesOfCharacters(characterOfByte(uint8_t(byte))), std::string(1, char(byte)));
}

TEST(ByteTable, copiesWhatItDoesNotKnow) {
  EXPECT_EQ(bytesOfCharacters("Ġ日 ń\xE2\x82"), " 日 ń\xE2\x82");
}

} // namespace
} // namespace tenon::runtime::internal
