#ifndef TENON_RUNTIME_TEXT_JINJA_OPERATORS_H
#define TENON_RUNTIME_TEXT_JINJA_OPERATORS_H

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Budget.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

/// What Python says of two values around `+`, `-`, `*`, `/`, `//`, `%` or `**`, or Jinja of `~`.
/// InvalidArgument where the operator takes other values, or the result is no integer of 64 bits.
absl::StatusOr<Value> calculate(std::string_view op, const Value& left, const Value& right,
                                Budget& budget);
/// Whether `==`, `!=`, `<`, `<=`, `>`, `>=`, `in` or `not in` holds between two values.
absl::StatusOr<bool> compare(std::string_view op, const Value& left, const Value& right,
                             Budget& budget);
/// `value[from:to:step]` of a list or a string. InvalidArgument where `step` is neither 1 nor −1.
absl::StatusOr<Value> slice(const Value& value, std::optional<int64_t> from,
                            std::optional<int64_t> to, int64_t step, Budget& budget);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_OPERATORS_H
