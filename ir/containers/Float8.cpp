#include <bit>
#include <cstring>

#include "absl/strings/str_format.h"

#include "ir/containers/internal/Unpacked.h"
#include "ir/encoding/Float16.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::containers::internal {

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// A scale as the f32 that it is.
static uint32_t widened(ElementType type, uint32_t bits) {
  if (type == ElementType::F32)
    return bits;
  auto half = static_cast<uint16_t>(bits);
  return std::bit_cast<uint32_t>(type == ElementType::F16 ? f16ToF32(half) : bf16ToF32(half));
}

/// `weight` [N, K] of E4M3 numbers and the factors of its blocks, `weight_scale` or
/// `weight_scale_inv`, [N / rows of a block, K / columns of one]. One scale for all may also have
/// the shapes [] and [1], one a row [N].
absl::StatusOr<Unpacked> readFloat8(const WeightRequest& request, const Parts& parts) {
  constexpr int32_t known[] = {8};
  constexpr ElementType numbers[] = {ElementType::F8E4M3};
  constexpr ElementType floats[] = {ElementType::F32, ElementType::Bf16, ElementType::F16};
  TENON_RETURN_IF_ERROR(checkBits(request, known));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::GroupIndex));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::Zeros));
  int64_t rows = request.rows, columns = request.columns;
  if (request.format.blockRows < 0 || request.format.blockColumns < 0)
    return parts.error(Part::Scales,
                       absl::StrFormat("expects blocks of at least one row and column, or 0 for "
                                       "all, but got %d x %d",
                                       request.format.blockRows, request.format.blockColumns));
  int64_t blockRows = request.format.blockRows == 0 ? rows : request.format.blockRows;
  int64_t blockColumns = request.format.blockColumns == 0 ? columns : request.format.blockColumns;
  Unpacked unpacked;
  unpacked.groupSize = std::min(blockColumns, columns);
  unpacked.groups = divideUp(columns, blockColumns);
  int64_t scaleRows = divideUp(rows, blockRows), groups = unpacked.groups;
  int64_t shape[] = {rows, columns};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, numbers, shape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales, parts.require(Part::Scales, floats));
  std::span<const int64_t> found = scales->shape;
  bool isFlat = groups == 1 &&
                ((found.size() == 1 && found[0] == scaleRows) || (found.empty() && scaleRows == 1));
  if (!isFlat) {
    int64_t scalesShape[] = {scaleRows, groups};
    TENON_RETURN_IF_ERROR(parts.require(Part::Scales, floats, scalesShape).status());
  }
  TENON_RETURN_IF_ERROR(readScales(
      request, parts, *scales,
      [=](int64_t row, int64_t group) { return row / blockRows * groups + group; }, unpacked));
  for (uint32_t& bits : unpacked.scales)
    bits = widened(scales->type, bits);
  unpacked.scaleType = BlockFormat::NumberType::F32;
  std::span<const std::byte> bytes = codes->bytes;
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    std::memcpy(out, bytes.data() + first * columns, count * columns);
  };
  return unpacked;
}

} // namespace tenon::containers::internal
