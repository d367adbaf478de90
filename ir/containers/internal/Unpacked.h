#ifndef TENON_IR_CONTAINERS_INTERNAL_UNPACKED_H
#define TENON_IR_CONTAINERS_INTERNAL_UNPACKED_H

#include <functional>
#include <vector>

#include "ir/containers/PackedWeight.h"
#include "ir/encoding/BlockFormat.h"

namespace tenon::containers::internal {

/// A weight as all layouts have it: value [n, k] = scale[n, g] · (code[n, k] − zero[n, g]) with the
/// group g of column k, or scale · the E4M3 or E2M1 number of the code, and of NVFP4 that times the
/// scale of the tensor.
struct Unpacked {
  int64_t groups = 1;    ///< of a row
  int64_t groupSize = 1; ///< columns of a group; fewer in the last
  BlockFormat::NumberType scaleType = BlockFormat::NumberType::F16;
  std::vector<uint32_t> scales; ///< [rows, groups], as bits of their type
  std::vector<uint16_t>
      zeros; ///< [rows, groups]; empty where all are 2^(bits − 1), or there are none
  float tensorScale = 1;
  std::vector<int32_t> permutation;
  int64_t ambiguousZeros = 0;
  std::string codesName; ///< for messages
  /// Writes the codes [count, columns] of rows [first, first + count).
  std::function<void(int64_t first, int64_t count, uint8_t* codes)> readCodes;
};

/// The parts of a request, each checked when it is asked for.
class Parts {
public:
  explicit Parts(const WeightRequest& request) : request(request) {}

  bool has(Part part) const { return find(part) != nullptr; }
  /// The tensor, of one of `types` and exactly of `shape`, with as many bytes as that takes.
  absl::StatusOr<const PartTensor*> require(Part part, std::span<const ElementType> types,
                                            std::span<const int64_t> shape) const;
  /// The same with any shape.
  absl::StatusOr<const PartTensor*> require(Part part, std::span<const ElementType> types) const;
  /// Refuses a part that is there.
  absl::Status forbid(Part part) const;
  /// `<file>: tensor '<name>' <message>`.
  absl::Status error(Part part, std::string_view message) const;

private:
  const PartTensor* find(Part part) const;

  const WeightRequest& request;
};

/// A container's reader: checks the parts and says how the weight is unpacked.
using Reader = absl::StatusOr<Unpacked> (*)(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readGptq(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readAwqGemm(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readAwqGemv(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readPackQuantized(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readIntQuantized(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readFloat8(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readNvfp4Packed(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readMxfp4Packed(const WeightRequest& request, const Parts& parts);
absl::StatusOr<Unpacked> readMxfp4Blocks(const WeightRequest& request, const Parts& parts);

/// Groups and their size, checked against the columns.
absl::Status countGroups(const WeightRequest& request, Unpacked& unpacked);
/// Refuses bits for which layouts have no reader.
absl::Status checkBits(const WeightRequest& request, std::span<const int32_t> known);
/// The bits of scale `index` of a tensor of f16, bf16 or f32.
uint32_t scaleAt(const PartTensor& scales, int64_t index);
/// Sets type and values from a tensor of which scale (row, group) is number `indexOf(row, group)`;
/// refuses scales that are not finite.
absl::Status readScales(const WeightRequest& request, const Parts& parts, const PartTensor& scales,
                        const std::function<int64_t(int64_t, int64_t)>& indexOf,
                        Unpacked& unpacked);
/// Reads the group of each column, in [0, groups), and from it the permutation.
absl::Status readGroupIndex(const WeightRequest& request, const Parts& parts, Unpacked& unpacked);
/// Drops zeros that are all the middle of the codes.
void dropMiddleZeros(int32_t bits, Unpacked& unpacked);

/// Word `index` of 32 bits at `bytes`, wherever that is.
uint32_t wordAt(const std::byte* bytes, int64_t index);
/// Bits [bit, bit + bits) of a stream of words whose word i lies at word first + i · stride.
uint32_t bitsOfStream(const std::byte* bytes, int64_t first, int64_t stride, int64_t bit,
                      int32_t bits);

} // namespace tenon::containers::internal

#endif // TENON_IR_CONTAINERS_INTERNAL_UNPACKED_H
