#include "runtime/text/StopTexts.h"

#include <gtest/gtest.h>

namespace tenon::runtime {
namespace {

StopTexts make(std::vector<std::string> texts) {
  return StopTexts::create(std::move(texts)).value();
}

TEST(StopTexts, cutsTheTextAtAStopText) {
  StopTexts stops = make({"END"});
  EXPECT_EQ(stops.push("one END two"), "one ");
  EXPECT_TRUE(stops.isFound());
  EXPECT_EQ(stops.push("three"), "");
  EXPECT_EQ(stops.flush(), "");
}

TEST(StopTexts, holdsBackWhatMayBeAStopText) {
  StopTexts stops = make({"\n\nUser:"});
  EXPECT_EQ(stops.push("a\n"), "a");
  EXPECT_EQ(stops.push("\n"), "");
  EXPECT_EQ(stops.push("\nUse"), "\n");
  EXPECT_EQ(stops.push("d"), "\n\nUsed");
  EXPECT_EQ(stops.push("\n\nUs"), "");
  EXPECT_FALSE(stops.isFound());
  EXPECT_EQ(stops.flush(), "\n\nUs");
}

TEST(StopTexts, givesTheSameWhateverTheParts) {
  const std::string text = "xabcabdabx";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"abd"}, {"cab", "b"}, {"bca", "abcab"}, {"abcabe"}}) {
    StopTexts whole = make(words);
    const std::string expected = whole.push(text) + whole.flush();
    for (size_t length = 1; length < text.size(); ++length) {
      StopTexts stops = make(words);
      std::string got;
      for (size_t at = 0; at < text.size(); at += length)
        got += stops.push(text.substr(at, length));
      EXPECT_EQ(got + stops.flush(), expected) << length;
      EXPECT_EQ(stops.isFound(), whole.isFound());
    }
  }
}

TEST(StopTexts, ofSeveralTakesTheOneThatEndsFirst) {
  EXPECT_EQ(make({"bcd", "c"}).push("abcd"), "ab");
  EXPECT_EQ(make({"c", "bc"}).push("abcd"), "a"); // they end together: the longer one
}

TEST(StopTexts, refusesAnEmptyText) {
  EXPECT_EQ(StopTexts::create({"a", ""}).status(),
            absl::InvalidArgumentError("expects stop texts that are not empty"));
}

TEST(StopTexts, withoutAnyAllTextIsReady) {
  StopTexts stops = make({});
  EXPECT_EQ(stops.push("abc"), "abc");
  EXPECT_EQ(stops.flush(), "");
}

} // namespace
} // namespace tenon::runtime
