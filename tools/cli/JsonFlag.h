#ifndef TENON_TOOLS_CLI_JSONFLAG_H
#define TENON_TOOLS_CLI_JSONFLAG_H

#include <string>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"

namespace tenon::tools {

/// `--json` and `--json=FILE`.
struct JsonFlag {
  std::string path; ///< empty: no JSON; `-`: on standard output, instead of text

  bool isGiven() const { return !path.empty(); }
  bool replacesText() const { return path == "-"; }
};

/// Adds the flag; `contents` says what is printed: `one object: file, tensors`.
void addJsonFlag(CLI::App& command, JsonFlag& flag, const std::string& contents);

/// Writes `json` where the flag says, nothing where it was not given: on one line, or with `indent`
/// blanks a level. Bytes that are no UTF-8 are replaced.
absl::Status writeJson(const JsonFlag& flag, const nlohmann::ordered_json& json, int indent = 1);

/// For what is one line.
inline constexpr int onOneLine = -1;

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_JSONFLAG_H
