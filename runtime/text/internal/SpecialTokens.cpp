#include "runtime/text/internal/SpecialTokens.h"

namespace tenon::runtime::internal {
namespace {

uint64_t edgeKey(uint32_t node, char byte) { return uint64_t(node) << 8 | uint8_t(byte); }

} // namespace

void SpecialTokens::add(std::string_view text, int32_t id) {
  if (text.empty())
    return;
  starts[uint8_t(text[0])] = true;
  uint32_t node = 0;
  for (char byte : text) {
    const auto [edge, isNew] = edges.try_emplace(edgeKey(node, byte), uint32_t(ends.size()));
    node = edge->second;
    if (isNew)
      ends.push_back(-1);
  }
  ends[node] = id;
}

SpecialTokens::Match SpecialTokens::find(std::string_view text, size_t from) const {
  for (size_t begin = from; begin < text.size(); ++begin) {
    if (!starts[uint8_t(text[begin])])
      continue;
    Match longest = {begin, 0, -1};
    uint32_t node = 0;
    for (size_t at = begin; at < text.size(); ++at) {
      const auto edge = edges.find(edgeKey(node, text[at]));
      if (edge == edges.end())
        break;
      node = edge->second;
      if (ends[node] >= 0)
        longest = {begin, at + 1 - begin, ends[node]};
    }
    if (longest.length > 0)
      return longest;
  }
  return {text.size(), 0, -1};
}

} // namespace tenon::runtime::internal
