#ifndef TENON_FRONTENDS_TEXT_NESTINGCHECK_H
#define TENON_FRONTENDS_TEXT_NESTINGCHECK_H

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace tenon::frontends {

/// Refuses textual IR on which MLIR's recursive parser could exhaust the stack, before that parser
/// sees it. `name` stands for the file in the message: `name:line:column: …`.
///
/// Counts `(`, `[`, `{` and `<` that are open at once, strings and comments left out. An alias
/// (`#a = …`, `!t = …`) counts as deep as what it stands for, so that a chain of aliases cannot
/// nest without brackets. Where text is ambiguous the count is too high, never too low: a closing
/// bracket that does not match the innermost open one closes nothing, and after `//` inside `<…>`
/// (a comment to MLIR's lexer, not to its scan of a dialect's attribute) only opening brackets
/// count. `affine_map` and `affine_set` are refused: MLIR recurses on their operators, and the
/// dialect has no use for them.
absl::Status checkNesting(std::string_view text, std::string_view name, int limit);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_TEXT_NESTINGCHECK_H
