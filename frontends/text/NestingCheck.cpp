#include "frontends/text/NestingCheck.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"

#include "support/Status.h"
#include "support/TextHash.h"

namespace tenon::frontends {
namespace {

/// One pass over the text; `position` is the next byte.
class NestingScanner {
public:
  NestingScanner(std::string_view text, std::string_view name, int limit)
      : text(text), name(name), limit(limit) {}

  absl::Status run();

private:
  bool startsWith(std::string_view token) const { return text.substr(position).starts_with(token); }
  absl::Status scanToken();
  absl::Status scanComment();
  void scanString();
  absl::Status scanWord();
  absl::Status scanAliasReference();
  /// The characters of a word from `start`.
  std::string_view wordAt(size_t start) const;
  absl::Status open(char closer);
  void close(char closer);
  /// Notes that something nests `depth` deep at the current position.
  absl::Status reach(int depth);
  absl::Status error(std::string_view message) const;

  std::string_view text;
  std::string_view name;
  int limit;
  size_t position = 0;
  /// The closing brackets that are due, outermost first.
  std::vector<char> due;
  /// How deep each alias nests; a view of the text names it, with `#` or `!`.
  absl::flat_hash_map<std::string_view, int, TextHash> aliasDepths;
  /// The alias that the scan is in the definition of, or empty. Where a definition ends is not
  /// looked for: it is taken to go on to the next one, or to its own first use.
  std::string_view definedAlias;
};

bool isWordCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$' || c == '.';
}

absl::Status NestingScanner::run() {
  while (position < text.size())
    TENON_RETURN_IF_ERROR(scanToken());
  return absl::OkStatus();
}

absl::Status NestingScanner::scanToken() {
  char c = text[position];
  if (startsWith("//"))
    return scanComment();
  if (c == '"') {
    scanString();
    return absl::OkStatus();
  }
  if (c == '#' || c == '!')
    return scanAliasReference();
  if (isWordCharacter(c))
    return scanWord();
  if (startsWith("->")) {
    position += 2;
    return absl::OkStatus();
  }
  ++position;
  switch (c) {
  case '(':
    return open(')');
  case '[':
    return open(']');
  case '{':
    return open('}');
  case '<':
    return open('>');
  case ')':
  case ']':
  case '}':
  case '>':
    close(c);
    return absl::OkStatus();
  default:
    return absl::OkStatus();
  }
}

absl::Status NestingScanner::scanComment() {
  bool ambiguous = std::find(due.begin(), due.end(), '>') != due.end();
  for (; position < text.size() && text[position] != '\n'; ++position) {
    if (!ambiguous)
      continue;
    size_t kind = std::string_view("([{<").find(text[position]);
    if (kind != std::string_view::npos)
      TENON_RETURN_IF_ERROR(open(")]}>"[kind]));
  }
  return absl::OkStatus();
}

/// A string ends at its quote, or at the end of the line, where MLIR's lexer gives up.
void NestingScanner::scanString() {
  for (++position; position < text.size(); ++position) {
    char c = text[position];
    if (c == '\\' && position + 1 < text.size() && text[position + 1] != '\n')
      ++position;
    else if (c == '"' || c == '\n')
      break;
  }
  position = std::min(position + 1, text.size());
}

std::string_view NestingScanner::wordAt(size_t start) const {
  size_t end = start;
  while (end < text.size() && isWordCharacter(text[end]))
    ++end;
  return text.substr(start, end - start);
}

absl::Status NestingScanner::scanWord() {
  std::string_view word = wordAt(position);
  if (word == "affine_map" || word == "affine_set")
    return error(absl::StrFormat("'%s' is no part of this IR", word));
  position += word.size();
  return absl::OkStatus();
}

/// `#name` or `!name`: a use of an alias, its definition where `=` follows outside all brackets,
/// or a dialect's attribute or type, which has no entry.
absl::Status NestingScanner::scanAliasReference() {
  std::string_view alias = text.substr(position, 1 + wordAt(position + 1).size());
  size_t next = text.find_first_not_of(" \t\r\n", position + alias.size());
  if (due.empty() && next != std::string_view::npos && text[next] == '=') {
    definedAlias = alias;
    aliasDepths[alias] = 0;
  } else if (auto known = aliasDepths.find(alias); known != aliasDepths.end()) {
    // No definition uses itself: a use shows that the definition has ended.
    if (alias == definedAlias)
      definedAlias = {};
    TENON_RETURN_IF_ERROR(reach(static_cast<int>(due.size()) + 1 + known->second));
  }
  position += alias.size();
  return absl::OkStatus();
}

absl::Status NestingScanner::open(char closer) {
  due.push_back(closer);
  return reach(static_cast<int>(due.size()));
}

void NestingScanner::close(char closer) {
  if (!due.empty() && due.back() == closer)
    due.pop_back();
}

absl::Status NestingScanner::reach(int depth) {
  if (depth > limit)
    return error(absl::StrFormat("expects brackets nested at most %d deep, but got more", limit));
  if (!definedAlias.empty())
    aliasDepths[definedAlias] = std::max(aliasDepths[definedAlias], depth);
  return absl::OkStatus();
}

absl::Status NestingScanner::error(std::string_view message) const {
  std::string_view before = text.substr(0, position);
  size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return absl::InvalidArgumentError(absl::StrFormat("%s:%d:%d: %s", name, line, column, message));
}

} // namespace

absl::Status checkNesting(std::string_view text, std::string_view name, int limit) {
  return NestingScanner(text, name, limit).run();
}

} // namespace tenon::frontends
