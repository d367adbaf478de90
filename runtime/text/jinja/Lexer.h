#ifndef TENON_RUNTIME_TEXT_JINJA_LEXER_H
#define TENON_RUNTIME_TEXT_JINJA_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::runtime::jinja {

enum class TokenType : uint8_t {
  Text,        ///< of the template, as it is
  OutputBegin, ///< {{
  OutputEnd,   ///< }}
  BlockBegin,  ///< {%
  BlockEnd,    ///< %}
  Name,
  String, ///< its text, without escapes
  Integer,
  Float,
  Operator,
  End,
};

struct Token {
  TokenType type;
  std::string text;
  size_t line;
};

/// Cuts a template into tokens, the last of which is End. White space goes as Jinja's options
/// `trim_blocks` and `lstrip_blocks` and the signs `-` and `+` at delimiters say; one line break at the
/// end of the template goes too.
absl::StatusOr<std::vector<Token>> tokenize(std::string_view source);

/// `chat template, line 3: …`.
absl::Status errorAt(size_t line, std::string_view message);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_LEXER_H
