#include "tools/cli/SpecialFlag.h"

#include <string>

#include "tools/cli/CommandLine.h"

namespace tenon::tools {

CLI::Option* addSpecialFlag(CLI::App& command, runtime::EncodeOptions& options) {
  auto set = [&options](const std::string& word) {
    options.addSpecial = word == "add" || word == "both";
    options.parseSpecial = word == "parse" || word == "both";
  };
  return command
      .add_option_function<std::string>(
          "--special", set,
          "Special tokens of the text: add, the BOS and EOS tokens that the model asks for; parse, "
          "the texts of control tokens (<s>) read as these tokens; both; none")
      ->check(oneOf({"add", "parse", "both", "none"}))
      ->default_str("add");
}

} // namespace tenon::tools
