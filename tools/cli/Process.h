#ifndef TENON_TOOLS_CLI_PROCESS_H
#define TENON_TOOLS_CLI_PROCESS_H

namespace tenon::tools {

/// The first call of `main`, with the name of the program, which lives as long as the process. From
/// then on
///
///   what arrives              becomes
///   SIGINT, SIGTERM, SIGHUP   the end by that signal, after unfinished files are removed
///   SIGBUS                    the name of the mapped file that became shorter, and exit code 1
///   the end of memory         "not enough memory" and exit code 1, in LLVM's code and MLIR's, too
///   SIGXFSZ                   the error of the write that went beyond the limit
///   control characters        `escapeControls`, where standard output or error is a terminal
void beginProcess(const char* name);

/// The last call of `main`: writes out what standard output still holds. `code`, or 1, with
/// a message, where anything that was printed has not reached it.
int endProcess(int code);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_PROCESS_H
