#ifndef TENON_IR_CONTAINERS_PACKEDWEIGHT_H
#define TENON_IR_CONTAINERS_PACKEDWEIGHT_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "ir/encoding/Encoding.h"

/// Quantised weights as checkpoints hold them, and how they become blocks of the encodings of
/// `ir/encoding`: exactly, value by value. No MLIR.
namespace tenon::containers {

/// How a checkpoint lays out the weight of a linear layer.
enum class Layout : uint8_t {
  Gptq = 0,          ///< AutoGPTQ: zeros are stored less 1
  GptqV2 = 1,        ///< GPTQModel's `gptq_v2`: zeros as they are
  AwqGemm = 2,       ///< AutoAWQ `gemm`
  AwqGemv = 3,       ///< AutoAWQ `gemv`
  PackQuantized = 4, ///< compressed-tensors `pack-quantized`
  IntQuantized = 5,  ///< compressed-tensors `int-quantized`
  Float8 = 6,        ///< E4M3: compressed-tensors `float-quantized` and Hugging Face's `fp8`
  Nvfp4Packed = 7,   ///< compressed-tensors `nvfp4-pack-quantized`
  Mxfp4Packed = 8,   ///< compressed-tensors `mxfp4-pack-quantized`
  Mxfp4Blocks = 9,   ///< gpt-oss's tensors `_blocks` and `_scales`
};

/// The layout of that name (`gptq`, `awq_gemm`); nothing where there is none.
std::optional<Layout> findLayout(std::string_view name);
std::string_view nameOf(Layout layout);

/// What the configuration of a checkpoint says of a weight.
struct WeightFormat {
  Layout layout = Layout::Gptq;
  int32_t bits = 4;
  /// Inputs that share a scale; −1 for all. Not of `Float8` and the layouts of 4 bits after it.
  int64_t groupSize = -1;
  /// Rows and columns that share a scale, of `Float8`: 0 for all.
  int64_t blockRows = 0;
  int64_t blockColumns = 0;
  /// Of `Gptq`: whether 1 was taken from whole words of zeros with a borrow, as GPTQModel from 0.9
  /// does, or a zero of 0 was stored as 2^bits − 1.
  bool borrowsAcrossZeros = false;

  /// Whether the codes are E2M1 numbers, in groups that the layout knows.
  bool isFp4() const {
    return layout == Layout::Nvfp4Packed || layout == Layout::Mxfp4Packed ||
           layout == Layout::Mxfp4Blocks;
  }
  bool operator==(const WeightFormat&) const = default;
};

/// Types of elements, as safetensors names them in capitals.
enum class ElementType : uint8_t {
  I8 = 0,
  U8 = 1,
  I32 = 2,
  I64 = 3,
  F16 = 4,
  Bf16 = 5,
  F32 = 6,
  F8E4M3 = 7
};

/// The type of that name (`I32`, `F8_E4M3`); nothing where containers have none such.
std::optional<ElementType> findElementType(std::string_view name);
std::string_view nameOf(ElementType type);
int64_t bytesOf(ElementType type);

/// What a tensor is of a weight.
enum class Part : uint8_t { Codes = 0, Scales = 1, Zeros = 2, GroupIndex = 3, TensorScale = 4 };
/// The part of that name (`codes`, `group_index`); nothing where there is none.
std::optional<Part> findPart(std::string_view name);
std::string_view nameOf(Part part);

/// A tensor of a checkpoint. `bytes` are as many as type and shape say, or it is refused.
struct PartTensor {
  Part part = Part::Codes;
  ElementType type = ElementType::I32;
  std::vector<int64_t> shape;
  std::span<const std::byte> bytes;
  std::string name; ///< for messages
};

/// Where a weight comes from and what it is.
struct WeightRequest {
  std::string file; ///< for messages
  WeightFormat format;
  int64_t rows = 0;    ///< outputs
  int64_t columns = 0; ///< inputs
  std::vector<PartTensor> parts;
  /// Whether the encoding has zeros even where all are 2^(bits − 1): that of an expert among
  /// others.
  bool keepsZeros = false;
};

/// Bytes of a tensor of that type and shape; nothing where they are not within 63 bits.
std::optional<int64_t> bytesOf(ElementType type, std::span<const int64_t> shape);

namespace internal {
struct Unpacked;
} // namespace internal

/// A weight [rows, columns] in a container that has been checked. It refers to the bytes of its
/// parts.
class PackedWeight {
public:
  /// Refuses, with the file and the tensor by name, what does not fit together or cannot be read in
  /// one way only. Reads scales, zeros and indices of groups, but not the codes.
  static absl::StatusOr<PackedWeight> create(const WeightRequest& request);

  /// What it becomes: groups of 128, 64 or 32, the most that divide its own and a row; of 4 bits
  /// eight, four or two of 128 together where a row is whole ones.
  const Encoding& encoding() const { return *encodingOfBlocks; }
  /// Refuses a weight that does not become `expected`.
  absl::Status expectEncoding(const Encoding& expected) const;
  int64_t rows() const { return rowCount; }
  int64_t columns() const { return columnCount; }
  /// The columns in the order in which rows are repacked, so that each group lies together; empty
  /// where they stay as they are. Whoever multiplies takes element `permutation[i]` of an input
  /// as its element i.
  std::span<const int32_t> permutation() const;
  /// How many zeros a file of the layout `Gptq` stores as 2^bits − 1, read as 2^bits, although
  /// AutoGPTQ's torch code reads them as 0: something to warn of.
  int64_t ambiguousZeros() const;

  /// Repacks rows [first, first + count) into `out`, as many bytes as they take in `encoding()`.
  /// Refuses E4M3 codes that are NaNs.
  absl::Status repackRows(int64_t first, int64_t count, std::span<std::byte> out) const;
  /// Repacks all rows, several threads at once, into `out`, which has exactly their bytes.
  absl::Status repack(std::span<std::byte> out) const;

private:
  PackedWeight() = default;

  std::string file;
  int64_t rowCount = 0;
  int64_t columnCount = 0;
  const Encoding* encodingOfBlocks = nullptr;
  std::shared_ptr<const internal::Unpacked> unpacked;
};

} // namespace tenon::containers

#endif // TENON_IR_CONTAINERS_PACKEDWEIGHT_H
