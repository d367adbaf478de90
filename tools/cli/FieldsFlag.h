#ifndef TENON_TOOLS_CLI_FIELDSFLAG_H
#define TENON_TOOLS_CLI_FIELDSFLAG_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tenon::tools {

/// One of the values of a flag that takes several, each with its name: `page=16` in
/// `--cache=q8,page=16`.
struct Field {
  std::string name;     ///< empty: the value that stands without one, `q8`
  CLI::Validator check; ///< of the value's text
  std::function<void(const std::string& text)> set; ///< takes a text that `check` has passed
};

/// Fields that fill `value`, which the application outlives.
Field textField(std::string name, std::string& value, CLI::Validator check);
Field integerField(std::string name, int64_t& value, CLI::Validator check);
Field numberField(std::string name, float& value, CLI::Validator check);
Field numberField(std::string name, double& value, CLI::Validator check);

/// Adds to `command` the flag `flag`, `--cache`, which takes some of `fields` with commas between.
/// `text` describes it, and each named field as `name=`, by which a flag of that name is suggested
/// (`parseCommandLine`).
CLI::Option* addFieldsFlag(CLI::App& command, const std::string& flag, std::vector<Field> fields,
                           const std::string& text);

/// Whether the command line gave `option` the field `name`.
bool hasField(const CLI::Option& option, const std::string& name);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_FIELDSFLAG_H
