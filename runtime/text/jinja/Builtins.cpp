#include "runtime/text/jinja/Builtins.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include <utf8proc.h>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "runtime/text/internal/WordEdges.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {
namespace {

using Result = absl::StatusOr<Value>;

absl::Status unfit(std::string_view expected, const Value& found) {
  return absl::InvalidArgumentError(
      absl::StrFormat("expects %s, but got %s", expected, found.typeName()));
}

absl::StatusOr<std::string> textOf(const Arguments& arguments, size_t index, std::string_view name,
                                   std::string_view otherwise) {
  const Value* value = arguments.find(index, name);
  if (!value || value->isNone())
    return std::string(otherwise);
  if (!value->isString())
    return unfit("a string as argument", *value);
  return value->string();
}

absl::StatusOr<int64_t> integerOf(const Arguments& arguments, size_t index, std::string_view name,
                                  int64_t otherwise) {
  const Value* value = arguments.find(index, name);
  if (!value || value->isNone())
    return otherwise;
  if (!value->isInteger() && !value->isBool())
    return unfit("an integer as argument", *value);
  return value->integer();
}

bool isGiven(const Arguments& arguments, size_t index, std::string_view name) {
  const Value* value = arguments.find(index, name);
  return value && value->isTrue();
}

/// `text` with each character, by its number from the front, changed.
std::string mapCharacters(std::string_view text,
                          const std::function<utf8proc_int32_t(utf8proc_int32_t, size_t)>& change) {
  std::string changed;
  for (size_t at = 0, count = 0; at < text.size(); ++count) {
    utf8proc_int32_t character = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at,
                         utf8proc_ssize_t(text.size() - at), &character);
    if (length <= 0) { // a byte that is not UTF-8
      changed += text[at++];
      continue;
    }
    utf8proc_uint8_t bytes[4];
    const utf8proc_ssize_t written = utf8proc_encode_char(change(character, count), bytes);
    changed.append(reinterpret_cast<const char*>(bytes), size_t(written));
    at += size_t(length);
  }
  return changed;
}

std::string upper(std::string_view text) {
  return mapCharacters(text, [](utf8proc_int32_t c, size_t) { return utf8proc_toupper(c); });
}
std::string lower(std::string_view text) {
  return mapCharacters(text, [](utf8proc_int32_t c, size_t) { return utf8proc_tolower(c); });
}
std::string capitalize(std::string_view text) {
  return mapCharacters(text, [](utf8proc_int32_t c, size_t count) {
    return count == 0 ? utf8proc_toupper(c) : utf8proc_tolower(c);
  });
}
/// Words begin after what is no letter.
std::string title(std::string_view text) {
  bool isInWord = false;
  return mapCharacters(text, [&](utf8proc_int32_t c, size_t) {
    const bool wasInWord = isInWord;
    const utf8proc_category_t category = utf8proc_category(c);
    isInWord = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
    return wasInWord ? utf8proc_tolower(c) : utf8proc_toupper(c);
  });
}

/// Without the characters of `set`, or white space where it is empty, at the begin and the end.
std::string_view strip(std::string_view text, std::string_view set, bool left, bool right) {
  if (set.empty()) {
    if (left)
      text.remove_prefix(internal::spacesAtBegin(text));
    if (right)
      text.remove_suffix(internal::spacesAtEnd(text));
    return text;
  }
  if (left)
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(set)));
  if (right)
    text = text.substr(0, text.find_last_not_of(set) + 1);
  return text;
}

std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    int64_t count) {
  std::string replaced;
  size_t at = 0;
  for (; count != 0 && !from.empty(); --count) {
    const size_t found = text.find(from, at);
    if (found == text.npos || replaced.size() > Budget::mostTextBytes)
      break;
    (replaced += text.substr(at, found - at)) += to;
    at = found + from.size();
  }
  return replaced += text.substr(at);
}

/// Python's `split`: at each `separator`, or, where it is empty, between words.
absl::StatusOr<List> split(std::string_view text, std::string_view separator, int64_t most,
                           Budget& budget) {
  List parts;
  if (separator.empty()) {
    while (true) {
      TENON_RETURN_IF_ERROR(budget.take());
      text.remove_prefix(internal::spacesAtBegin(text));
      if (text.empty())
        return parts;
      if (int64_t(parts.size()) == most) {
        parts.emplace_back(strip(text, "", false, true));
        return parts;
      }
      size_t end = 1;
      while (end < text.size() && internal::spacesAtBegin(text.substr(end)) == 0)
        ++end;
      parts.emplace_back(text.substr(0, end));
      text.remove_prefix(end);
    }
  }
  for (size_t found;
       int64_t(parts.size()) != most && (found = text.find(separator)) != text.npos;) {
    TENON_RETURN_IF_ERROR(budget.take());
    parts.emplace_back(text.substr(0, found));
    text.remove_prefix(found + separator.size());
  }
  parts.emplace_back(text);
  return parts;
}

/// Whether a text begins or ends with an argument, or one of a list of such.
absl::StatusOr<bool> matchesAny(const std::string& text, const Arguments& arguments, bool atEnd) {
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

std::string indent(std::string_view text, std::string_view pad, bool first, bool blank) {
  std::string result;
  for (size_t at = 0, line = 0; at <= text.size(); ++line) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view content = text.substr(at, end - at);
    if (line == 0 ? first : blank || !content.empty())
      result += pad;
    result += content;
    if (end < text.size())
      result += '\n';
    at = end + 1;
  }
  return result;
}

/// Keys of a dictionary with their values, as lists of two.
Result pairsOf(const Value& value, bool isSorted) {
  if (!value.isDict())
    return unfit("a dictionary", value);
  Dict members = value.members();
  if (isSorted)
    std::ranges::sort(members, {}, [](const auto& member) {
      return std::pair(lower(member.first), member.first);
    });
  List pairs;
  for (const auto& [key, member] : members) {
    TENON_ASSIGN_OR_RETURN(Value pair, Value::list({Value(key), member}));
    pairs.push_back(std::move(pair));
  }
  return Value::list(std::move(pairs));
}

absl::StatusOr<int64_t> lengthOf(const Value& value) {
  if (value.isUndefined())
    return 0;
  if (value.isString())
    return countCharacters(value.string());
  if (value.isList())
    return int64_t(value.items().size());
  if (value.isDict())
    return int64_t(value.members().size());
  return unfit("a value with a length", value);
}

/// The member of a value by a dotted path, as `map` and `selectattr` read it.
Value memberByPath(const Value& value, std::string_view path) {
  Value current = value;
  while (true) {
    const size_t dot = path.find('.');
    const Value* found = current.isDict() ? current.find(path.substr(0, dot)) : nullptr;
    if (!found)
      return Value();
    current = Value(*found);
    if (dot == path.npos)
      return current;
    path.remove_prefix(dot + 1);
  }
}

Arguments withoutFirst(const Arguments& arguments, size_t count) {
  Arguments rest = arguments;
  rest.positional.erase(rest.positional.begin(),
                        rest.positional.begin() +
                            ptrdiff_t(std::min(count, rest.positional.size())));
  return rest;
}

/// `select`, `reject`, `selectattr` and `rejectattr`.
Result choose(const Value& value, const Arguments& arguments, bool byMember, bool keeps,
              Budget& budget) {
  TENON_ASSIGN_OR_RETURN(const List items, iterate(value, budget));
  TENON_ASSIGN_OR_RETURN(const std::string path, textOf(arguments, 0, "attribute", ""));
  const Arguments rest = byMember ? withoutFirst(arguments, 1) : arguments;
  TENON_ASSIGN_OR_RETURN(const std::string test, textOf(rest, 0, "test", ""));
  const Arguments ofTest = withoutFirst(rest, 1);
  List chosen;
  for (const Value& item : items) {
    TENON_RETURN_IF_ERROR(budget.take());
    const Value of = byMember ? memberByPath(item, path) : item;
    bool fits = of.isTrue();
    if (!test.empty()) {
      TENON_ASSIGN_OR_RETURN(fits, applyTest(test, of, ofTest, budget));
    }
    if (fits == keeps)
      chosen.push_back(item);
  }
  return Value::list(std::move(chosen));
}

Result mapItems(const Value& value, const Arguments& arguments, Budget& budget) {
  TENON_ASSIGN_OR_RETURN(const List items, iterate(value, budget));
  const Value* attribute = findMember(arguments.named, "attribute");
  const Value* otherwise = findMember(arguments.named, "default");
  List mapped;
  for (const Value& item : items) {
    TENON_RETURN_IF_ERROR(budget.take());
    if (attribute && attribute->isString()) {
      Value member = memberByPath(item, attribute->string());
      mapped.push_back(member.isUndefined() && otherwise ? *otherwise : std::move(member));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const std::string filter, textOf(arguments, 0, "filter", ""));
    TENON_ASSIGN_OR_RETURN(Value result,
                           applyFilter(filter, item, withoutFirst(arguments, 1), budget));
    mapped.push_back(std::move(result));
  }
  return Value::list(std::move(mapped));
}

Result sorted(const Value& value, const Arguments& arguments, Budget& budget) {
  TENON_ASSIGN_OR_RETURN(List items, iterate(value, budget));
  TENON_ASSIGN_OR_RETURN(const std::string path, textOf(arguments, 2, "attribute", ""));
  std::vector<std::pair<Value, Value>> keyed; // what to sort by, what to sort
  for (Value& item : items) {
    TENON_RETURN_IF_ERROR(budget.take(item.size()));
    Value key = path.empty() ? item : memberByPath(item, path);
    if (key.isString() && !isGiven(arguments, 1, "case_sensitive"))
      key = Value(lower(key.string()));
    if (!keyed.empty() &&
        !(key.isString() ? keyed[0].first.isString() : key.isNumber() && keyed[0].first.isNumber()))
      return unfit("numbers or strings to sort", key);
    keyed.emplace_back(std::move(key), std::move(item));
  }
  if (!keyed.empty() && !keyed[0].first.isString() && !keyed[0].first.isNumber())
    return unfit("numbers or strings to sort", keyed[0].first);
  std::vector<size_t> order(keyed.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::ranges::sort(order, [&](size_t a, size_t b) {
    const Value& left = keyed[a].first;
    const Value& right = keyed[b].first;
    if (left == right)
      return a < b;
    return left.isString() ? left.string() < right.string() : left.number() < right.number();
  });
  List result;
  for (size_t i : order)
    result.push_back(std::move(keyed[i].second));
  if (isGiven(arguments, 0, "reverse"))
    std::ranges::reverse(result);
  return Value::list(std::move(result));
}

Result join(const List& items, std::string_view separator, std::string_view path, Budget& budget) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    text += i ? separator : "";
    text += (path.empty() ? items[i] : memberByPath(items[i], path)).text();
    TENON_RETURN_IF_ERROR(budget.take(items[i].size()));
    if (text.size() > Budget::mostTextBytes)
      return budget.take(text.size());
  }
  return Value(std::move(text));
}

Result toInteger(const Value& value, const Arguments& arguments) {
  int64_t number = 0;
  if (value.isString() && absl::SimpleAtoi(value.string(), &number))
    return Value(number);
  if (value.isInteger() || value.isBool())
    return Value(value.integer());
  if (value.isFloat() && std::abs(value.number()) < 9e18)
    return Value(int64_t(value.number()));
  const Value* otherwise = arguments.find(0, "default");
  return otherwise ? *otherwise : Value(int64_t(0));
}

Result toFloat(const Value& value, const Arguments& arguments) {
  double number = 0;
  if (value.isString() && absl::SimpleAtod(value.string(), &number))
    return Value(number);
  if (value.isNumber())
    return Value(value.number());
  const Value* otherwise = arguments.find(0, "default");
  return otherwise ? *otherwise : Value(0.0);
}

/// Of a list the smallest, the largest or the sum.
Result reduce(std::string_view name, const Value& value, Budget& budget) {
  TENON_ASSIGN_OR_RETURN(const List items, iterate(value, budget));
  Value result = name == "sum" ? Value(int64_t(0)) : items.empty() ? Value() : items[0];
  for (const Value& item : items) {
    if (name == "sum") {
      if (!item.isNumber())
        return unfit("numbers", item);
      int64_t whole = 0;
      const bool isWhole = !item.isFloat() && !result.isFloat() &&
                           !__builtin_add_overflow(result.integer(), item.integer(), &whole);
      result = isWhole ? Value(whole) : Value(result.number() + item.number());
      continue;
    }
    TENON_ASSIGN_OR_RETURN(const bool less,
                           name == "min" ? isLess(item, result) : isLess(result, item));
    if (less)
      result = item;
  }
  return result;
}

Result listFilter(std::string_view name, const Value& value, const Arguments& arguments,
                  Budget& budget) {
  if (name == "map")
    return mapItems(value, arguments, budget);
  if (name == "select" || name == "reject")
    return choose(value, arguments, false, name == "select", budget);
  if (name == "selectattr" || name == "rejectattr")
    return choose(value, arguments, true, name == "selectattr", budget);
  if (name == "sort")
    return sorted(value, arguments, budget);
  if (name == "min" || name == "max" || name == "sum")
    return reduce(name, value, budget);
  TENON_ASSIGN_OR_RETURN(List items, iterate(value, budget));
  if (name == "first")
    return items.empty() ? Value() : items.front();
  if (name == "last")
    return items.empty() ? Value() : items.back();
  if (name == "join") {
    TENON_ASSIGN_OR_RETURN(const std::string separator, textOf(arguments, 0, "d", ""));
    TENON_ASSIGN_OR_RETURN(const std::string path, textOf(arguments, 1, "attribute", ""));
    return join(items, separator, path, budget);
  }
  if (name == "reverse") {
    std::ranges::reverse(items);
    if (value.isString())
      return join(items, "", "", budget);
  } else if (name == "unique") {
    List kept;
    for (const Value& item : items) {
      bool isNew = true;
      for (size_t i = 0; isNew && i < kept.size(); ++i) {
        TENON_RETURN_IF_ERROR(budget.take(item.size()));
        isNew = !(kept[i] == item);
      }
      if (isNew)
        kept.push_back(item);
    }
    items = std::move(kept);
  } else if (name != "list") {
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a filter that chat templates use, but got %s", quoteName(name)));
  }
  return Value::list(std::move(items));
}

Result textFilter(std::string_view name, const std::string& text, const Arguments& arguments) {
  if (name == "trim") {
    TENON_ASSIGN_OR_RETURN(const std::string set, textOf(arguments, 0, "chars", ""));
    return Value(strip(text, set, true, true));
  }
  if (name == "upper")
    return Value(upper(text));
  if (name == "lower")
    return Value(lower(text));
  if (name == "title")
    return Value(title(text));
  if (name == "capitalize")
    return Value(capitalize(text));
  if (name == "replace") {
    TENON_ASSIGN_OR_RETURN(const std::string from, textOf(arguments, 0, "old", ""));
    TENON_ASSIGN_OR_RETURN(const std::string to, textOf(arguments, 1, "new", ""));
    TENON_ASSIGN_OR_RETURN(const int64_t count, integerOf(arguments, 2, "count", -1));
    return Value(replace(text, from, to, count));
  }
  TENON_ASSIGN_OR_RETURN(const int64_t width, integerOf(arguments, 0, "width", 4));
  const auto lines = size_t(std::ranges::count(text, '\n')) + 1;
  if (width < 0 || size_t(width) > Budget::mostTextBytes / lines)
    return absl::InvalidArgumentError(absl::StrFormat("expects a width from 0 to %d, but got %d",
                                                      Budget::mostTextBytes / lines, width));
  return Value(indent(text, std::string(size_t(width), ' '), isGiven(arguments, 1, "first"),
                      isGiven(arguments, 2, "blank")));
}

} // namespace

absl::StatusOr<bool> isLess(const Value& a, const Value& b) {
  if (a.isNumber() && b.isNumber())
    return a.number() < b.number();
  if (a.isString() && b.isString())
    return a.string() < b.string();
  return absl::InvalidArgumentError(absl::StrFormat(
      "expects numbers or strings to compare, but got %s and %s", a.typeName(), b.typeName()));
}

absl::StatusOr<bool> contains(const Value& container, const Value& value) {
  if (container.isUndefined())
    return false;
  if (container.isList())
    return std::ranges::find(container.items(), value) != container.items().end();
  if (container.isDict())
    return value.isString() && container.find(value.string());
  if (container.isString() && value.isString())
    return container.string().find(value.string()) != std::string::npos;
  return unfit("a list, a dictionary or strings around 'in'", container);
}

absl::StatusOr<List> iterate(const Value& value, Budget& budget) {
  List items;
  if (value.isUndefined())
    return items;
  if (value.isList()) {
    TENON_RETURN_IF_ERROR(budget.takeItems(value.items().size()));
    return value.items();
  }
  if (value.isDict()) {
    TENON_RETURN_IF_ERROR(budget.takeItems(value.members().size()));
    for (const auto& member : value.members())
      items.emplace_back(member.first);
    return items;
  }
  if (!value.isString())
    return unfit("a list, a dictionary or a string to go through", value);
  TENON_RETURN_IF_ERROR(budget.takeItems(value.string().size()));
  for (std::string_view rest = value.string(); !rest.empty();) {
    const std::string_view character = sliceCharacters(rest, 0, 1);
    items.emplace_back(character);
    rest.remove_prefix(character.size());
  }
  return items;
}

absl::StatusOr<bool> applyTest(std::string_view name, const Value& value,
                               const Arguments& arguments, Budget& budget) {
  TENON_RETURN_IF_ERROR(budget.take(value.size()));
  if (name == "defined")
    return !value.isUndefined();
  if (name == "undefined")
    return value.isUndefined();
  if (name == "none")
    return value.isNone();
  if (name == "string")
    return value.isString();
  if (name == "number")
    return value.isNumber();
  if (name == "integer")
    return value.isInteger();
  if (name == "float")
    return value.isFloat();
  if (name == "boolean")
    return value.isBool();
  if (name == "true" || name == "false")
    return value.isBool() && value.boolean() == (name == "true");
  if (name == "mapping")
    return value.isDict();
  if (name == "sequence" || name == "iterable")
    return value.isList() || value.isDict() || value.isString() || value.isUndefined();
  if (name == "callable")
    return value.isCallable();
  if (name == "odd" || name == "even") {
    if (!value.isInteger())
      return unfit("an integer", value);
    return (value.integer() % 2 != 0) == (name == "odd");
  }
  const Value* other = arguments.find(0, "other");
  if (!other)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a test that chat templates use, but got %s", quoteName(name)));
  TENON_RETURN_IF_ERROR(budget.take(std::max(value.size(), other->size()), Budget::itemsPerStep));
  if (name == "equalto" || name == "eq" || name == "sameas")
    return value == *other;
  if (name == "ne")
    return !(value == *other);
  if (name == "in")
    return contains(*other, value);
  if (name == "lt" || name == "lessthan")
    return isLess(value, *other);
  if (name == "gt" || name == "greaterthan")
    return isLess(*other, value);
  if (name == "divisibleby" && value.isInteger() && other->isInteger() && other->integer() > 0)
    return value.integer() % other->integer() == 0;
  return absl::InvalidArgumentError(
      absl::StrFormat("expects a test that chat templates use, but got %s", quoteName(name)));
}

absl::StatusOr<Value> applyFilter(std::string_view name, const Value& value,
                                  const Arguments& arguments, Budget& budget) {
  TENON_RETURN_IF_ERROR(budget.take(value.size()));
  if (name == "default" || name == "d") {
    const Value* otherwise = arguments.find(0, "default_value");
    const bool isMissing =
        value.isUndefined() || (isGiven(arguments, 1, "boolean") && !value.isTrue());
    return !isMissing ? value : otherwise ? *otherwise : Value("");
  }
  if (name == "safe")
    return value;
  if (name == "string")
    return Value(value.text());
  if (name == "length" || name == "count") {
    TENON_ASSIGN_OR_RETURN(const int64_t length, lengthOf(value));
    return Value(length);
  }
  if (name == "int")
    return toInteger(value, arguments);
  if (name == "float")
    return toFloat(value, arguments);
  if (name == "abs" && value.isNumber())
    return value.isFloat() || value.integer() == INT64_MIN ? Value(std::abs(value.number()))
                                                           : Value(std::abs(value.integer()));
  if (name == "round" && value.isNumber())
    return Value(std::nearbyint(value.number()));
  if (name == "tojson") {
    TENON_ASSIGN_OR_RETURN(const int64_t width, integerOf(arguments, 0, "indent", -1));
    TENON_RETURN_IF_ERROR(budget.take(value.size(), /*bytesPerStep=*/4));
    TENON_ASSIGN_OR_RETURN(std::string text, value.json(width));
    TENON_RETURN_IF_ERROR(budget.take(text.size()));
    return Value(std::move(text));
  }
  if (name == "items" || name == "dictsort")
    return value.isUndefined() ? Value::list({}) : pairsOf(value, name == "dictsort");
  for (std::string_view known :
       {"trim", "upper", "lower", "title", "capitalize", "replace", "indent"})
    if (name == known) {
      TENON_RETURN_IF_ERROR(budget.take(value.size(), /*bytesPerStep=*/4));
      TENON_ASSIGN_OR_RETURN(Value result, textFilter(name, value.text(), arguments));
      TENON_RETURN_IF_ERROR(budget.take(result.size()));
      return result;
    }
  return listFilter(name, value, arguments, budget);
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
