#ifndef TENON_IR_ENCODING_ENCODING_H
#define TENON_IR_ENCODING_ENCODING_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// How the values of a tensor are stored in bytes: a plain element type or a block-quantised
/// format of the ggml family. An encoding is one file in this folder, which the build finds there;
/// one of weights in blocks is described as data, too (`BlockFormat.h`). No MLIR.
///
/// Values lie in blocks of `blockSize` consecutive elements of the innermost axis; a plain type
/// has blocks of one. A row whose length is no multiple of `blockSize` does not exist.
struct Encoding {
  /// The name in programs and messages: `f32`, `f16`, `bf16`, `bool`, `i32`, `i64`; block formats
  /// as ggml names them, in lower case: `q8_0`, `q4_k`, `iq4_nl`.
  std::string_view name;
  /// Elements in a block.
  int64_t blockSize;
  /// Bytes in a block.
  int64_t blockBytes;
  /// The number of this type in GGUF files (`enum ggml_type`), or −1 where it has none.
  int32_t ggufType;
  /// Decodes whole blocks: `encoded` holds n · blockBytes bytes, `values` n · blockSize elements.
  ///
  /// Exact but for integers of more than 53 bits: every other stored value is representable in a
  /// double. For block formats, rounding it to f32
  /// gives what ggml's `dequantize_row_*` computes in f32, bit for bit, whether or not the compiler
  /// of ggml fused a product and a sum: a scale of 11 significant bits times a group's scale of at
  /// most 7 times a quant of at most 6 is exact in f32, so all that ggml rounds is the last sum. In
  /// a double that sum is exact: its terms are multiples of 2^−24 of at most 2^28.
  void (*decode)(std::span<const std::byte> encoded, std::span<double> values);
  /// Encodes whole blocks: block formats give the bytes of ggml's `ggml_quantize_chunk` without an
  /// importance matrix, where that is defined; floating-point types round to nearest-even.
  void (*encode)(std::span<const double> values, std::span<std::byte> encoded);
  /// Encodes f32 values: the same bytes as `encode` gives for them, several times faster.
  void (*encodeF32)(std::span<const float> values, std::span<std::byte> encoded);

  /// True for a format whose blocks hold more than one element.
  bool isBlockQuantized() const { return blockSize > 1; }
  /// Bytes of `elements` values, which must be a multiple of `blockSize` and not overflow.
  int64_t bytesFor(int64_t elements) const { return elements / blockSize * blockBytes; }
};

/// Every encoding that a tensor may have, in a fixed order.
std::span<const Encoding* const> allEncodings();
/// The encoding of that name, one of small caches (`CacheEncoding.h`) among them, or null.
const Encoding* findEncoding(std::string_view name);
/// The encoding with that GGUF type number, or null.
const Encoding* findEncodingOfGgufType(int32_t type);
/// The encoding that activations take to be multiplied as integers with weights in `weight`, as
/// ggml pairs them: `q8_s` beside blocks of 32, `q8_k` beside blocks of 256; null beside a plain
/// type.
const Encoding* findActivationEncoding(const Encoding& weight);

} // namespace tenon

#endif // TENON_IR_ENCODING_ENCODING_H
