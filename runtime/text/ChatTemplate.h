#ifndef TENON_RUNTIME_TEXT_CHATTEMPLATE_H
#define TENON_RUNTIME_TEXT_CHATTEMPLATE_H

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/program/TokenizerSpec.h"

namespace tenon::runtime {

namespace jinja {
struct Node;
} // namespace jinja

/// A turn of a chat.
struct ChatMessage {
  std::string role; ///< `system`, `user` or `assistant`
  std::string content;
};

/// How the turns of a chat become a text that a model continues: the template that came with it, in the
/// subset of Jinja that such templates use, with the settings and functions that Hugging Face's
/// transformers give it (`apply_chat_template`). Templates come from strangers: one may change nothing,
/// reads nothing but its variables, and costs no more than `jinja::Budget` allows. Immutable: any number
/// of threads may use one.
class ChatTemplate {
public:
  /// The longest template, far above those in use (20 KB).
  static constexpr size_t maxBytes = size_t(1) << 20;

  /// Reads the template of `spec`, whose BOS and EOS tokens it knows by `bos_token` and `eos_token`.
  /// InvalidArgument names the line that is none, or says that there is no template.
  static absl::StatusOr<ChatTemplate> create(const TokenizerSpec& spec);

  ~ChatTemplate();
  ChatTemplate(ChatTemplate&& other);
  ChatTemplate& operator=(ChatTemplate&& other);

  /// The text of `messages`; with `addsPrompt` up to where the model's answer begins. `now` is the
  /// time, in seconds since 1970, that some templates write. InvalidArgument where the template does
  /// not take these messages, or costs too much.
  absl::StatusOr<std::string> render(std::span<const ChatMessage> messages, bool addsPrompt,
                                     int64_t now) const;

private:
  explicit ChatTemplate(std::unique_ptr<jinja::Node> root);

  std::unique_ptr<jinja::Node> root;
  std::string bos;
  std::string eos;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_CHATTEMPLATE_H
