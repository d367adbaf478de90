#include "tools/cli/JsonFlag.h"

#include <iostream>

#include "nlohmann/json.hpp"
#include "support/OutputFile.h"

namespace tenon::tools {

void addJsonFlag(CLI::App& command, JsonFlag& flag, const std::string& contents) {
  command.add_flag("--json{-}", flag.path,
                   "Print JSON instead: " + contents + ". --json=FILE writes it beside the text");
}

absl::Status writeJson(const JsonFlag& flag, const nlohmann::ordered_json& json, int indent) {
  if (!flag.isGiven())
    return absl::OkStatus();
  std::string text =
      json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (flag.replacesText()) {
    std::cout << text << std::endl;
    return absl::OkStatus();
  }
  return writeFile(flag.path, text + "\n");
}

} // namespace tenon::tools
