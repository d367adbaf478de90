#include "support/Warning.h"

#include <iostream>
#include <mutex>
#include <set>

namespace tenon {

void warnOnce(const std::string& text) {
  static std::mutex mutex;
  static std::set<std::string> printed;
  std::scoped_lock lock(mutex);
  if (printed.insert(text).second)
    std::cerr << "tenon: warning: " + text + "\n" << std::flush;
}

} // namespace tenon
