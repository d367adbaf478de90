#ifndef TENON_RUNTIME_PROGRAM_RANDOMVALUES_H
#define TENON_RUNTIME_PROGRAM_RANDOMVALUES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/program/Program.h"

namespace tenon::runtime {

/// The bytes of an element of `encoding`, or of a block where it has blocks, if it can be filled
/// with random values (f32, f16, bf16 and ggml's block formats), otherwise 0.
uint64_t randomUnitBytes(std::string_view encoding);

/// Some bytes, whole blocks, that may hold anything but for some words of 16 bits, which scale and
/// shift its values, or some of their bits.
struct RandomBlock {
  /// Words at `offset`, `offset` + `stride`, … of the same bits.
  struct Run {
    uint32_t offset; ///< in bytes, even
    uint32_t stride; ///< in bytes, even, above 0
    uint32_t count;
    uint16_t bits;
    uint16_t mask; ///< of `bits`; the others stay random
  };
  static constexpr uint32_t mostRuns = 4;

  uint32_t bytes; ///< even
  Run runs[mostRuns];
  uint32_t count; ///< of runs
};

/// How the blocks of `range` are made: the numbers of the format are `randomFactor` · scale of the
/// range, rounded to their type, a stored zero is the format's. Nothing for an encoding without
/// blocks or one that is not known.
std::optional<RandomBlock> findRandomBlock(std::string_view encoding, const RandomRange& range);

/// Fills `out`, of `range.bytes` bytes, with the values of `range`; every device makes the same:
///
///   h = mix(seed + (i + 1) · 0x9e3779b97f4a7c15), in 64 bits with wrap-around, where mix is the
///       finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number
///       generators", OOPSLA 2014; constants of Vigna's splitmix64.c)
///   u = (h >> 40) · 2^-23 - 1, one of 2^24 values in [-1, 1), exact in f32
///   value i = round(u · scale + mean), product and sum each rounded to f32, then once to
///   `encoding`
///
/// Of blocks, the i-th two bytes (little-endian) are h >> 48, but for the bits of `RandomBlock`'s
/// words; they give values about 0 (half a quant beside it where a format has one more
/// quant below 0) with the deviation of u · scale, scale / sqrt(3). The range's mean does not count.
void fillRandomValues(const RandomRange& range, std::string_view encoding,
                      std::span<std::byte> out);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_RANDOMVALUES_H
