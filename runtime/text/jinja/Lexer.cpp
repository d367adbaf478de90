#include "runtime/text/jinja/Lexer.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {
namespace {

bool isBlank(char c) { return c == ' ' || c == '\t'; }
bool startsName(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool continuesName(char c) {
  return startsName(c) || absl::ascii_isdigit(static_cast<unsigned char>(c));
}

class Lexer {
public:
  explicit Lexer(std::string_view source) : source(source) {}

  absl::StatusOr<std::vector<Token>> run();

private:
  /// Adds the text up to `end`, and what the sign after the delimiter there leaves of it.
  void addText(size_t end, bool isBlock);
  absl::Status readTag(bool isBlock);
  absl::Status skipComment();
  absl::Status readToken();
  absl::Status readString();
  void readNumber();
  /// After a delimiter: what goes with it.
  void trimBehind(char sign, bool isBlock);
  char at(size_t offset) const {
    return place + offset < source.size() ? source[place + offset] : '\0';
  }
  void add(TokenType type, std::string text) { tokens.push_back({type, std::move(text), line}); }
  void advance(size_t length) {
    line += size_t(std::count(source.begin() + ptrdiff_t(place),
                              source.begin() + ptrdiff_t(place + length), '\n'));
    place += length;
  }

  std::string_view source;
  std::vector<Token> tokens;
  size_t place = 0;
  size_t line = 1;
  bool startsLine = true; ///< nothing, or a line break, stands before `place`
  int depth = 0;          ///< of brackets in a tag
};

void Lexer::addText(size_t end, bool isBlock) {
  std::string_view text = source.substr(place, end - place);
  const char sign = end + 2 < source.size() ? source[end + 2] : '\0';
  if (sign == '-') {
    text = text.substr(0, text.find_last_not_of(" \t\n\r\f\v") + 1);
  } else if (isBlock && sign != '+') {
    const size_t lineBegin = text.rfind('\n') + 1;
    if ((lineBegin > 0 || startsLine) && std::ranges::all_of(text.substr(lineBegin), isBlank))
      text = text.substr(0, lineBegin);
  }
  if (!text.empty())
    add(TokenType::Text, std::string(text));
  advance(end - place);
}

void Lexer::trimBehind(char sign, bool isBlock) {
  startsLine = false;
  if (sign == '-') {
    const size_t end = source.find_first_not_of(" \t\n\r\f\v", place);
    const size_t length = (end == source.npos ? source.size() : end) - place;
    startsLine = length > 0 && source[place + length - 1] == '\n';
    advance(length);
  } else if (isBlock && sign != '+' && at(0) == '\n') {
    advance(1);
    startsLine = true;
  }
}

absl::Status Lexer::skipComment() {
  const size_t end = source.find("#}", place);
  if (end == source.npos)
    return errorAt(line, "expects '#}' after a comment, but the template ends");
  const char sign = source[end - 1];
  advance(end + 2 - place);
  trimBehind(sign, true);
  return absl::OkStatus();
}

absl::Status Lexer::readString() {
  const char quote = at(0);
  const size_t begin = place;
  std::string text;
  advance(1);
  while (at(0) != quote) {
    if (place >= source.size())
      return errorAt(line,
                     absl::StrFormat("expects the end of a string, but the template ends (%s)",
                                     quoteName(source.substr(begin, 20))));
    char c = at(0);
    advance(1);
    if (c != '\\' || place >= source.size()) {
      text += c;
      continue;
    }
    c = at(0);
    advance(1);
    constexpr std::string_view escapes = "ntrbf\\'\"";
    constexpr std::string_view meanings = "\n\t\r\b\f\\'\"";
    const size_t known = escapes.find(c);
    if (known == escapes.npos)
      text += '\\';
    text += known == escapes.npos ? c : meanings[known];
  }
  advance(1);
  add(TokenType::String, std::move(text));
  return absl::OkStatus();
}

void Lexer::readNumber() {
  size_t length = 0;
  const auto takeDigits = [&] {
    while (absl::ascii_isdigit(static_cast<unsigned char>(at(length))))
      ++length;
  };
  takeDigits();
  TokenType type = TokenType::Integer;
  if (at(length) == '.' && absl::ascii_isdigit(static_cast<unsigned char>(at(length + 1)))) {
    type = TokenType::Float;
    ++length;
    takeDigits();
  }
  const size_t sign = at(length + 1) == '-' || at(length + 1) == '+';
  if ((at(length) == 'e' || at(length) == 'E') &&
      absl::ascii_isdigit(static_cast<unsigned char>(at(length + 1 + sign)))) {
    type = TokenType::Float;
    length += 1 + sign;
    takeDigits();
  }
  add(type, std::string(source.substr(place, length)));
  advance(length);
}

absl::Status Lexer::readToken() {
  const char c = at(0);
  if (c == '\'' || c == '"')
    return readString();
  if (absl::ascii_isdigit(static_cast<unsigned char>(c))) {
    readNumber();
    return absl::OkStatus();
  }
  if (startsName(c)) {
    size_t length = 1;
    while (continuesName(at(length)))
      ++length;
    add(TokenType::Name, std::string(source.substr(place, length)));
    advance(length);
    return absl::OkStatus();
  }
  for (std::string_view op : {"==", "!=", "<=", ">=", "//", "**", "+", "-", "*", "/", "%", "~", "|",
                              "(",  ")",  "[",  "]",  "{",  "}",  ",", ".", ":", "<", ">", "="}) {
    if (!source.substr(place).starts_with(op))
      continue;
    depth += op == "(" || op == "[" || op == "{";
    depth -= op == ")" || op == "]" || op == "}";
    add(TokenType::Operator, std::string(op));
    advance(op.size());
    return absl::OkStatus();
  }
  return errorAt(line, absl::StrFormat("expects a name, value or operator, but found %s",
                                       quoteName(source.substr(place, 1))));
}

absl::Status Lexer::readTag(bool isBlock) {
  const std::string_view end = isBlock ? "%}" : "}}";
  add(isBlock ? TokenType::BlockBegin : TokenType::OutputBegin, "");
  advance(2);
  if (at(0) == '-' || at(0) == '+')
    advance(1);
  depth = 0;
  while (true) {
    if (place >= source.size())
      return errorAt(line, absl::StrFormat("expects '%s', but the template ends", end));
    if (absl::ascii_isspace(static_cast<unsigned char>(at(0)))) {
      advance(1);
      continue;
    }
    const std::string_view rest = source.substr(place);
    const bool hasSign = rest[0] == '-' || rest[0] == '+';
    if (depth <= 0 && rest.substr(hasSign).starts_with(end)) {
      add(isBlock ? TokenType::BlockEnd : TokenType::OutputEnd, "");
      advance(2 + size_t(hasSign));
      trimBehind(hasSign ? rest[0] : '\0', isBlock);
      return absl::OkStatus();
    }
    TENON_RETURN_IF_ERROR(readToken());
  }
}

absl::StatusOr<std::vector<Token>> Lexer::run() {
  while (place < source.size()) {
    size_t begin = place;
    for (begin = source.find('{', begin); begin != source.npos; begin = source.find('{', begin + 1))
      if (begin + 1 < source.size() &&
          std::string_view("{%#").find(source[begin + 1]) != std::string_view::npos)
        break;
    if (begin == source.npos) {
      add(TokenType::Text, std::string(source.substr(place)));
      advance(source.size() - place);
      break;
    }
    const char tag = source[begin + 1];
    addText(begin, tag != '{');
    if (tag == '#')
      TENON_RETURN_IF_ERROR(skipComment());
    else
      TENON_RETURN_IF_ERROR(readTag(tag == '%'));
  }
  add(TokenType::End, "");
  return std::move(tokens);
}

} // namespace

absl::Status errorAt(size_t line, std::string_view message) {
  return absl::InvalidArgumentError(absl::StrFormat("chat template, line %d: %s", line, message));
}

absl::StatusOr<std::vector<Token>> tokenize(std::string_view source) {
  std::string unified; // line breaks of every kind are '\n'
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r')
      unified += source[i];
    else if (i + 1 == source.size() || source[i + 1] != '\n')
      unified += '\n';
  }
  if (unified.ends_with('\n'))
    unified.pop_back();
  return Lexer(unified).run();
}

} // namespace tenon::runtime::jinja
