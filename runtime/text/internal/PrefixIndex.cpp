#include "runtime/text/internal/PrefixIndex.h"

#include <tuple>
#include <utility>

namespace tenon::runtime::internal {

PrefixIndex::PrefixIndex(std::vector<Entry> tokens) : entries(std::move(tokens)) {
  std::erase_if(entries, [](const Entry& entry) { return entry.text.empty(); });
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tie(a.text, a.id) < std::tie(b.text, b.id);
  });
  const auto same = std::ranges::unique(entries, {}, &Entry::text);
  entries.erase(same.begin(), same.end());
}

} // namespace tenon::runtime::internal
