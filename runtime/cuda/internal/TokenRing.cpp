#include "runtime/cuda/internal/TokenRing.h"

#include <atomic>
#include <cstring>

#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<TokenRing> TokenRing::create(const Device& device, uint32_t rows) {
  TokenRing ring;
  ring.rows = rows;
  TENON_ASSIGN_OR_RETURN(ring.memory, device.allocatePinned(ring.bytes(), "tokens"));
  TENON_ASSIGN_OR_RETURN(ring.counter, device.allocate(sizeof(uint32_t), "the count of steps"));
  return ring;
}

absl::Status TokenRing::reset(const Driver& driver, CUstream stream) {
  std::memset(memory.get(), 0, bytes());
  return driver.check(driver.memsetD8Async(counter.get(), 0, sizeof(uint32_t), stream),
                      "clear the count of steps");
}

std::optional<int32_t> TokenRing::find(uint32_t step, uint32_t row) const {
  uint64_t& entry = static_cast<uint64_t*>(memory.get())[(step - 1) % slots * rows + row];
  uint64_t found = std::atomic_ref(entry).load(std::memory_order_acquire);
  if (found >> 32 != step)
    return std::nullopt;
  return static_cast<int32_t>(found);
}

} // namespace tenon::runtime::internal
