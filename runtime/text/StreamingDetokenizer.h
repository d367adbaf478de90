#ifndef TENON_RUNTIME_TEXT_STREAMINGDETOKENIZER_H
#define TENON_RUNTIME_TEXT_STREAMINGDETOKENIZER_H

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "runtime/text/Tokenizer.h"

namespace tenon::runtime {

/// Turns ids into text as they come. Everything it returns is valid UTF-8: the start of a character
/// is held back until the rest arrives, and bytes that belong to no character become U+FFFD, one
/// each maximal subpart (Unicode, section 3.9). SentencePiece's leading space is kept, so the texts
/// of a prompt and its continuation join.
class StreamingDetokenizer {
public:
  /// `tokenizer` must outlive this object.
  explicit StreamingDetokenizer(const Tokenizer& tokenizer) : tokenizer(&tokenizer) {}

  /// The text that token `id` completes, possibly none. InvalidArgument where there is no such
  /// token.
  absl::StatusOr<std::string> push(int32_t id);

  /// Ends the text: U+FFFD if the start of a character is still held back, else nothing.
  std::string flush();

private:
  const Tokenizer* tokenizer;
  /// The start of a character, at most 3 bytes.
  std::string pending;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_STREAMINGDETOKENIZER_H
