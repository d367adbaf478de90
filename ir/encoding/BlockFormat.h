#ifndef TENON_IR_ENCODING_BLOCKFORMAT_H
#define TENON_IR_ENCODING_BLOCKFORMAT_H

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tenon {

/// A block format of weights as data: where the numbers of a block lie, for all who read blocks. An
/// encoding's file defines it beside the `Encoding`, from the same structure in memory.
struct BlockFormat {
  /// `E8M0`: 2^(byte − 127), `UE4M3`: the lower seven bits of a byte as `internal/Float8.h` reads
  /// them, but 0 where all are set.
  enum class NumberType : uint8_t { F16, Bf16, F32, E8M0, UE4M3 };
  /// A number of a block.
  struct Number {
    uint32_t offset; ///< in bytes; even where the number has two or four
    /// For random values (runtime/program/RandomValues.h): of the scale 1 / (√3 · the deviation of
    /// a value whose scale is 1 and whose other bits are random); of the minimum what then puts the
    /// mean at 0. So q8_0 has quants of −128 to 127, deviation 73.9; q4_k has scale · s · q −
    /// minimum · m, with s and m in 0 to 63 and q in 0 to 15: minimum = 7.5 · scale, deviation 258.
    float randomFactor = 0;
    NumberType type = NumberType::F16;

    uint32_t bytes() const {
      switch (type) {
      case NumberType::F32:
        return 4;
      case NumberType::E8M0:
      case NumberType::UE4M3:
        return 1;
      case NumberType::F16:
      case NumberType::Bf16:
        break;
      }
      return 2;
    }
  };
  /// What the bits of a quant say: an integer, an E4M3 number (`internal/Float8.h`), an E2M1 number
  /// (`internal/Float4.h`).
  enum class QuantKind : uint8_t { Integer, E4M3, E2M1 };
  /// Bits [shift, shift + bits) of all quants, beside each other in the same `stride` bytes: an
  /// `internal/BitPlane.h`.
  struct Plane {
    uint32_t offset; ///< in bytes
    uint32_t bits = 0;
    uint32_t stride = 0;
    uint32_t shift = 0;
  };

  /// The encoding's name.
  std::string_view encoding;
  /// llama.cpp's `enum llama_ftype` for a file mostly in this encoding, its "small" variant where
  /// there are several; nothing where GGUF files do not have it.
  std::optional<uint32_t> ggufFileType;
  Number scale;
  /// Where `hasMinimum`: what is added to all values, or taken from them.
  Number minimum = {};
  /// Multiplies the scales of all groups, where there is one; its random factor is then that of
  /// the range, and that of `scale` what each scale is.
  std::optional<Number> blockScale = {};

  /// Integers that multiply the scale, and the minimum where there is one, one for each group.
  struct GroupScales {
    uint32_t bits; ///< of each
    uint32_t size; ///< elements of a group
  };
  /// Of super-blocks alone.
  std::optional<GroupScales> groupScales = {};

  /// The rest describes a block whose quants lie in planes:
  ///
  ///     value[i] = scale · (quant[i] − zero) + minimum, or scale · levels[quant[i]],
  ///     or scale · the number quant[i]
  std::array<Plane, 2> planes = {};
  int zero = 0;
  /// Where a block has a zero of its own, as an unsigned integer of 16 bits: its offset in bytes,
  /// even. `zero` is then what random blocks have.
  std::optional<uint32_t> zeroOffset = {};
  /// Of every quant, or none.
  std::span<const int8_t> levels = {};
  QuantKind kind = QuantKind::Integer;
  /// Elements that share a scale, and a zero, where a block has several of them, and bytes from one
  /// group's to the next's; 0 where they are the block's.
  uint32_t groupSize = 0;
  uint32_t groupStride = 0;
  /// Of the stride, the last bytes that hold nothing.
  uint32_t groupPadding = 0;

  bool hasMinimum() const { return minimum.randomFactor != 0; }
  /// Whether the planes, the zero and the levels say all.
  bool hasPlanes() const { return planes[0].bits != 0; }
  /// Elements that share a scale, or what multiplies it; 0: all of the block.
  uint32_t scaledElements() const { return groupScales ? groupScales->size : groupSize; }
  /// Whether a block of 256 has scales and minimums as `internal/SixBitScales.h` packs them.
  bool hasSixBitScales() const { return groupScales && groupScales->bits == 6 && hasMinimum(); }
};

/// Every block format of weights, in a fixed order.
std::span<const BlockFormat* const> allBlockFormats();
/// That of the encoding of that name, or null.
const BlockFormat* findBlockFormat(std::string_view encoding);

} // namespace tenon

#endif // TENON_IR_ENCODING_BLOCKFORMAT_H
