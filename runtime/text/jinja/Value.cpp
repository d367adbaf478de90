#include "runtime/text/jinja/Value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/str_format.h"
#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {
namespace {

/// Of lists and dictionaries within each other; copies are destroyed recursively.
constexpr int deepestValue = 64;
constexpr size_t largestValue = size_t(1) << 24;
constexpr int64_t widestIndent = 64;

/// What a container counts of its values.
struct Extent {
  int depth = 1;
  size_t size = 1;

  absl::Status add(const Value& value) {
    if (value.isNamespace() || value.isCallable())
      return absl::InvalidArgumentError(
          absl::StrFormat("expects values in a list or dictionary, but got %s", value.typeName()));
    depth = std::max(depth, value.depth() + 1);
    size += value.size();
    if (depth > deepestValue || size > largestValue)
      return absl::InvalidArgumentError(absl::StrFormat(
          "expects lists and dictionaries of at most %d levels and %d bytes, but got "
          "more",
          deepestValue, largestValue));
    return absl::OkStatus();
  }
};

std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const double size = std::abs(value);
  const bool isPlain = value == 0 || (size >= 1e-4 && size < 1e16);
  const auto end =
      std::to_chars(buffer, buffer + sizeof(buffer), value,
                    isPlain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  return isPlain && text.find('.') == text.npos ? text + ".0" : text;
}

void appendQuoted(std::string_view text, char quote, bool isJson, std::string& result) {
  result += quote;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == quote || c == '\\')
      (result += '\\') += c;
    else if (c == '\n')
      result += "\\n";
    else if (c == '\r')
      result += "\\r";
    else if (c == '\t')
      result += "\\t";
    else if (isJson && c == '\b')
      result += "\\b";
    else if (isJson && c == '\f')
      result += "\\f";
    else if (byte < 0x20 || (byte == 0x7F && !isJson))
      result += isJson ? absl::StrFormat("\\u%04x", byte) : absl::StrFormat("\\x%02x", byte);
    else
      result += c;
  }
  result += quote;
}

std::string quoted(std::string_view text, char quote, bool isJson) {
  std::string result;
  appendQuoted(text, quote, isJson, result);
  return result;
}

void appendLine(int64_t indent, int64_t level, std::string& result) {
  if (indent >= 0)
    result += "\n" + std::string(size_t(std::min<int64_t>(indent, widestIndent) * level), ' ');
}

absl::Status appendJson(const Value& value, int64_t indent, int64_t level, std::string& result) {
  const std::string_view comma = indent >= 0 ? "," : ", ";
  if (result.size() > largestValue)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects JSON of at most %d bytes, but got more", largestValue));
  if (value.isNone()) {
    result += "null";
  } else if (value.isBool()) {
    result += value.boolean() ? "true" : "false";
  } else if (value.isNumber()) {
    result += value.text();
  } else if (value.isString()) {
    appendQuoted(value.string(), '"', true, result);
  } else if (value.isList()) {
    result += '[';
    for (const Value& item : value.items()) {
      if (&item != value.items().data())
        result += comma;
      appendLine(indent, level + 1, result);
      TENON_RETURN_IF_ERROR(appendJson(item, indent, level + 1, result));
    }
    if (!value.items().empty())
      appendLine(indent, level, result);
    result += ']';
  } else if (value.isDict()) {
    result += '{';
    for (const auto& member : value.members()) {
      if (&member != value.members().data())
        result += comma;
      appendLine(indent, level + 1, result);
      appendQuoted(member.first, '"', true, result);
      result += ": ";
      TENON_RETURN_IF_ERROR(appendJson(member.second, indent, level + 1, result));
    }
    if (!value.members().empty())
      appendLine(indent, level, result);
    result += '}';
  } else {
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a value that JSON can hold, but got %s", value.typeName()));
  }
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<Value> Value::list(List values) {
  Extent extent;
  for (const Value& value : values)
    TENON_RETURN_IF_ERROR(extent.add(value));
  Value made;
  made.held = std::make_shared<const Contained<List>>(std::move(values), extent.depth, extent.size);
  return made;
}

absl::StatusOr<Value> Value::dict(Dict members) {
  Extent extent;
  for (const auto& [key, value] : members) {
    extent.size += key.size();
    TENON_RETURN_IF_ERROR(extent.add(value));
  }
  Value made;
  made.held =
      std::make_shared<const Contained<Dict>>(std::move(members), extent.depth, extent.size);
  return made;
}

int Value::depth() const {
  if (isList())
    return std::get<SharedList>(held)->depth;
  return isDict() ? std::get<SharedDict>(held)->depth : 0;
}

size_t Value::size() const {
  if (isString())
    return string().size() + 1;
  if (isList())
    return std::get<SharedList>(held)->size;
  return isDict() ? std::get<SharedDict>(held)->size : 1;
}

const Value* findMember(const Dict& members, std::string_view key) {
  const auto found = std::ranges::find(members, key, &Dict::value_type::first);
  return found == members.end() ? nullptr : &found->second;
}

void setMember(Dict& members, std::string_view key, Value value) {
  const auto found = std::ranges::find(members, key, &Dict::value_type::first);
  if (found != members.end())
    found->second = std::move(value);
  else
    members.emplace_back(key, std::move(value));
}

const Value* Value::find(std::string_view key) const { return findMember(members(), key); }

bool Value::isTrue() const {
  if (isNumber())
    return number() != 0;
  if (isString())
    return !string().empty();
  if (isList())
    return !items().empty();
  if (isDict())
    return !members().empty();
  return !isUndefined() && !isNone();
}

bool Value::operator==(const Value& other) const {
  if (isNumber() && other.isNumber())
    return isFloat() || other.isFloat() ? number() == other.number() : integer() == other.integer();
  if (isString() && other.isString())
    return string() == other.string();
  if (isList() && other.isList())
    return items() == other.items();
  if (isDict() && other.isDict()) {
    const auto isIn = [&](const auto& member) {
      const Value* found = other.find(member.first);
      return found && *found == member.second;
    };
    return members().size() == other.members().size() && std::ranges::all_of(members(), isIn);
  }
  if (isNamespace() && other.isNamespace())
    return &asNamespace() == &other.asNamespace();
  return (isUndefined() && other.isUndefined()) || (isNone() && other.isNone());
}

std::string Value::text() const {
  if (isUndefined())
    return "";
  return isString() ? string() : repr();
}

std::string Value::repr() const {
  if (isUndefined())
    return "Undefined";
  if (isNone())
    return "None";
  if (isBool())
    return boolean() ? "True" : "False";
  if (isInteger())
    return std::to_string(integer());
  if (isFloat())
    return floatText(number());
  if (isString()) {
    const bool hasSingle = string().find('\'') != std::string::npos;
    const bool hasDouble = string().find('"') != std::string::npos;
    return quoted(string(), hasSingle && !hasDouble ? '"' : '\'', false);
  }
  std::string result;
  if (isList()) {
    for (const Value& item : items())
      result += (result.empty() ? "" : ", ") + item.repr();
    return "[" + result + "]";
  }
  if (isDict()) {
    for (const auto& [key, value] : members())
      result += (result.empty() ? "" : ", ") + Value(key).repr() + ": " + value.repr();
    return "{" + result + "}";
  }
  return absl::StrFormat("<%s>", typeName());
}

absl::StatusOr<std::string> Value::json(int64_t indent) const {
  std::string result;
  TENON_RETURN_IF_ERROR(appendJson(*this, indent, 0, result));
  return result;
}

std::string_view Value::typeName() const {
  constexpr std::string_view names[] = {"undefined",   "none",      "a boolean", "an integer",
                                        "a number",    "a string",  "a list",    "a dictionary",
                                        "a namespace", "a function"};
  return names[held.index()];
}

int64_t countCharacters(std::string_view text) {
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); at += internal::readUtf8(text.substr(at)).length)
    ++count;
  return count;
}

std::string_view sliceCharacters(std::string_view text, int64_t begin, int64_t end) {
  size_t from = text.size();
  int64_t count = 0;
  size_t at = 0;
  for (; at < text.size() && count < end; ++count) {
    if (count == begin)
      from = at;
    at += internal::readUtf8(text.substr(at)).length;
  }
  return from < at ? text.substr(from, at - from) : std::string_view();
}

} // namespace tenon::runtime::jinja
