#include "runtime/text/ChatTemplate.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Interpreter.h"
#include "runtime/text/jinja/Node.h"
#include "support/Status.h"

namespace tenon::runtime {

using jinja::Value;

ChatTemplate::ChatTemplate(std::unique_ptr<jinja::Node> root) : root(std::move(root)) {}
ChatTemplate::~ChatTemplate() = default;
ChatTemplate::ChatTemplate(ChatTemplate&& other) = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&& other) = default;

absl::StatusOr<ChatTemplate> ChatTemplate::create(const TokenizerSpec& spec) {
  if (spec.chatTemplate.empty())
    return absl::InvalidArgumentError("expects a model with a chat template, but it has none");
  if (spec.chatTemplate.size() > maxBytes)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a chat template of at most %d bytes, but got %d", maxBytes,
                        spec.chatTemplate.size()));
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<jinja::Node> root,
                         jinja::parseTemplate(spec.chatTemplate));
  ChatTemplate made(std::move(root));
  const auto textOf = [&](int32_t id) {
    return id >= 0 && size_t(id) < spec.tokens.size() ? spec.tokens[size_t(id)] : std::string();
  };
  made.bos = textOf(spec.bosId);
  made.eos = textOf(spec.eosId);
  return made;
}

absl::StatusOr<std::string> ChatTemplate::render(std::span<const ChatMessage> messages,
                                                 bool addsPrompt, int64_t now) const {
  jinja::List turns;
  for (const ChatMessage& message : messages) {
    TENON_ASSIGN_OR_RETURN(Value turn, Value::dict({{"role", Value(message.role)},
                                                    {"content", Value(message.content)}}));
    turns.push_back(std::move(turn));
  }
  TENON_ASSIGN_OR_RETURN(Value list, Value::list(std::move(turns)));
  const jinja::Dict variables = {
      {"messages", std::move(list)},       {"tools", Value(jinja::None())},
      {"documents", Value(jinja::None())}, {"add_generation_prompt", Value(addsPrompt)},
      {"bos_token", Value(bos)},           {"eos_token", Value(eos)}};
  return jinja::renderTemplate(*root, variables, now);
}

} // namespace tenon::runtime
