#ifndef TENON_RUNTIME_TEXT_JINJA_STRINGS_H
#define TENON_RUNTIME_TEXT_JINJA_STRINGS_H

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Budget.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

// Python's methods of strings, as filters and methods of templates have them.

std::string upper(std::string_view text);
std::string lower(std::string_view text);
/// The first character upper, the others lower.
std::string capitalize(std::string_view text);
/// The same of each word. Words begin after what is no letter.
std::string title(std::string_view text);

/// Without the characters of `set`, or white space where it is empty, at the begin and the end.
std::string_view strip(std::string_view text, std::string_view set, bool left, bool right);
/// The first `count` places of `from`, all where it is below 0, become `to`. Ends early where the
/// text becomes larger than `Budget` allows.
std::string replace(std::string_view text, std::string_view from, std::string_view to,
                    int64_t count);
/// At each `separator`, or, where it is empty, between words; `most` times, or always where it is
/// below 0. InvalidArgument where it costs more than `Budget` allows.
absl::StatusOr<List> split(std::string_view text, std::string_view separator, int64_t most,
                           Budget& budget);
/// Puts `pad` before each line, before the first and those that are blank where it is said.
std::string indent(std::string_view text, std::string_view pad, bool first, bool blank);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_STRINGS_H
