#include "runtime/text/jinja/Operators.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "runtime/text/jinja/Builtins.h"
#include "support/Status.h"

namespace tenon::runtime::jinja {

static absl::StatusOr<Value> addValues(const Value& left, const Value& right, Budget& budget) {
  TENON_RETURN_IF_ERROR(budget.take(left.size() + right.size()));
  if (left.isString() && right.isString())
    return Value(left.string() + right.string());
  if (left.isList() && right.isList()) {
    TENON_RETURN_IF_ERROR(budget.takeItems(left.items().size() + right.items().size()));
    List items = left.items();
    items.insert(items.end(), right.items().begin(), right.items().end());
    return Value::list(std::move(items));
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("expects numbers, strings or lists around '+', but got %s and %s",
                      left.typeName(), right.typeName()));
}

/// A text or a list so many times.
static absl::StatusOr<Value> multiply(const Value& left, const Value& right, Budget& budget) {
  const Value& of = left.isInteger() ? right : left;
  const int64_t count = std::max<int64_t>(0, (left.isInteger() ? left : right).integer());
  if (count > 0 && of.size() > Budget::mostTextBytes / size_t(count))
    return budget.take(Budget::mostTextBytes + 1);
  TENON_RETURN_IF_ERROR(budget.take(of.size() * size_t(count)));
  if (of.isString()) {
    std::string text;
    for (int64_t i = 0; i < count; ++i)
      text += of.string();
    return Value(std::move(text));
  }
  TENON_RETURN_IF_ERROR(budget.takeItems(of.items().size() * size_t(count)));
  List items;
  for (int64_t i = 0; i < count; ++i)
    items.insert(items.end(), of.items().begin(), of.items().end());
  return Value::list(std::move(items));
}

static absl::StatusOr<Value> calculateIntegers(std::string_view op, int64_t x, int64_t y) {
  int64_t result = 0;
  const bool overflows = op == "+"   ? __builtin_add_overflow(x, y, &result)
                         : op == "-" ? __builtin_sub_overflow(x, y, &result)
                         : op == "*" ? __builtin_mul_overflow(x, y, &result)
                                     : x == INT64_MIN && y == -1;
  if (overflows)
    return absl::InvalidArgumentError("expects integers of 64 bits, but got larger ones");
  if (op == "//" || op == "%") { // towards minus infinity
    const int64_t rest = x % y;
    const bool differ = rest != 0 && (rest < 0) != (y < 0);
    result = op == "//" ? x / y - int64_t(differ) : rest + (differ ? y : 0);
  }
  return Value(result);
}

absl::StatusOr<Value> calculate(std::string_view op, const Value& left, const Value& right,
                                Budget& budget) {
  if (op == "~") {
    TENON_RETURN_IF_ERROR(budget.take(left.size() + right.size()));
    return Value(left.text() + right.text());
  }
  const bool isNumeric = left.isNumber() && right.isNumber();
  if (op == "+" && !isNumeric)
    return addValues(left, right, budget);
  if (op == "*" && ((left.isInteger() && (right.isString() || right.isList())) ||
                    (right.isInteger() && (left.isString() || left.isList()))))
    return multiply(left, right, budget);
  if (!isNumeric)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects numbers around '%s', but got %s and %s", op, left.typeName(), right.typeName()));
  const double a = left.number();
  const double b = right.number();
  if ((op == "/" || op == "//" || op == "%") && b == 0)
    return absl::InvalidArgumentError("expects another divisor than 0");
  if (op == "/")
    return Value(a / b);
  if (op == "**")
    return !left.isFloat() && !right.isFloat() && b >= 0 && std::abs(std::pow(a, b)) < 9e15
               ? Value(int64_t(std::pow(a, b)))
               : Value(std::pow(a, b));
  if (!left.isFloat() && !right.isFloat())
    return calculateIntegers(op, left.integer(), right.integer());
  if (op == "//")
    return Value(std::floor(a / b));
  if (op == "%")
    return Value(a - b * std::floor(a / b));
  return Value(op == "+" ? a + b : op == "-" ? a - b : a * b);
}

absl::StatusOr<bool> compare(std::string_view op, const Value& left, const Value& right,
                             Budget& budget) {
  TENON_RETURN_IF_ERROR(budget.take(std::max(left.size(), right.size()), Budget::itemsPerStep));
  if (op == "==" || op == "!=")
    return (left == right) == (op == "==");
  if (op == "in" || op == "not in") {
    TENON_ASSIGN_OR_RETURN(const bool isIn, contains(right, left));
    return isIn == (op == "in");
  }
  TENON_ASSIGN_OR_RETURN(const bool less,
                         op == "<" || op == ">=" ? isLess(left, right) : isLess(right, left));
  return less == (op == "<" || op == ">");
}

absl::StatusOr<Value> slice(const Value& value, std::optional<int64_t> from,
                            std::optional<int64_t> to, int64_t step, Budget& budget) {
  if (step != 1 && step != -1)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a slice with a step of 1 or -1, but got %d", step));
  const int64_t count =
      value.isList() ? int64_t(value.items().size()) : countCharacters(value.string());
  // As Python has it: positions from the end count below 0, and none lies outside.
  const int64_t least = step > 0 ? 0 : -1;
  const int64_t most = step > 0 ? count : count - 1;
  const auto place = [&](std::optional<int64_t> bound, int64_t otherwise) {
    return bound ? std::clamp(*bound < 0 ? *bound + count : *bound, least, most) : otherwise;
  };
  const int64_t begin = place(from, step > 0 ? least : most);
  const int64_t end = place(to, step > 0 ? most : least);
  if (value.isString() && step > 0)
    return Value(sliceCharacters(value.string(), begin, std::max(begin, end)));
  TENON_ASSIGN_OR_RETURN(const List items, iterate(value, budget));
  List chosen;
  for (int64_t at = begin; step > 0 ? at < end : at > end; at += step)
    chosen.push_back(items[size_t(at)]);
  if (value.isList())
    return Value::list(std::move(chosen));
  std::string text;
  for (const Value& character : chosen)
    text += character.string();
  return Value(std::move(text));
}

} // namespace tenon::runtime::jinja
