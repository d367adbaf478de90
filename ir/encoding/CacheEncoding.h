#ifndef TENON_IR_ENCODING_CACHEENCODING_H
#define TENON_IR_ENCODING_CACHEENCODING_H

#include <cstdint>
#include <optional>

#include "ir/encoding/Encoding.h"

namespace tenon {

/// What the bytes of a small KV cache say: signed integers, E4M3 numbers (`internal/Float8.h`), or
/// two integers of 4 bits each, times the scale of their head.
enum class CacheQuants : uint8_t { Int8, E4M3, Int4 };

/// The encoding of heads of `size` elements, `int8_h64`, `e4m3_h64` or `int4_h64`, one block a
/// head; null where `size` is no multiple of 8 from 8 to 256.
///
/// | bytes | holds                                                                       |
/// |-------|-----------------------------------------------------------------------------|
/// | 0-3   | scale, a binary32 whose lower 16 bits are zero                              |
/// | 4 …   | a quant for each element, in order; of 4 bits the first of two in the lower half of a byte, plus 8 |
///
/// In f32: scale = max |x| / 127 (E4M3: 448), NaN left out, rounded to nearest with the upper 16
/// bits; 0 where that is below 2^−100 or no number. The quants are x · (1 / scale), rounded to
/// nearest, ties to even, and held within ±127 (±448); 0 where the scale is 0. So a head that was
/// decoded is encoded to the same bytes again.
///
/// Of 4 bits the scale = e / −8, where e is the element of the largest magnitude, the negative one
/// of two, and quants are held within −8 … 7: so e has the one quant more that is there.
const Encoding* findCacheEncoding(CacheQuants quants, int64_t size);

/// The one of that name, or null.
const Encoding* findCacheEncoding(std::string_view name);

/// Nothing for another encoding.
std::optional<CacheQuants> cacheQuantsOf(const Encoding& encoding);

} // namespace tenon

#endif // TENON_IR_ENCODING_CACHEENCODING_H
