#include "tools/cli/Progress.h"

#include <cstdio>
#include <unistd.h>

#include "absl/strings/str_format.h"

namespace tenon::tools {

Progress::Progress(std::string task)
    : task(std::move(task)), enabled(::isatty(STDERR_FILENO) == 1),
      start(std::chrono::steady_clock::now()), last(start) {}

Progress::~Progress() {
  clock = std::jthread(); // ends and joins it
  if (printed)
    std::fputs("\r\033[K", stderr);
}

void Progress::update(uint64_t done, uint64_t total) {
  if (!enabled)
    return;
  auto now = std::chrono::steady_clock::now();
  if (now - start < std::chrono::seconds(1) || now - last < std::chrono::milliseconds(100))
    return;
  last = now;
  double percent = total == 0 ? 0 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
  print(absl::StrFormat("%.0f %%", percent));
}

void Progress::showSeconds() {
  if (!enabled)
    return;
  clock = std::jthread([this](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    for (int seconds = 1;
         !ended.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; }); ++seconds) {
      if (stop.stop_requested())
        return;
      print(absl::StrFormat("%d s", seconds));
    }
  });
}

void Progress::print(const std::string& amount) {
  printed = true;
  std::fprintf(stderr, "\r\033[K%s: %s", task.c_str(), amount.c_str());
}

} // namespace tenon::tools
