#ifndef TENON_RUNTIME_TEXT_JINJA_INTERPRETER_H
#define TENON_RUNTIME_TEXT_JINJA_INTERPRETER_H

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/text/jinja/Node.h"
#include "runtime/text/jinja/Value.h"

namespace tenon::runtime::jinja {

/// What `root` makes of the variables, a dictionary's members. `now` is what `strftime_now` formats, in
/// seconds since 1970, local time. InvalidArgument names the line and what does not hold, also what the
/// template itself raises, and where it costs more than `Budget` allows.
absl::StatusOr<std::string> renderTemplate(const Node& root, const Dict& variables, int64_t now);

} // namespace tenon::runtime::jinja

#endif // TENON_RUNTIME_TEXT_JINJA_INTERPRETER_H
