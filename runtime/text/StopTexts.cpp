#include "runtime/text/StopTexts.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"

namespace tenon::runtime {

absl::StatusOr<StopTexts> StopTexts::create(std::vector<std::string> texts) {
  if (std::ranges::any_of(texts, &std::string::empty))
    return absl::InvalidArgumentError("expects stop texts that are not empty");
  return StopTexts(std::move(texts));
}

std::string StopTexts::push(std::string_view part) {
  if (found)
    return "";
  for (char byte : part) {
    pending += byte;
    size_t longest = 0;
    for (const std::string& text : texts)
      if (pending.ends_with(text))
        longest = std::max(longest, text.size());
    if (longest == 0)
      continue;
    found = true;
    pending.resize(pending.size() - longest);
    return std::exchange(pending, {});
  }
  const size_t ready = pending.size() - heldBack();
  std::string text = pending.substr(0, ready);
  pending.erase(0, ready);
  return text;
}

size_t StopTexts::heldBack() const {
  size_t longest = 0;
  for (const std::string& text : texts)
    for (size_t length = std::min(text.size() - 1, pending.size()); length > longest; --length)
      if (pending.ends_with(std::string_view(text).substr(0, length)))
        longest = length;
  return longest;
}

std::string StopTexts::flush() { return std::exchange(pending, {}); }

} // namespace tenon::runtime
