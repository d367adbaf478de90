#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Strings.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {

/// Whether a text begins or ends with an argument, or one of a list of such.
static absl::StatusOr<bool> matchesAny(const std::string& text, const Arguments& arguments,
                                       bool atEnd) {
  const Value* affix = arguments.find(0, "prefix");
  if (!affix || !(affix->isString() || affix->isList()))
    return unfit("a string or a list of strings as argument", affix ? *affix : Value());
  const List one = {*affix};
  for (const Value& each : affix->isList() ? affix->items() : one) {
    if (!each.isString())
      return unfit("a string as argument", each);
    if (atEnd ? text.ends_with(each.string()) : text.starts_with(each.string()))
      return true;
  }
  return false;
}

absl::StatusOr<Value> callMethod(const Value& value, std::string_view name,
                                 const Arguments& arguments, Budget& budget) {
  TENON_RETURN_IF_ERROR(budget.take(value.size()));
  if (value.isDict()) {
    if (name == "items")
      return pairsOf(value, false);
    if (name == "get") {
      const Value* key = arguments.find(0, "key");
      const Value* otherwise = arguments.find(1, "default");
      const Value* found = key && key->isString() ? value.find(key->string()) : nullptr;
      return found ? *found : otherwise ? *otherwise : Value(None());
    }
    if (name == "keys" || name == "values") {
      List items;
      for (const auto& [key, member] : value.members())
        items.push_back(name == "keys" ? Value(key) : member);
      return Value::list(std::move(items));
    }
  }
  if (!value.isString())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a method that chat templates use, but got %s of %s",
                        quoteName(name), value.typeName()));
  const std::string& text = value.string();
  if (name == "strip" || name == "lstrip" || name == "rstrip") {
    TENON_ASSIGN_OR_RETURN(const std::string set, textOf(arguments, 0, "chars", ""));
    return Value(strip(text, set, name != "rstrip", name != "lstrip"));
  }
  if (name == "startswith" || name == "endswith") {
    TENON_ASSIGN_OR_RETURN(const bool matches, matchesAny(text, arguments, name == "endswith"));
    return Value(matches);
  }
  if (name == "split") {
    TENON_ASSIGN_OR_RETURN(const std::string separator, textOf(arguments, 0, "sep", ""));
    const Value* given = arguments.find(0, "sep");
    if (given && given->isString() && separator.empty())
      return absl::InvalidArgumentError("split expects a separator that is not empty");
    TENON_ASSIGN_OR_RETURN(const int64_t most, integerOf(arguments, 1, "maxsplit", -1));
    TENON_ASSIGN_OR_RETURN(List parts, split(text, separator, most, budget));
    return Value::list(std::move(parts));
  }
  if (name == "splitlines") {
    TENON_ASSIGN_OR_RETURN(List lines, split(text, "\n", -1, budget));
    if (lines.back().string().empty())
      lines.pop_back();
    return Value::list(std::move(lines));
  }
  if (name == "join") {
    const Value* items = arguments.find(0, "iterable");
    TENON_ASSIGN_OR_RETURN(const List parts, iterate(items ? *items : Value(), budget));
    return join(parts, text, "", budget);
  }
  if (name == "find" || name == "count") {
    TENON_ASSIGN_OR_RETURN(const std::string part, textOf(arguments, 0, "sub", ""));
    const size_t found = text.find(part);
    if (name == "find")
      return Value(found == text.npos ? int64_t(-1)
                                      : countCharacters(std::string_view(text).substr(0, found)));
    if (part.empty())
      return Value(countCharacters(text) + 1);
    TENON_ASSIGN_OR_RETURN(const List parts, split(text, part, -1, budget));
    return Value(int64_t(parts.size()) - 1);
  }
  for (std::string_view known : {"upper", "lower", "title", "capitalize", "replace"})
    if (name == known)
      return applyFilter(name, value, arguments, budget);
  return absl::InvalidArgumentError(absl::StrFormat(
      "expects a method that chat templates use, but got %s of a string", quoteName(name)));
}

} // namespace tenon::runtime::jinja
