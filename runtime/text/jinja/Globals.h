#ifndef TENON_RUNTIME_TEXT_JINJA_GLOBALS_H
#define TENON_RUNTIME_TEXT_JINJA_GLOBALS_H

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Arguments.h"
#include "runtime/text/jinja/Budget.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

/// The name of a global function, as long as the program runs; empty where there is none.
std::string_view findGlobal(std::string_view name);

/// What a global function makes of its arguments: `range`, `dict`, `namespace`, `strftime_now`, which
/// formats `now`, in seconds since 1970, local time. InvalidArgument where it takes other ones, and what
/// `raise_exception` says.
absl::StatusOr<Value> callGlobal(std::string_view name, const Arguments& arguments, int64_t now,
                                 Budget& budget);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_GLOBALS_H
