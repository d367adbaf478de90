#include "runtime/cpu/UsableCores.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace tenon::runtime {

static std::string readAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Quota over period of one group; nullopt where it has none: `max 100000`, or −1 in version 1.
static std::optional<double> quotaOf(const std::string& folder) {
  double quota = 0, period = 0;
  std::istringstream both(readAll(folder + "/cpu.max"));
  std::istringstream quotaText(readAll(folder + "/cpu.cfs_quota_us"));
  std::istringstream periodText(readAll(folder + "/cpu.cfs_period_us"));
  bool isKnown = (both >> quota >> period) || (quotaText >> quota && periodText >> period);
  return isKnown && quota > 0 && period > 0 ? std::optional(quota / period) : std::nullopt;
}

std::optional<double> quotaCores(const std::string& root, const std::string& groups) {
  std::optional<double> least;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) {
    // `0::/path` in version 2, `4:cpu,cpuacct:/path` in version 1.
    size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    std::string controllers = line.substr(first + 1, second - first - 1);
    bool hasCpu =
        controllers.empty() || ("," + controllers + ",").find(",cpu,") != std::string::npos;
    if (!hasCpu)
      continue;
    std::string base = controllers.empty() ? root : root + "/" + controllers;
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      if (std::optional<double> cores = quotaOf(base + path))
        least = std::min(*cores, least.value_or(*cores));
      if (path.find('/') == std::string::npos)
        break;
    }
  }
  return least;
}

int usableCores() {
  cpu_set_t set;
  int cores = ::sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  if (std::optional<double> quota = quotaCores("/sys/fs/cgroup", readAll("/proc/self/cgroup")))
    cores = std::min(cores, static_cast<int>(std::min(*quota, 1e6)));
  return std::max(cores, 1);
}

} // namespace tenon::runtime
