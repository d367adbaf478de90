#include "tools/common/Progress.h"

#include <cstdio>
#include <unistd.h>

namespace tenon::tools {

Progress::Progress(std::string task)
    : task(std::move(task)), enabled(::isatty(STDERR_FILENO) == 1),
      start(std::chrono::steady_clock::now()), last(start) {}

Progress::~Progress() {
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
  printed = true;
  double percent = total == 0 ? 0 : 100.0 * static_cast<double>(done) / static_cast<double>(total);
  std::fprintf(stderr, "\r\033[K%s: %.0f %%", task.c_str(), percent);
}

} // namespace tenon::tools
