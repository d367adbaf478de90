#include "tools/cli/FieldsFlag.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "support/NearestWord.h"

namespace tenon::tools {

Field textField(std::string name, std::string& value, CLI::Validator check) {
  return {std::move(name), std::move(check), [&value](const std::string& text) { value = text; }};
}

Field integerField(std::string name, int64_t& value, CLI::Validator check) {
  auto set = [&value](const std::string& text) { (void)absl::SimpleAtoi(text, &value); };
  return {std::move(name), std::move(check), set};
}

Field numberField(std::string name, float& value, CLI::Validator check) {
  auto set = [&value](const std::string& text) { (void)absl::SimpleAtof(text, &value); };
  return {std::move(name), std::move(check), set};
}

Field numberField(std::string name, double& value, CLI::Validator check) {
  auto set = [&value](const std::string& text) { (void)absl::SimpleAtod(text, &value); };
  return {std::move(name), std::move(check), set};
}

/// The name and the value of `page=16`; no name in `q8`.
static std::pair<std::string, std::string> splitField(const std::string& text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos)
    return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// What is wrong with one value of the flag; empty where nothing is.
static std::string checkField(const std::vector<Field>& fields, const std::string& text) {
  auto [name, value] = splitField(text);
  auto field = std::ranges::find(fields, name, &Field::name);
  if (field != fields.end()) {
    std::string wrong = field->check(value);
    return wrong.empty() || name.empty() ? wrong : name + " " + wrong;
  }
  std::vector<std::string> names;
  std::ranges::copy_if(fields | std::views::transform(&Field::name), std::back_inserter(names),
                       [](const std::string& known) { return !known.empty(); });
  std::string nearest = findNearest(name.empty() ? text : name, names);
  return absl::StrFormat("expects NAME=VALUE with one of %s, but got '%s'%s",
                         absl::StrJoin(names, ", "), text,
                         nearest.empty() ? "" : "; did you mean '" + nearest + "='?");
}

CLI::Option* addFieldsFlag(CLI::App& command, const std::string& flag, std::vector<Field> fields,
                           const std::string& text) {
  auto check = [fields](std::string& value) { return checkField(fields, value); };
  auto set = [flag, fields = std::move(fields)](const std::vector<std::string>& values) {
    std::vector<std::string> seen;
    for (const std::string& each : values) {
      auto [name, value] = splitField(each);
      if (std::ranges::count(seen, name) != 0)
        throw CLI::ValidationError(flag, absl::StrFormat("expects each value once, but got '%s' "
                                                         "after another %s",
                                                         each, name.empty() ? "one" : name));
      seen.push_back(name);
      std::ranges::find(fields, name, &Field::name)->set(value);
    }
  };
  return command.add_option_function<std::vector<std::string>>(flag, set, text)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(check, ""));
}

bool hasField(const CLI::Option& option, const std::string& name) {
  return std::ranges::any_of(
      option.results(), [&](const std::string& value) { return splitField(value).first == name; });
}

} // namespace tenon::tools
