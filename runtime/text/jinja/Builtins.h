#ifndef TENON_RUNTIME_TEXT_JINJA_BUILTINS_H
#define TENON_RUNTIME_TEXT_JINJA_BUILTINS_H

#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Arguments.h"
#include "runtime/text/jinja/Budget.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

/// Python's subset of Jinja that chat templates use. InvalidArgument where there is no such filter, test
/// or method, or where it takes other values.
absl::StatusOr<Value> applyFilter(std::string_view name, const Value& value,
                                  const Arguments& arguments, Budget& budget);
absl::StatusOr<bool> applyTest(std::string_view name, const Value& value,
                               const Arguments& arguments, Budget& budget);
/// A method of a string or dictionary.
absl::StatusOr<Value> callMethod(const Value& value, std::string_view name,
                                 const Arguments& arguments, Budget& budget);

/// What `in` says.
absl::StatusOr<bool> contains(const Value& container, const Value& value);
/// What a loop over `value` goes through.
absl::StatusOr<List> iterate(const Value& value, Budget& budget);
/// Whether `a` is smaller than `b`: numbers or strings.
absl::StatusOr<bool> isLess(const Value& a, const Value& b);

/// The member of a value by a dotted path, as `map`, `selectattr`, `sort` and `join` read it;
/// undefined where there is none.
Value memberByPath(const Value& value, std::string_view path);
/// Keys of a dictionary with their values, as lists of two.
absl::StatusOr<Value> pairsOf(const Value& value, bool isSorted);
/// The texts of the items, or of their members at `path` where it is not empty, in one.
absl::StatusOr<Value> join(const List& items, std::string_view separator, std::string_view path,
                           Budget& budget);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_BUILTINS_H
