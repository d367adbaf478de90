#ifndef TENON_TOOLS_CLI_COMMANDLINE_H
#define TENON_TOOLS_CLI_COMMANDLINE_H

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace tenon::tools {

/// Exit codes: the request was done, failed, or was worded wrongly.
enum ExitCode { Done = 0, Failed = 1, WrongUsage = 2 };

/// Parses a command line. Prints what `--help`, `--version`, `help [COMMAND]` and `version` ask for;
/// says on standard error what is wrong with it, `tenon: error: run: unknown flag '--promt'; did you
/// mean '--prompt'?`. The exit code where there is nothing left to do.
std::optional<int> parseCommandLine(CLI::App& app, int argc, char** argv);

/// Says on standard error what failed; the exit code for `status`.
int reportStatus(const CLI::App& app, const absl::Status& status);

/// A flag of an integer from `least` to `most`.
CLI::Validator integerFrom(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());
/// A flag of any unsigned integer of 64 bits.
CLI::Validator anySeed();
/// A finite number from `least`, or above it, to `most`.
CLI::Validator numberFrom(double least, double most, bool aboveLeast = false);
/// A text that is not empty.
CLI::Validator someText();
/// One of some words.
CLI::Validator oneOf(std::vector<std::string> words);

/// Adds `--threads`, of a CPU; 0 for every core.
CLI::Option* addThreadsOption(CLI::App& command, int& threads);

/// Adds `--measure[=ROUNDS]`, which sets `rounds`, the samples of each measurement; `text` says what
/// is measured.
CLI::Option* addMeasureFlag(CLI::App& command, int64_t& rounds, const std::string& text);
/// Where the flag states no other number.
inline constexpr int64_t measureRounds = 15;

/// The whole text of the file at `path`; `-` is standard input.
absl::StatusOr<std::string> readTextFile(const std::string& path);

/// Writes `text` to the file at `path` by an `OutputFile`; to standard output for `-`.
absl::Status writeTextFile(const std::string& path, std::string_view text);

/// The file that a flag means by `path`: for `-` standard input.
std::string inputPath(const std::string& path);
/// The same; for `-` standard output.
std::string outputPath(const std::string& path);

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_COMMANDLINE_H
