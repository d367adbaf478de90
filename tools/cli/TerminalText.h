#ifndef TENON_TOOLS_CLI_TERMINALTEXT_H
#define TENON_TOOLS_CLI_TERMINALTEXT_H

#include <string>
#include <string_view>

namespace tenon::tools {

/// `text` for a terminal or a row of a table: control characters (C0 but for newline and tab, DEL,
/// and C1 as UTF-8 has it), with which a file could move the cursor or answer for the user, as
/// `\x1b`; all else as it is.
std::string escapeControls(std::string_view text);

/// Lets all that is printed to `std::cout` and `std::cerr` go through `escapeControls` where they
/// are terminals.
void filterTerminals();

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_TERMINALTEXT_H
