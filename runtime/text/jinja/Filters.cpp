#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Builtins.h"
#include "runtime/text/jinja/Strings.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {
namespace {

using Result = absl::StatusOr<Value>;

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

} // namespace tenon::runtime::jinja
