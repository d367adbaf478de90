#ifndef TENON_TOOLS_CLI_PROGRESS_H
#define TENON_TOOLS_CLI_PROGRESS_H

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

namespace tenon::tools {

/// Says on standard error, where that is a terminal, what takes its time. Prints from the second
/// second on and clears its line at the end, so that quick work shows nothing.
class Progress {
public:
  /// `task` in the present participle: `writing model.gguf`.
  explicit Progress(std::string task);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Reports that `done` of `total` units are done; at most ten lines a second.
  void update(uint64_t done, uint64_t total);
  /// Prints the seconds that have passed, once a second until the end, for what cannot tell how far it
  /// is.
  void showSeconds();

private:
  void print(const std::string& amount);

  std::string task;
  std::mutex mutex;
  std::condition_variable_any ended;
  bool enabled;
  bool printed = false;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point last;
  std::jthread clock; ///< of `showSeconds`; ends before what it uses
};

} // namespace tenon::tools

#endif // TENON_TOOLS_CLI_PROGRESS_H
