#include "runtime/text/ChatTemplate.h"

#include <ctime>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/common/TempFolder.h"

namespace tenon::runtime {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TokenizerSpec specOf(const std::string& source) {
  TokenizerSpec spec;
  spec.tokens = {"<s>", "</s>"};
  spec.bosId = 0;
  spec.eosId = 1;
  spec.chatTemplate = source;
  return spec;
}

absl::StatusOr<std::string> render(const std::string& source,
                                   const std::vector<ChatMessage>& messages = {{"user", "Hi"}},
                                   bool addsPrompt = true) {
  absl::StatusOr<ChatTemplate> made = ChatTemplate::create(specOf(source));
  if (!made.ok())
    return made.status();
  return made->render(messages, addsPrompt, /*now=*/1753272000); // 2025-07-23, noon in UTC
}

std::string text(const std::string& source) {
  const absl::StatusOr<std::string> rendered = render(source);
  EXPECT_TRUE(rendered.ok()) << source << ": " << rendered.status();
  return rendered.ok() ? *rendered : "";
}

std::string refusal(const std::string& source) {
  const absl::Status status = render(source).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << source;
  return std::string(status.message());
}

/// What transformers' `apply_chat_template` makes of conversations (tests/goldens/make_chats.py).
TEST(ChatTemplate, RendersAsTransformersDoes) {
  const json cases = json::parse(tests::readFile(TENON_TEST_DATA "/chat.json"));
  ASSERT_GE(cases.at("templates").size(), 20u);
  for (const json& entry : cases.at("templates")) {
    const auto made = ChatTemplate::create(specOf(entry.at("template").get<std::string>()));
    ASSERT_TRUE(made.ok()) << entry.at("name") << ": " << made.status();
    ASSERT_EQ(entry.at("texts").size(), 2 * cases.at("chats").size());
    size_t place = 0;
    for (const json& chat : cases.at("chats"))
      for (bool addsPrompt : {false, true}) {
        std::vector<ChatMessage> messages;
        for (const json& turn : chat)
          messages.push_back({turn.at("role"), turn.at("content")});
        const auto rendered = made->render(messages, addsPrompt, cases.at("now").get<int64_t>());
        const json& expected = entry.at("texts")[place++];
        if (expected.is_null())
          EXPECT_FALSE(rendered.ok()) << entry.at("name") << ": " << chat;
        else
          EXPECT_EQ(rendered.value_or(std::string(rendered.status().message())),
                    expected.get<std::string>())
              << entry.at("name");
      }
  }
}

/// Pieces of the language with what Jinja2 makes of them (tests/goldens/make_chats.py).
TEST(ChatTemplate, RendersTheLanguageAsJinjaDoes) {
  const json cases = json::parse(tests::readFile(TENON_TEST_DATA "/chat.json"));
  ASSERT_GE(cases.at("language").size(), 100u);
  for (const json& entry : cases.at("language")) {
    const auto rendered = render(entry.at("template").get<std::string>());
    const json& expected = entry.at("text");
    if (expected.is_null())
      EXPECT_FALSE(rendered.ok()) << entry.at("template") << " gives " << *rendered;
    else
      EXPECT_EQ(rendered.value_or(std::string(rendered.status().message())),
                expected.get<std::string>())
          << entry.at("template");
  }
}

TEST(ChatTemplate, KnowsItsVariables) {
  EXPECT_EQ(text("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}"), "<s>Hi</s>");
  EXPECT_EQ(text("{{ tools is none }} {{ strftime_now('%Y') }}"), "True 2025");
}

TEST(ChatTemplate, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refusal(""), "expects a model with a chat template, but it has none");
  EXPECT_EQ(refusal("a\n{{ 1 +"), "chat template, line 2: expects '}}', but the template ends");
  EXPECT_EQ(refusal("{% if true %}"),
            "chat template, line 1: expects '{% endif %}', but found the end");
  EXPECT_EQ(refusal("{% include 'x' %}"), "chat template, line 1: expects if, for, set, macro, "
                                          "generation, break or continue, but found 'include'");
  EXPECT_EQ(refusal("\n\n{{ raise_exception('no tools') }}"),
            "chat template, line 3: the template says: no tools");
  EXPECT_THAT(refusal("{{ nothing.member }}"), HasSubstr("a value with a member 'member'"));
  EXPECT_THAT(refusal("{{ 'a'|shout }}"), HasSubstr("a filter that chat templates use"));
  EXPECT_THAT(refusal("{{ 'a' is loud }}"), HasSubstr("a test that chat templates use"));
  EXPECT_THAT(refusal("{{ 'a'.format(1) }}"), HasSubstr("a method that chat templates use"));
  EXPECT_THAT(refusal("{{ messages.append(1) }}"), HasSubstr("'append' of a list"));
  EXPECT_THAT(refusal("{{ x() }}"), HasSubstr("expects a function 'x', but got undefined"));
  EXPECT_THAT(refusal("{{ 1 + 'a' }}"), HasSubstr("around '+', but got an integer and a string"));
  EXPECT_THAT(refusal("{{ 1 // 0 }}"), HasSubstr("another divisor than 0"));
  EXPECT_THAT(refusal("{{ 9223372036854775807 + 1 }}"), HasSubstr("integers of 64 bits"));
  EXPECT_THAT(refusal("{{ -'x' }}"), HasSubstr("expects a number after '-', but got a string"));
  EXPECT_THAT(refusal("{% set n = 3 %}{{ n[1:2] }}"),
              HasSubstr("expects a list or a string to slice, but got an integer"));
  EXPECT_THAT(refusal("{{ 'abc'['a':] }}"),
              HasSubstr("expects integers in a slice, but got a string"));
  EXPECT_THAT(refusal("{{ 'abc'[::2] }}"), HasSubstr("a step of 1 or -1, but got 2"));
  EXPECT_THAT(refusal("{{ range('x') }}"), HasSubstr("range expects integers, but got a string"));
  EXPECT_THAT(refusal("{{ range(1, 9, 0) }}"), HasSubstr("range expects 1 to 3 integers"));
  EXPECT_THAT(refusal("{{ range() }}"), HasSubstr("range expects 1 to 3 integers"));
  EXPECT_THAT(refusal("{{ [namespace(a=1)] }}"),
              HasSubstr("expects values in a list or dictionary, but got a namespace"));
  EXPECT_THAT(refusal("{{ 'x }}"), HasSubstr("expects the end of a string"));
  EXPECT_THAT(refusal("{# x"), HasSubstr("expects '#}' after a comment"));
  EXPECT_THAT(refusal("{{ $ }}"), HasSubstr("expects a name, value or operator, but found '$'"));
  EXPECT_THAT(refusal(std::string((1 << 20) + 1, 'a')), HasSubstr("at most 1048576 bytes"));
}

/// As Python's ranges and slices, out to the ends of 64 bits.
TEST(ChatTemplate, CountsToTheEndsOfIntegers) {
  const std::pair<const char*, const char*> cases[] = {
      {"range(9007199254740993, 9007199254740994)|list", "[9007199254740993]"},
      {"range(9223372036854775806, 9223372036854775807)|list", "[9223372036854775806]"},
      {"range(-9223372036854775807, 9223372036854775807, 9223372036854775807)|list",
       "[-9223372036854775807, 0]"},
      {"range(9223372036854775807, -9223372036854775807, -9223372036854775807)|list",
       "[9223372036854775807, 0]"},
      {"range(-9223372036854775807, 9223372036854775807, 6148914691236517205)|list",
       "[-9223372036854775807, -3074457345618258602, 3074457345618258603]"},
      {"range(5, 5)|list", "[]"},
      {"range(5, 1)|list", "[]"},
      {"range(5, 0, -2)|list", "[5, 3, 1]"},
      {"'abc'[-9223372036854775807:9223372036854775807]", "abc"},
      {"'abc'[9223372036854775807:]", ""},
      {"'abc'[::-1]", "cba"},
      {"'abc'[1:-9223372036854775807:-1]", "ba"},
      {"[1, 2, 3][-2:]", "[2, 3]"},
      {"-(-9223372036854775807)", "9223372036854775807"},
  };
  for (const auto& [expression, expected] : cases)
    EXPECT_EQ(text("{{ " + std::string(expression) + " }}"), expected) << expression;
}

/// Seconds of processor that a refusal takes at most: several times what it takes where nothing else
/// runs, and a sanitizer's build takes twenty times as long.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr double mostRefusal = 60;
#else
constexpr double mostRefusal = 3;
#endif

/// A template comes from a stranger. Each of these is refused within a second.
TEST(ChatTemplate, BoundsWhatATemplateCosts) {
  const std::string loops = "{% for a in range(100000) %}{% for b in range(100000) %}"
                            "{% endfor %}{% endfor %}";
  std::string deepExpression =
      "{{ " + std::string(100000, '(') + "1" + std::string(100000, ')') + " }}";
  std::string longSum = "{{ 1";
  for (int i = 0; i < 100000; ++i)
    longSum += "+1";
  std::string manyIfs, manyEnds;
  for (int i = 0; i < 90; ++i) {
    manyIfs += "{% if 1 %}";
    manyEnds += "{% endif %}";
  }
  std::string deepBlocks;
  for (int i = 0; i < 10000; ++i)
    deepBlocks += "{% if 1 %}";
  const std::string hostile[] = {
      loops,
      "{% for a in range(100000) %}{% for b in range(100000) %}x{% endfor %}{% endfor %}",
      // A text, a list and a dictionary that double.
      "{% set ns = namespace(x='aaaa') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}"
      "{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% "
      "endfor %}",
      "{% set ns = namespace(x=[1]) %}{% for i in range(60) %}{% set ns.x = [ns.x, ns.x] %}"
      "{% endfor %}{{ ns.x }}",
      "{% set ns = namespace(x={'a': 1}) %}{% for i in range(60) %}"
      "{% set ns.x = {'a': ns.x, 'b': ns.x} %}{% endfor %}{{ ns.x|tojson }}",
      "{% set ns = namespace(x=[]) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor "
      "%}",
      "{{ 'a' * 1000000000 }}",
      "{{ ['a'] * 1000000000 }}",
      "{{ range(1000000000) }}",
      "{{ ('a' * 1000000)|replace('a', 'b' * 1000000) }}",
      "{{ ('\\n' * 1000000)|indent(1000000) }}",
      "{{ ([[[['a']]]] * 100000)|tojson(1000000000) }}",
      "{% set x = 'a' * 1000000 %}{% for i in range(100000) %}{% set y = x|upper %}{% endfor %}",
      "{% set x = 'a' * 1000000 %}{% for i in range(100000) %}{% set y = x|list %}{% endfor %}",
      "{% set x = 'a ' * 1000000 %}{% for i in range(100000) %}{% set y = x.split() %}{% endfor %}",
      "{% set x = range(100000)|list %}{% for i in range(100000) %}{% set y = x|unique %}{% endfor "
      "%}",
      "{% set x = range(100000)|list %}{% for i in range(100000) %}{{ -1 in x }}{% endfor %}",
      "{% set x = range(100000)|list %}{% for i in range(100000) %}{% set y = x == x %}{% endfor "
      "%}",
      "{% set x = range(100000)|list %}{% for i in range(100000) %}{% if -1 is in(x) %}{% endif %}"
      "{% endfor %}",
      "{% set x = range(100000)|list %}{{ x|select('in', x)|list }}",
      // Recursion.
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% macro f(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(1) }}",
      "{% macro f() %}" + manyIfs + "{{ f() }}" + manyEnds + "{% endmacro %}{{ f() }}",
      "{% set ns = namespace() %}{% set ns.self = ns %}",
      "{% set ns = namespace() %}{% set x = [ns] %}",
      deepExpression,
      longSum + " }}",
      deepBlocks,
      "{{ " + std::string(100000, '-') + "1 }}",
      "{{ " + std::string(100000, '[') + " }}",
      "{{ strftime_now('" + std::string(1000, 'a') + "') }}",
  };
  for (const std::string& source : hostile) {
    const std::clock_t begin = std::clock(); // of this process alone
    EXPECT_FALSE(render(source).ok()) << source.substr(0, 200);
    const double took = double(std::clock() - begin) / CLOCKS_PER_SEC;
    EXPECT_LT(took, mostRefusal) << source.substr(0, 200);
  }
}

/// Messages are data: what they hold is no template.
TEST(ChatTemplate, MessagesAreNoTemplates) {
  EXPECT_EQ(render("{{ messages[0].content }}", {{"user", "{{ 7 * 7 }}{% if %}"}}).value(),
            "{{ 7 * 7 }}{% if %}");
}

TEST(ChatTemplate, BytesThatAreNotUtf8Pass) {
  EXPECT_EQ(render("{{ messages[0].content|upper|trim }}", {{"user", " a\xFF\xE2 "}}).value(),
            "A\xFF\xE2");
}

} // namespace
} // namespace tenon::runtime
