#include "runtime/batching/internal/SlotTable.h"

#include <algorithm>
#include <utility>

namespace tenon::runtime::internal {

std::optional<SlotTable::Lease> SlotTable::acquire(std::span<const int32_t> prompt) {
  std::optional<Lease> best;
  for (size_t index = 0; index < slots.size(); ++index) {
    const Slot& slot = slots[index];
    if (!slot.isFree)
      continue;
    auto [end, ignored] = std::ranges::mismatch(slot.tokens, prompt);
    const int64_t common = std::min<int64_t>(end - slot.tokens.begin(), int64_t(prompt.size()) - 1);
    if (!best || common > best->cachedTokens ||
        (common == best->cachedTokens && slot.freed < slots[size_t(best->slot)].freed))
      best = Lease{int32_t(index), common};
  }
  if (!best)
    return std::nullopt;
  Slot& slot = slots[size_t(best->slot)];
  slot.isFree = false;
  slot.tokens.clear();
  ++takenSlots;
  return best;
}

void SlotTable::release(int32_t slot, std::vector<int32_t> tokens) {
  slots[size_t(slot)] = {.isFree = true, .freed = ++releases, .tokens = std::move(tokens)};
  --takenSlots;
}

} // namespace tenon::runtime::internal
