#include "runtime/text/StreamingDetokenizer.h"

#include <gtest/gtest.h>

#include "tests/runtime/text/TestVocabularies.h"

namespace tenon::runtime {
namespace {

class StreamingDetokenizerTest : public testing::Test {
protected:
  /// The token of a byte.
  static int32_t byteId(int byte) { return 3 + byte; }
  std::string push(int32_t id) { return stream.push(id).value(); }

  std::unique_ptr<Tokenizer> tokenizer = Tokenizer::create(makeSentencePieceSpec()).value();
  StreamingDetokenizer stream{*tokenizer};
};

TEST_F(StreamingDetokenizerTest, keepsTheLeadingSpace) {
  EXPECT_EQ(push(1), ""); // BOS
  EXPECT_EQ(push(266), " a");
  EXPECT_EQ(push(261), "b");
  EXPECT_EQ(stream.flush(), "");
}

TEST_F(StreamingDetokenizerTest, holdsBackHalfACharacter) {
  EXPECT_EQ(push(byteId(0xF0)), "");
  EXPECT_EQ(push(byteId(0x9F)), "");
  EXPECT_EQ(push(byteId(0x98)), "");
  EXPECT_EQ(push(byteId(0x80)), "😀");
  EXPECT_EQ(stream.flush(), "");
}

TEST_F(StreamingDetokenizerTest, aSpecialTokenDoesNotBreakACharacter) {
  EXPECT_EQ(push(byteId(0xC3)), "");
  EXPECT_EQ(push(1), "");
  EXPECT_EQ(push(byteId(0xA9)), "é");
}

TEST_F(StreamingDetokenizerTest, replacesBytesThatAreNoCharacter) {
  EXPECT_EQ(push(byteId(0xFF)), "\uFFFD");
  EXPECT_EQ(push(byteId(0xE2)), "");
  EXPECT_EQ(push(byteId(0x82)), "");
  EXPECT_EQ(push(260), "\uFFFDa"); // one for the maximal subpart E2 82
  EXPECT_EQ(push(byteId(0xE2)), "");
  EXPECT_EQ(push(byteId(0xC3)), "\uFFFD");
  EXPECT_EQ(push(byteId(0xA9)), "é");
}

TEST_F(StreamingDetokenizerTest, flushReplacesAnUnfinishedCharacter) {
  EXPECT_EQ(push(byteId(0xE2)), "");
  EXPECT_EQ(push(byteId(0x82)), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.flush(), "");
  EXPECT_EQ(push(260), "a");
}

TEST_F(StreamingDetokenizerTest, refusesUnknownIds) {
  EXPECT_EQ(stream.push(-5).status().code(), absl::StatusCode::kInvalidArgument);
}

} // namespace
} // namespace tenon::runtime
