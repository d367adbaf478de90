#ifndef TENON_RUNTIME_BATCHING_INTERNAL_SLOTTABLE_H
#define TENON_RUNTIME_BATCHING_INTERNAL_SLOTTABLE_H

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::runtime::internal {

/// The sequences of a program's states, each a slot for one request, and the tokens whose keys and
/// values each still holds after its request has gone.
class SlotTable {
public:
  explicit SlotTable(int64_t slots) : slots(size_t(slots)) {}

  struct Lease {
    int32_t slot;
    int64_t cachedTokens; ///< of the prompt, from its begin on, that the slot holds
  };

  /// Takes the free slot that holds most of the prompt's begin; of equals, the one that was freed
  /// first. At most all tokens but the last count as held, since the last one's logits are wanted.
  /// None where no slot is free.
  std::optional<Lease> acquire(std::span<const int32_t> prompt);
  /// Frees the slot; its states hold `tokens`, from position 0 on.
  void release(int32_t slot, std::vector<int32_t> tokens);

  int64_t size() const { return int64_t(slots.size()); }
  int64_t taken() const { return takenSlots; }

private:
  struct Slot {
    bool isFree = true;
    uint64_t freed = 0; ///< the number of slots that were freed before
    std::vector<int32_t> tokens;
  };

  std::vector<Slot> slots;
  int64_t takenSlots = 0;
  uint64_t releases = 0;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_BATCHING_INTERNAL_SLOTTABLE_H
