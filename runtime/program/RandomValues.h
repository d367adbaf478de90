#ifndef TENON_RUNTIME_PROGRAM_RANDOMVALUES_H
#define TENON_RUNTIME_PROGRAM_RANDOMVALUES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/program/Program.h"

namespace tenon::runtime {

/// The bytes of an element of `encoding` if it can be filled with random values (f32, f16, bf16),
/// otherwise 0.
uint64_t randomElementBytes(std::string_view encoding);

/// Fills `out`, of `range.bytes` bytes, with the values of `range`; every device makes the same:
///
///   h = mix(seed + (i + 1) · 0x9e3779b97f4a7c15), in 64 bits with wrap-around, where mix is the
///       finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
///       generators", OOPSLA 2014; constants of Vigna's splitmix64.c)
///   u = (h >> 40) · 2^-23 - 1, one of 2^24 values in [-1, 1), exact in f32
///   value i = round(u · scale + mean), product and sum each rounded to f32, then once to
///   `encoding`
void fillRandomValues(const RandomRange& range, std::string_view encoding,
                      std::span<std::byte> out);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_RANDOMVALUES_H
