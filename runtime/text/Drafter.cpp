#include "runtime/text/Drafter.h"

#include <algorithm>

#include "absl/hash/hash.h"
#include "absl/types/span.h"

namespace tenon::runtime {

NgramDrafter::NgramDrafter(int64_t mostGuesses, int64_t longest) : mostGuesses(mostGuesses) {
  for (int64_t length = longest; length >= 2; --length)
    places.push_back({.length = size_t(length), .behind = {}});
}

void NgramDrafter::begin(std::span<const int32_t> ids) {
  text.clear();
  for (Places& words : places)
    words.behind.clear();
  for (int32_t id : ids)
    push(id);
}

static uint64_t hashOf(std::span<const int32_t> words) {
  return absl::HashOf(absl::MakeConstSpan(words.data(), words.size()));
}

void NgramDrafter::push(int32_t id) {
  // What ended the text so far now has something after it.
  for (Places& words : places)
    if (text.size() >= words.length)
      words.behind[hashOf(std::span(text).last(words.length))] = text.size();
  text.push_back(id);
}

absl::StatusOr<std::span<const int32_t>> NgramDrafter::draft(int64_t most) {
  for (const Places& words : places) {
    if (text.size() < words.length)
      continue;
    const std::span<const int32_t> end = std::span(text).last(words.length);
    auto found = words.behind.find(hashOf(end));
    if (found == words.behind.end())
      continue;
    const size_t behind = found->second;
    // Other words may have the same hash.
    if (!std::ranges::equal(std::span(text).subspan(behind - words.length, words.length), end))
      continue;
    guess.clear();
    // What repeats itself up to the end of the text goes on with its own guess.
    for (size_t i = behind; int64_t(guess.size()) < std::min(most, mostGuesses); ++i)
      guess.push_back(i < text.size() ? text[i] : guess[i - text.size()]);
    return std::span<const int32_t>(guess);
  }
  return std::span<const int32_t>();
}

} // namespace tenon::runtime
