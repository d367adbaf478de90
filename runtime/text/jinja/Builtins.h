#ifndef TENON_RUNTIME_TEXT_JINJA_BUILTINS_H
#define TENON_RUNTIME_TEXT_JINJA_BUILTINS_H

#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Budget.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

/// The arguments of a call.
struct Arguments {
  List positional;
  Dict named;

  /// The argument at `index` or by `name`, or null.
  const Value* find(size_t index, std::string_view name) const {
    return index < positional.size() ? &positional[index] : findMember(named, name);
  }
};

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

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_BUILTINS_H
