#include "runtime/text/jinja/Builtins.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Strings.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {

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

absl::StatusOr<Value> pairsOf(const Value& value, bool isSorted) {
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

absl::StatusOr<Value> join(const List& items, std::string_view separator, std::string_view path,
                           Budget& budget) {
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

} // namespace tenon::runtime::jinja
