#include "ir/containers/internal/Unpacked.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::containers::internal {

/// For messages.
static std::string_view contentOf(Part part) {
  switch (part) {
  case Part::GroupIndex:
    return "indices of groups";
  case Part::TensorScale:
    return "a scale of the tensor";
  case Part::Codes:
  case Part::Scales:
  case Part::Zeros:
    break;
  }
  return containers::nameOf(part);
}

const PartTensor* Parts::find(Part part) const {
  for (const PartTensor& tensor : request.parts)
    if (tensor.part == part)
      return &tensor;
  return nullptr;
}

absl::Status Parts::error(Part part, std::string_view message) const {
  const PartTensor* tensor = find(part);
  std::string subject = tensor
                            ? "tensor " + quoteName(tensor->name)
                            : absl::StrFormat("weight of %d x %d", request.rows, request.columns);
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s %s", request.file, subject, message));
}

absl::Status Parts::forbid(Part part) const {
  if (!has(part))
    return absl::OkStatus();
  return error(
      part, absl::StrFormat("expects a layout that has %s, but got one without", contentOf(part)));
}

absl::StatusOr<const PartTensor*> Parts::require(Part part,
                                                 std::span<const ElementType> types) const {
  const PartTensor* tensor = find(part);
  if (!tensor)
    return error(part, absl::StrFormat("expects a tensor of %s, but got none", contentOf(part)));
  if (std::ranges::find(types, tensor->type) == types.end())
    return error(part, absl::StrFormat("expects elements of %s, but got %s",
                                       absl::StrJoin(types, " or ",
                                                     [](std::string* out, ElementType type) {
                                                       out->append(containers::nameOf(type));
                                                     }),
                                       containers::nameOf(tensor->type)));
  std::optional<int64_t> bytes = bytesOf(tensor->type, tensor->shape);
  if (!bytes)
    return error(part, "expects a size within 63 bits, but got shape " + shapeText(tensor->shape));
  if (*bytes != std::ssize(tensor->bytes))
    return error(part, absl::StrFormat("expects %d bytes for shape %s, but got %d", *bytes,
                                       shapeText(tensor->shape), tensor->bytes.size()));
  return tensor;
}

absl::StatusOr<const PartTensor*> Parts::require(Part part, std::span<const ElementType> types,
                                                 std::span<const int64_t> shape) const {
  TENON_ASSIGN_OR_RETURN(const PartTensor* tensor, require(part, types));
  if (!std::ranges::equal(tensor->shape, shape))
    return error(part, absl::StrFormat("expects shape %s for a weight of %d x %d, but got %s",
                                       shapeText(shape), request.rows, request.columns,
                                       shapeText(tensor->shape)));
  return tensor;
}

absl::Status countGroups(const WeightRequest& request, Unpacked& unpacked) {
  int64_t size = request.format.groupSize;
  if (size != -1 && size <= 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: weights expect a group size of -1 or above 0, but got %d", request.file, size));
  unpacked.groupSize = size == -1 ? request.columns : std::min(size, request.columns);
  unpacked.groups = (request.columns + unpacked.groupSize - 1) / unpacked.groupSize;
  return absl::OkStatus();
}

absl::Status checkBits(const WeightRequest& request, std::span<const int32_t> known) {
  if (std::ranges::find(known, request.format.bits) != known.end())
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: weights of this layout expect codes of %s bits, but got %d",
                      request.file, absl::StrJoin(known, ", "), request.format.bits));
}

uint32_t wordAt(const std::byte* bytes, int64_t index) {
  uint32_t word;
  std::memcpy(&word, bytes + index * 4, sizeof word);
  return word;
}

uint32_t bitsOfStream(const std::byte* bytes, int64_t first, int64_t stride, int64_t bit,
                      int32_t bits) {
  constexpr int64_t wordBits = 32;
  int64_t word = bit / wordBits, shift = bit % wordBits;
  uint64_t both = wordAt(bytes, first + word * stride);
  if (shift + bits > wordBits)
    both |= static_cast<uint64_t>(wordAt(bytes, first + (word + 1) * stride)) << wordBits;
  return static_cast<uint32_t>(both >> shift) & ((1u << bits) - 1);
}

uint32_t scaleAt(const PartTensor& scales, int64_t index) {
  if (scales.type == ElementType::F32)
    return wordAt(scales.bytes.data(), index);
  uint16_t half;
  std::memcpy(&half, scales.bytes.data() + index * 2, sizeof half);
  return half;
}

/// Whether the exponent of a number is not its largest.
static bool isFinite(ElementType type, uint32_t bits) {
  uint32_t exponent = type == ElementType::F16    ? 0x7C00
                      : type == ElementType::Bf16 ? 0x7F80
                                                  : 0x7F800000;
  return (bits & exponent) != exponent;
}

absl::Status readScales(const WeightRequest& request, const Parts& parts, const PartTensor& scales,
                        const std::function<int64_t(int64_t, int64_t)>& indexOf,
                        Unpacked& unpacked) {
  unpacked.scaleType = scales.type == ElementType::F16    ? BlockFormat::NumberType::F16
                       : scales.type == ElementType::Bf16 ? BlockFormat::NumberType::Bf16
                                                          : BlockFormat::NumberType::F32;
  unpacked.scales.resize(request.rows * unpacked.groups);
  for (int64_t row = 0; row < request.rows; ++row)
    for (int64_t group = 0; group < unpacked.groups; ++group) {
      uint32_t bits = scaleAt(scales, indexOf(row, group));
      if (!isFinite(scales.type, bits))
        return parts.error(Part::Scales,
                           absl::StrFormat("expects finite scales, but that of row %d, group %d is "
                                           "not",
                                           row, group));
      unpacked.scales[row * unpacked.groups + group] = bits;
    }
  return absl::OkStatus();
}

/// Whether each column's group is that which it has without an index.
static bool isInOrder(std::span<const int32_t> groupOf, int64_t groupSize) {
  for (size_t column = 0; column < groupOf.size(); ++column)
    if (groupOf[column] != static_cast<int64_t>(column) / groupSize)
      return false;
  return true;
}

absl::Status readGroupIndex(const WeightRequest& request, const Parts& parts, Unpacked& unpacked) {
  if (!parts.has(Part::GroupIndex))
    return absl::OkStatus();
  constexpr ElementType types[] = {ElementType::I32};
  int64_t shape[] = {request.columns};
  TENON_ASSIGN_OR_RETURN(const PartTensor* tensor, parts.require(Part::GroupIndex, types, shape));
  std::vector<int32_t> groupOf(request.columns);
  std::vector<int64_t> columnsOf(unpacked.groups);
  for (int64_t column = 0; column < request.columns; ++column) {
    groupOf[column] = static_cast<int32_t>(wordAt(tensor->bytes.data(), column));
    if (groupOf[column] < 0 || groupOf[column] >= unpacked.groups)
      return parts.error(Part::GroupIndex,
                         absl::StrFormat("expects groups in [0, %d), but got %d for column %d",
                                         unpacked.groups, groupOf[column], column));
    ++columnsOf[groupOf[column]];
  }
  if (isInOrder(groupOf, unpacked.groupSize))
    return absl::OkStatus();
  for (int64_t group = 0; group < unpacked.groups; ++group) {
    int64_t expected = std::min(unpacked.groupSize, request.columns - group * unpacked.groupSize);
    if (columnsOf[group] != expected)
      return parts.error(Part::GroupIndex,
                         absl::StrFormat("expects %d columns in group %d, but got %d", expected,
                                         group, columnsOf[group]));
  }
  unpacked.permutation.resize(request.columns);
  std::vector<int64_t> next(unpacked.groups); // place of each group's next column
  for (int64_t group = 0; group < unpacked.groups; ++group)
    next[group] = group * unpacked.groupSize;
  for (int64_t column = 0; column < request.columns; ++column)
    unpacked.permutation[next[groupOf[column]]++] = static_cast<int32_t>(column);
  return absl::OkStatus();
}

void dropMiddleZeros(int32_t bits, Unpacked& unpacked) {
  uint16_t middle = static_cast<uint16_t>(1 << (bits - 1));
  if (std::ranges::all_of(unpacked.zeros, [&](uint16_t zero) { return zero == middle; }))
    unpacked.zeros.clear();
}

} // namespace tenon::containers::internal
