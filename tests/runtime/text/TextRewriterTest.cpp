#include "runtime/text/internal/TextRewriter.h"

#include <fstream>
#include <iostream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::runtime::internal {
namespace {

using testing::HasSubstr;

std::string rewrite(std::vector<RewriteStep> steps, std::string_view text, bool isFirst = true) {
  const auto rewriter = TextRewriter::create(steps);
  EXPECT_TRUE(rewriter.ok()) << rewriter.status();
  const auto rewritten = rewriter->rewrite(text, isFirst);
  EXPECT_TRUE(rewritten.ok()) << rewritten.status();
  return *rewritten;
}

std::string rewrite(RewriteKind kind, std::string_view text) {
  return rewrite({{kind, "", ""}}, text);
}

TEST(TextRewriter, knowsUnicodesNormalForms) {
  EXPECT_EQ(rewrite(RewriteKind::Nfc, "e\u0301 \uFB01 \u212B"), "\u00E9 \uFB01 \u00C5");
  EXPECT_EQ(rewrite(RewriteKind::Nfd, "\u00E9\uAC00"), "e\u0301\u1100\u1161");
  EXPECT_EQ(rewrite(RewriteKind::Nfkc, "\uFB01\u00B2 e\u0301"), "fi2 \u00E9");
  EXPECT_EQ(rewrite(RewriteKind::Nfkd, "\uFB01\u00E9"), "fie\u0301");
}

TEST(TextRewriter, changesCharacters) {
  EXPECT_EQ(rewrite(RewriteKind::Lowercase, "ÀB\u0130\u1E9E9"), "àbi\u0307\u00DF9");
  EXPECT_EQ(rewrite(RewriteKind::StripMarks, "e\u0301\u0903x\u20DD"), "ex");
}

TEST(TextRewriter, replacesAndPrepends) {
  EXPECT_EQ(rewrite({{RewriteKind::Replace, "\\s+", "_"}}, " a \t b"), "_a_b");
  EXPECT_EQ(rewrite({{RewriteKind::Prepend, "", "_"}}, "_a"), "__a");
  EXPECT_EQ(rewrite({{RewriteKind::Prepend, "", "_"}}, ""), "");
  EXPECT_EQ(rewrite({{RewriteKind::Prefix, "", "_"}}, "_a"), "_a");
  EXPECT_EQ(rewrite({{RewriteKind::Prefix, "", "_"}}, "a", /*isFirst=*/false), "_a");
  EXPECT_EQ(rewrite({{RewriteKind::PrefixFirst, "", "_"}}, "a"), "_a");
  EXPECT_EQ(rewrite({{RewriteKind::PrefixFirst, "", "_"}}, "a", /*isFirst=*/false), "a");
  EXPECT_EQ(rewrite({{RewriteKind::Replace, " ", "_"}, {RewriteKind::Prefix, "", "_"}}, " a b"),
            "_a_b");
}

TEST(TextRewriter, prefixesNoEmptyText) {
  EXPECT_EQ(rewrite({{RewriteKind::Replace, "\\s+", ""}, {RewriteKind::Prefix, "", "_"}}, "  "),
            "");
}

TEST(TextRewriter, refusesMapsThatAreNone) {
  for (RewriteKind kind : {RewriteKind::Charsmap, RewriteKind::CharsmapOfClusters})
    EXPECT_THAT(std::string(TextRewriter::create({{kind, "", "abc"}}).status().message()),
                HasSubstr("expects a map of characters with a trie and texts"));
}

TEST(TextRewriter, keepsBytesThatAreNotUtf8) {
  EXPECT_EQ(rewrite(RewriteKind::Nfc, "e\u0301\xFF\xE2\x82 e\u0301"), "\u00E9\xFF\xE2\x82 \u00E9");
}

TEST(TextRewriter, refusesWhatItCannotDo) {
  EXPECT_THAT(std::string(TextRewriter::create({{RewriteKind{12}, "", ""}}).status().message()),
              HasSubstr("expects kinds of rewriting from 0 to 11, but got 12"));
  EXPECT_THAT(
      std::string(TextRewriter::create({{RewriteKind::Replace, "(", ""}}).status().message()),
      HasSubstr("normaliser, pattern '('"));
}

// The forms of Unicode take four bytes a character while they are made, which a process may not get.
TEST(TextRewriterDeathTest, saysThatMemoryLacks) {
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  auto rewriteInLittleMemory = [] {
    const auto rewriter = TextRewriter::create({{RewriteKind::Nfc, "", ""}});
    const std::string text(16 << 20, 'a');
    std::string pages;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = std::stoul(pages) * sysconf(_SC_PAGESIZE) + (32 << 20);
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    const auto rewritten = rewriter->rewrite(text, true);
    std::cerr << rewritten.status().message();
    _exit(rewritten.ok() ? 1 : 0);
  };
  EXPECT_EXIT(rewriteInLittleMemory(), testing::ExitedWithCode(0),
              "tokenizer: normalising the text: Memory for processing UTF-8 data");
}

// Ten steps that double a text would make terabytes of a megabyte.
TEST(TextRewriter, boundsTheResult) {
  std::vector<RewriteStep> steps;
  for (int i = 0; i < 10; ++i)
    steps.push_back({RewriteKind::Replace, "a", "aaaaaaaa"});
  const auto rewriter = TextRewriter::create(steps);
  ASSERT_TRUE(rewriter.ok());
  EXPECT_THAT(std::string(rewriter->rewrite(std::string(4096, 'a'), true).status().message()),
              HasSubstr("expects a text of at most 536870912 bytes after its normaliser"));
}

} // namespace
} // namespace tenon::runtime::internal
