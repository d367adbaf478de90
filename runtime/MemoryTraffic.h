#ifndef TENON_RUNTIME_MEMORYTRAFFIC_H
#define TENON_RUNTIME_MEMORYTRAFFIC_H

#include <cstdint>

namespace tenon::runtime {

/// What a device's memory moved by its own counters, beyond the caches.
struct MemoryTraffic {
  uint64_t readBytes = 0;
  uint64_t writtenBytes = 0;

  uint64_t bytes() const { return readBytes + writtenBytes; }
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_MEMORYTRAFFIC_H
