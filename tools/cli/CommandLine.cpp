#include "tools/cli/CommandLine.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "support/MappedFile.h"
#include "support/NearestWord.h"
#include "support/OutputFile.h"
#include "support/Status.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

/// `; did you mean 'run'?`, or nothing.
static std::string suggest(const std::string& nearest) {
  return nearest.empty() ? "" : absl::StrFormat("; did you mean '%s'?", nearest);
}

/// `tenon run`: how the chosen command is called.
static std::string callOf(const CLI::App& app) {
  auto chosen = app.get_subcommands();
  return app.get_name() + (chosen.empty() ? "" : " " + chosen.front()->get_name());
}

static std::vector<std::string> commandNames(const CLI::App& app) {
  std::vector<std::string> names = {"help", "version"};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// The field of a flag that `word` is the name of, as its flag takes it: `--cache=page=`.
static std::string findField(const CLI::App& command, const std::string& word) {
  for (const CLI::Option* option : command.get_options())
    if (absl::StrContains(" " + option->get_description(), " " + word + "="))
      return option->get_name() + "=" + word + "=";
  return "";
}

static std::string flagOf(const std::string& argument) {
  return argument.substr(0, argument.find('='));
}

/// What is wrong with arguments that `command` takes no account of.
static std::string describeExtras(const CLI::App& command, const std::vector<std::string>& extras) {
  for (const std::string& extra : extras) {
    if (!extra.starts_with("-") || extra == "-")
      continue;
    std::vector<std::string> flags;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames())
        flags.push_back("--" + name);
    std::string flag = flagOf(extra);
    std::string nearest;
    if (flag.starts_with("--"))
      nearest = findField(command, flag.substr(2));
    if (flag.starts_with("--") && nearest.empty())
      nearest = findNearest(flag, flags);
    return absl::StrFormat("unknown flag '%s'%s", flag, suggest(nearest));
  }
  auto quote = [](std::string* out, const std::string& extra) { *out += "'" + extra + "'"; };
  return absl::StrFormat("unexpected argument%s %s", extras.size() == 1 ? "" : "s",
                         absl::StrJoin(extras, " ", quote));
}

static int refuse(const CLI::App& app, const std::string& what) {
  auto chosen = app.get_subcommands();
  std::cerr << app.get_name()
            << ": error: " << (chosen.empty() ? "" : chosen.front()->get_name() + ": ") << what
            << " (see `" << callOf(app) << " --help`)" << std::endl;
  return WrongUsage;
}

/// The words in place of which `--help` and `--version` may stand.
static void replaceWords(std::vector<std::string>& arguments) {
  if (arguments.empty())
    return;
  if (arguments[0] == "version")
    arguments[0] = "--version";
  if (arguments[0] != "help")
    return;
  arguments.erase(arguments.begin());
  arguments.push_back("--help");
}

std::optional<int> parseCommandLine(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  std::vector<CLI::App*> commands = app.get_subcommands([](CLI::App*) { return true; });
  if (!commands.empty()) {
    replaceWords(arguments);
    if (arguments.empty()) {
      std::cerr << app.help() << std::flush;
      return WrongUsage;
    }
    std::vector<std::string> names = commandNames(app);
    if (!arguments[0].starts_with("-") && std::ranges::count(names, arguments[0]) == 0)
      return refuse(app, absl::StrFormat("unknown command '%s'%s", arguments[0],
                                         suggest(findNearest(arguments[0], names))));
  }
  // Arguments left over are reported here, in their order and with a suggestion.
  app.allow_extras();
  for (CLI::App* command : commands)
    command->allow_extras();
  auto extrasProblem = [&]() -> std::optional<std::string> {
    std::vector<std::string> extras = app.remaining(true);
    if (extras.empty())
      return std::nullopt;
    auto chosen = app.get_subcommands();
    return describeExtras(chosen.empty() ? app : *chosen.front(), extras);
  };
  try {
    std::ranges::reverse(arguments); // as CLI11 takes them
    app.parse(arguments);
  } catch (const CLI::Success& request) {
    app.exit(request, std::cout, std::cerr);
    return Done;
  } catch (const CLI::RequiredError& error) {
    return refuse(app, extrasProblem().value_or(error.what()));
  } catch (const CLI::ParseError& error) {
    return refuse(app, error.what());
  }
  if (std::optional<std::string> problem = extrasProblem())
    return refuse(app, *problem);
  return std::nullopt;
}

int reportStatus(const CLI::App& app, const absl::Status& status) {
  if (status.ok())
    return Done;
  std::cerr << app.get_name() << ": error: " << status.message() << std::endl;
  return isUsageError(status) ? WrongUsage : Failed;
}

CLI::Validator integerFrom(int64_t least, int64_t most) {
  std::string range = most == std::numeric_limits<int64_t>::max()
                          ? absl::StrFormat("at least %d", least)
                          : absl::StrFormat("from %d to %d", least, most);
  auto check = [=](std::string& text) -> std::string {
    int64_t value = 0;
    if (absl::SimpleAtoi(text, &value) && value >= least && value <= most)
      return {};
    return absl::StrFormat("expects an integer %s, but got '%s'", range, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator anySeed() {
  auto check = [](std::string& text) -> std::string {
    uint64_t value = 0;
    if (absl::SimpleAtoi(text, &value))
      return {};
    return absl::StrFormat("expects an integer from 0 to 2^64 - 1, but got '%s'", text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator numberFrom(double least, double most, bool aboveLeast) {
  std::string range = absl::StrFormat("%s %g", aboveLeast ? "above" : "of at least", least);
  if (std::isfinite(most))
    range += absl::StrFormat(" and at most %g", most);
  auto check = [=](std::string& text) -> std::string {
    double value = 0;
    if (absl::SimpleAtod(text, &value) && std::isfinite(value) && value <= most &&
        (aboveLeast ? value > least : value >= least))
      return {};
    return absl::StrFormat("expects a number %s, but got '%s'", range, text);
  };
  return CLI::Validator(check, "");
}

CLI::Validator someText() {
  auto check = [](std::string& text) -> std::string {
    return text.empty() ? "expects a text that is not empty" : "";
  };
  return CLI::Validator(check, "");
}

CLI::Validator oneOf(std::vector<std::string> words) {
  auto check = [words = std::move(words)](std::string& text) -> std::string {
    if (std::ranges::count(words, text) != 0)
      return {};
    return absl::StrFormat("expects one of %s, but got '%s'%s", absl::StrJoin(words, ", "), text,
                           suggest(findNearest(text, words)));
  };
  return CLI::Validator(check, "");
}

CLI::Option* addThreadsOption(CLI::App& command, int& threads) {
  constexpr int mostThreads = 1024; // as the thread pool has it
  return command.add_option("-t,--threads", threads, "CPU threads; 0 for every core")
      ->check(integerFrom(0, mostThreads))
      ->capture_default_str();
}

CLI::Option* addMeasureFlag(CLI::App& command, int64_t& rounds, const std::string& text) {
  return command
      .add_flag_function(
          absl::StrFormat("--measure{%d}", measureRounds), [&rounds](int64_t n) { rounds = n; },
          absl::StrFormat("%s. --measure=N: by N samples of each measurement", text))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->check(integerFrom(1));
}

absl::StatusOr<std::string> readTextFile(const std::string& path) {
  if (path == "-")
    return std::string{std::istreambuf_iterator<char>(std::cin), {}};
  TENON_ASSIGN_OR_RETURN(auto file, MappedFile::open(path));
  return std::string(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
}

absl::Status writeTextFile(const std::string& path, std::string_view text) {
  if (path != "-")
    return writeFile(path, text);
  std::cout << text; // whose end says whether it could be written
  return absl::OkStatus();
}

std::string inputPath(const std::string& path) { return path == "-" ? "/dev/stdin" : path; }

std::string outputPath(const std::string& path) { return path == "-" ? "/dev/stdout" : path; }

} // namespace tenon::tools
