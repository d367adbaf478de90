#include "tools/common/JsonFlag.h"

#include <cerrno>
#include <fstream>
#include <iostream>

#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

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
  errno = 0;
  std::ofstream file(flag.path, std::ios::binary);
  if (!(file << text << std::endl))
    return absl::ErrnoToStatus(errno ? errno : EIO, absl::StrFormat("%s: cannot write", flag.path));
  return absl::OkStatus();
}

} // namespace tenon::tools
