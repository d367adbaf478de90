#ifndef TENON_IR_ENCODING_ENCODING_H
#define TENON_IR_ENCODING_ENCODING_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// How the values of a tensor are stored in bytes: a plain element type or a block-quantised
/// format of the ggml family. An encoding is one file in this folder and one line in the list in
/// `Encoding.cpp`. This library knows nothing of MLIR.
///
/// Values lie in blocks of `blockSize` consecutive elements of the innermost axis; a plain type
/// has blocks of one. A row whose length is no multiple of `blockSize` does not exist.
struct Encoding {
  /// The name in IR, programs and messages: `f32`, `f16`, `bf16`, `i32`, `q8_0`, `q4_0`.
  std::string_view name;
  /// Elements in a block.
  int64_t blockSize;
  /// Bytes in a block.
  int64_t blockBytes;
  /// The number of this type in GGUF files (`enum ggml_type`), or −1 where it has none.
  int32_t ggufType;
  /// Decodes whole blocks: `encoded` holds n · blockBytes bytes, `values` n · blockSize elements.
  /// Exact: every stored value is representable in a double.
  void (*decode)(std::span<const std::byte> encoded, std::span<double> values);
  /// Encodes whole blocks, rounding to nearest as ggml's reference quantiser does for block
  /// formats, to nearest-even for floating-point types.
  void (*encode)(std::span<const double> values, std::span<std::byte> encoded);
  /// Encodes f32 values: the same bytes as `encode` gives for them, several times faster.
  void (*encodeF32)(std::span<const float> values, std::span<std::byte> encoded);

  /// True for a format whose blocks hold more than one element.
  bool isBlockQuantized() const { return blockSize > 1; }
  /// Bytes of `elements` values, which must be a multiple of `blockSize` and not overflow.
  int64_t bytesFor(int64_t elements) const { return elements / blockSize * blockBytes; }
};

/// Every encoding, in a fixed order.
std::span<const Encoding* const> allEncodings();
/// The encoding of that name, or null.
const Encoding* findEncoding(std::string_view name);
/// The encoding with that GGUF type number, or null.
const Encoding* findEncodingOfGgufType(int32_t type);

} // namespace tenon

#endif // TENON_IR_ENCODING_ENCODING_H
