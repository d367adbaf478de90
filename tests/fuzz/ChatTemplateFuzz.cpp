// Chat templates: the reader of Jinja, and the text that a template makes of conversations.

#include <string>

#include "runtime/text/ChatTemplate.h"
#include "runtime/text/jinja/Budget.h"
#include "tests/fuzz/Fuzz.h"

using namespace tenon;
using namespace tenon::runtime;

static constexpr int64_t now = 1'753'272'000; // 2025-07-23, noon in UTC

/// Texts that templates look into: thoughts, white space, their own delimiters.
static const std::vector<ChatMessage>& conversation() {
  static const std::vector<ChatMessage> messages = {{"system", "Be brief.\n"},
                                                    {"user", " {{ 7 * 7 }} \xe6\x97\xa5 <s> "},
                                                    {"assistant", "<think>\nHm.\n</think>\n\nYes."},
                                                    {"user", ""}};
  return messages;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  TokenizerSpec spec;
  spec.tokens = {"<s>", "</s>"};
  spec.bosId = 0;
  spec.eosId = 1;
  spec.chatTemplate.assign(reinterpret_cast<const char*>(data), size);
  auto made = ChatTemplate::create(spec);
  if (!made.ok())
    return 0;
  for (bool addsPrompt : {false, true}) {
    std::span<const ChatMessage> messages = conversation();
    auto text = made->render(addsPrompt ? messages : messages.last(1), addsPrompt, now);
    if (!text.ok())
      continue;
    fuzz::require(text->size() <= jinja::Budget::mostTextBytes, "a text longer than allowed");
    auto again = made->render(addsPrompt ? messages : messages.last(1), addsPrompt, now);
    fuzz::require(again.ok() && *again == *text, "a template gave two texts");
  }
  return 0;
}
