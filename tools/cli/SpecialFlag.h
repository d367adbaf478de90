#ifndef TENON_TOOLS_CLI_SPECIALFLAG_H
#define TENON_TOOLS_CLI_SPECIALFLAG_H

#include <CLI/CLI.hpp>

#include "runtime/text/Tokenizer.h"

namespace tenon::tools {

/// Adds `--special`: which special tokens a text gets.
CLI::Option* addSpecialFlag(CLI::App& command, runtime::EncodeOptions& options);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_SPECIALFLAG_H
