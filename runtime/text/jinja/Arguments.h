#ifndef TENON_RUNTIME_TEXT_JINJA_ARGUMENTS_H
#define TENON_RUNTIME_TEXT_JINJA_ARGUMENTS_H

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
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

/// InvalidArgument: what was expected, and the type of what was found.
absl::Status unfit(std::string_view expected, const Value& found);

/// The argument at `index` or by `name`, `otherwise` where it is none or not given. InvalidArgument
/// where it is no string.
absl::StatusOr<std::string> textOf(const Arguments& arguments, size_t index, std::string_view name,
                                   std::string_view otherwise);
/// The same of an integer or a bool.
absl::StatusOr<int64_t> integerOf(const Arguments& arguments, size_t index, std::string_view name,
                                  int64_t otherwise);
/// Whether the argument is given and true.
bool isGiven(const Arguments& arguments, size_t index, std::string_view name);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_ARGUMENTS_H
