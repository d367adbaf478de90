#include "runtime/text/internal/Utf8.h"

namespace tenon::runtime::internal {
namespace {

/// The length that a lead byte announces and the range of its second byte (table 3-7).
struct Lead {
  size_t length;
  uint8_t secondLow;
  uint8_t secondHigh;
};

Lead classify(uint8_t lead) {
  if (lead < 0x80)
    return {1, 0, 0};
  if (lead >= 0xC2 && lead <= 0xDF)
    return {2, 0x80, 0xBF};
  if (lead >= 0xE0 && lead <= 0xEF)
    return {3, uint8_t(lead == 0xE0 ? 0xA0 : 0x80), uint8_t(lead == 0xED ? 0x9F : 0xBF)};
  if (lead >= 0xF0 && lead <= 0xF4)
    return {4, uint8_t(lead == 0xF0 ? 0x90 : 0x80), uint8_t(lead == 0xF4 ? 0x8F : 0xBF)};
  return {0, 0, 0};
}

} // namespace

Utf8Unit readUtf8(std::string_view text) {
  const Lead lead = classify(uint8_t(text[0]));
  if (lead.length == 0)
    return {Utf8Kind::Invalid, 1};
  for (size_t i = 1; i < lead.length; ++i) {
    if (i == text.size())
      return {Utf8Kind::Truncated, i};
    const uint8_t byte = uint8_t(text[i]);
    const uint8_t low = i == 1 ? lead.secondLow : 0x80;
    const uint8_t high = i == 1 ? lead.secondHigh : 0xBF;
    if (byte < low || byte > high)
      return {Utf8Kind::Invalid, i};
  }
  return {Utf8Kind::Valid, lead.length};
}

} // namespace tenon::runtime::internal
