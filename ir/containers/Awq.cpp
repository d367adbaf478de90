#include "absl/strings/str_format.h"

#include "ir/containers/internal/Unpacked.h"
#include "support/Status.h"

namespace tenon::containers::internal {

constexpr int32_t awqBits[] = {4};
constexpr ElementType words[] = {ElementType::I32};
constexpr ElementType halves[] = {ElementType::F16, ElementType::Bf16};
constexpr int64_t perWord = 8;

static absl::Status checkShape(const WeightRequest& request, const Parts& parts,
                               Unpacked& unpacked) {
  TENON_RETURN_IF_ERROR(checkBits(request, awqBits));
  TENON_RETURN_IF_ERROR(countGroups(request, unpacked));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::GroupIndex));
  if (request.columns % unpacked.groupSize == 0)
    return absl::OkStatus();
  return parts.error(Part::Codes,
                     absl::StrFormat("expects columns in whole groups of %d, but got %d",
                                     unpacked.groupSize, request.columns));
}

/// The nibble of word `word` that holds column `column` of its eight: 0, 2, 4, 6, 1, 3, 5, 7 are
/// those of nibbles 0 to 7.
static uint32_t interleavedNibble(const std::byte* bytes, int64_t word, int64_t column) {
  int64_t nibble = column % 2 * 4 + column / 2;
  return wordAt(bytes, word) >> 4 * nibble & 15;
}

/// AutoAWQ's `gemm`: `qweight` [K, N / 8], `qzeros` [G, N / 8], the columns of a word interleaved;
/// `scales` [G, N].
absl::StatusOr<Unpacked> readAwqGemm(const WeightRequest& request, const Parts& parts) {
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(checkShape(request, parts, unpacked));
  int64_t rows = request.rows, columns = request.columns, groups = unpacked.groups;
  if (rows % perWord != 0)
    return parts.error(Part::Codes,
                       absl::StrFormat("expects rows in whole words of 8, but got %d", rows));
  int64_t rowWords = rows / perWord;
  int64_t codesShape[] = {columns, rowWords}, zerosShape[] = {groups, rowWords},
          scalesShape[] = {groups, rows};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, words, codesShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* zeros, parts.require(Part::Zeros, words, zerosShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales,
                         parts.require(Part::Scales, halves, scalesShape));
  TENON_RETURN_IF_ERROR(readScales(
      request, parts, *scales, [=](int64_t row, int64_t group) { return group * rows + row; },
      unpacked));
  unpacked.zeros.resize(rows * groups);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t group = 0; group < groups; ++group)
      unpacked.zeros[row * groups + group] = static_cast<uint16_t>(
          interleavedNibble(zeros->bytes.data(), group * rowWords + row / perWord, row % perWord));
  std::span<const std::byte> bytes = codes->bytes;
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    for (int64_t k = 0; k < columns; ++k)
      for (int64_t i = 0; i < count; ++i) {
        int64_t row = first + i;
        out[i * columns + k] = static_cast<uint8_t>(
            interleavedNibble(bytes.data(), k * rowWords + row / perWord, row % perWord));
      }
  };
  return unpacked;
}

/// AutoAWQ's `gemv`: `qweight` [N, K / 8], `qzeros` [N, words], `scales` [N, 8 · words], all in
/// order; the words of zeros of a row are as many as G takes, rounded up to a multiple of 1, 2 or 4
/// for groups of 128, 64 or 32.
absl::StatusOr<Unpacked> readAwqGemv(const WeightRequest& request, const Parts& parts) {
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(checkShape(request, parts, unpacked));
  int64_t rows = request.rows, columns = request.columns, groups = unpacked.groups;
  if (columns % perWord != 0)
    return parts.error(Part::Codes,
                       absl::StrFormat("expects columns in whole words of 8, but got %d", columns));
  int64_t size = unpacked.groupSize;
  if (size < 128 && size != 64 && size != 32)
    return parts.error(
        Part::Codes,
        absl::StrFormat("expects groups of 32, 64 or from 128 columns, but got %d", size));
  int64_t multiple = size >= 128 ? 1 : size == 64 ? 2 : 4;
  int64_t zeroWords = ((groups + perWord - 1) / perWord + multiple - 1) / multiple * multiple;
  int64_t codesShape[] = {rows, columns / perWord}, zerosShape[] = {rows, zeroWords},
          scalesShape[] = {rows, zeroWords * perWord};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, words, codesShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* zeros, parts.require(Part::Zeros, words, zerosShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales,
                         parts.require(Part::Scales, halves, scalesShape));
  TENON_RETURN_IF_ERROR(readScales(
      request, parts, *scales,
      [=](int64_t row, int64_t group) { return row * zeroWords * perWord + group; }, unpacked));
  unpacked.zeros.resize(rows * groups);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t group = 0; group < groups; ++group)
      unpacked.zeros[row * groups + group] = static_cast<uint16_t>(
          bitsOfStream(zeros->bytes.data(), row * zeroWords, 1, group * 4, 4));
  std::span<const std::byte> bytes = codes->bytes;
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < columns; ++k)
        out[i * columns + k] = static_cast<uint8_t>(
            bitsOfStream(bytes.data(), (first + i) * (columns / perWord), 1, k * 4, 4));
  };
  return unpacked;
}

} // namespace tenon::containers::internal
