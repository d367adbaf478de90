#include <cmath>
#include <cstring>

#include "absl/strings/str_format.h"

#include "ir/containers/internal/Unpacked.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::containers::internal {

constexpr int32_t known[] = {4};
constexpr ElementType bytesOnly[] = {ElementType::U8};
constexpr ElementType floats[] = {ElementType::F32};
constexpr ElementType e4m3[] = {ElementType::F8E4M3};

/// Groups of `size` columns, each with a scale of a byte, and codes of which the first of two lies
/// in the lower half of a byte.
static absl::Status startFp4(const WeightRequest& request, const Parts& parts, int64_t size,
                             Unpacked& unpacked) {
  TENON_RETURN_IF_ERROR(checkBits(request, known));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::GroupIndex));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::Zeros));
  if (request.columns % size != 0)
    return parts.error(Part::Codes, absl::StrFormat("expects columns in whole groups of %d, but "
                                                    "got %d",
                                                    size, request.columns));
  unpacked.groupSize = size;
  unpacked.groups = request.columns / size;
  return absl::OkStatus();
}

static void readPairs(const PartTensor& codes, int64_t columns, Unpacked& unpacked) {
  std::span<const std::byte> bytes = codes.bytes;
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    for (int64_t i = 0; i < count * columns; i += 2) {
      auto both = std::to_integer<uint8_t>(bytes[(first * columns + i) / 2]);
      out[i] = both & 15;
      out[i + 1] = both >> 4;
    }
  };
}

/// Sets the scales from bytes [rows, groups] that are `type`; refuses those that `isNumber` does.
static absl::Status readByteScales(const Parts& parts, const PartTensor& scales,
                                   BlockFormat::NumberType type, bool (*isNumber)(uint8_t),
                                   Unpacked& unpacked) {
  unpacked.scaleType = type;
  for (size_t i = 0; i < scales.bytes.size(); ++i) {
    auto byte = std::to_integer<uint8_t>(scales.bytes[i]);
    if (!isNumber(byte))
      return parts.error(Part::Scales,
                         absl::StrFormat("expects finite scales of at least 0, but that of row %d, "
                                         "group %d is byte %d",
                                         i / unpacked.groups, i % unpacked.groups, byte));
    unpacked.scales.push_back(byte);
  }
  return absl::OkStatus();
}

static bool isUE4M3(uint8_t byte) { return byte < 0x7F; }
static bool isE8M0(uint8_t byte) { return byte != 0xFF; }

/// compressed-tensors' `nvfp4-pack-quantized`: `weight_packed` [N, K / 2], `weight_scale` [N, K /
/// 16] in E4M3, `weight_global_scale`, one number that divides.
absl::StatusOr<Unpacked> readNvfp4Packed(const WeightRequest& request, const Parts& parts) {
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(startFp4(request, parts, 16, unpacked));
  int64_t shape[] = {request.rows, request.columns / 2},
          scalesShape[] = {request.rows, unpacked.groups};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, bytesOnly, shape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales, parts.require(Part::Scales, e4m3, scalesShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* divisor, parts.require(Part::TensorScale, floats));
  if (divisor->bytes.size() != sizeof(float))
    return parts.error(Part::TensorScale,
                       "expects one number, but got shape " + shapeText(divisor->shape));
  float value;
  std::memcpy(&value, divisor->bytes.data(), sizeof value);
  unpacked.tensorScale = 1 / value;
  if (!(value > 0) || !std::isnormal(unpacked.tensorScale))
    return parts.error(Part::TensorScale,
                       absl::StrFormat("expects a divisor above 0 with a finite inverse, but got "
                                       "%g",
                                       value));
  TENON_RETURN_IF_ERROR(
      readByteScales(parts, *scales, BlockFormat::NumberType::UE4M3, isUE4M3, unpacked));
  readPairs(*codes, request.columns, unpacked);
  return unpacked;
}

static absl::StatusOr<Unpacked> readMxfp4(const WeightRequest& request, const Parts& parts,
                                          std::vector<int64_t> shape) {
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(startFp4(request, parts, 32, unpacked));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::TensorScale));
  int64_t scalesShape[] = {request.rows, unpacked.groups};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, bytesOnly, shape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales,
                         parts.require(Part::Scales, bytesOnly, scalesShape));
  TENON_RETURN_IF_ERROR(
      readByteScales(parts, *scales, BlockFormat::NumberType::E8M0, isE8M0, unpacked));
  readPairs(*codes, request.columns, unpacked);
  return unpacked;
}

/// compressed-tensors' `mxfp4-pack-quantized`: `weight_packed` [N, K / 2], `weight_scale` [N, K /
/// 32], exponents of powers of two.
absl::StatusOr<Unpacked> readMxfp4Packed(const WeightRequest& request, const Parts& parts) {
  return readMxfp4(request, parts, {request.rows, request.columns / 2});
}

/// gpt-oss: `_blocks` [N, K / 32, 16] and `_scales` [N, K / 32] of one expert.
absl::StatusOr<Unpacked> readMxfp4Blocks(const WeightRequest& request, const Parts& parts) {
  return readMxfp4(request, parts, {request.rows, request.columns / 32, 16});
}

} // namespace tenon::containers::internal
