#ifndef TENON_TOOLS_COMMON_PROGRESS_H
#define TENON_TOOLS_COMMON_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <string>

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

private:
  std::string task;
  bool enabled;
  bool printed = false;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point last;
};

} // namespace tenon::tools

#endif // TENON_TOOLS_COMMON_PROGRESS_H
