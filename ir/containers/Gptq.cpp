#include "absl/strings/str_format.h"

#include "ir/containers/internal/Unpacked.h"
#include "support/Status.h"

namespace tenon::containers::internal {

/// The words of zeros as they were before GPTQModel took 1 from each field of a word with a borrow.
static uint32_t returnBorrowed(uint32_t word, int32_t bits) {
  uint32_t ones = 0;
  for (int32_t bit = 0; bit < 32; bit += bits)
    ones |= 1u << bit;
  return word + ones;
}

/// Zeros of one group as they are stored, along the rows.
static std::vector<uint32_t> storedZeros(const WeightRequest& request, const PartTensor& zeros,
                                         int64_t group) {
  int32_t bits = request.format.bits;
  int64_t words = request.rows * bits / 32;
  std::vector<uint32_t> stored(request.rows);
  for (int64_t row = 0; row < request.rows; ++row)
    stored[row] = bitsOfStream(zeros.bytes.data(), group * words, 1, row * bits, bits);
  return stored;
}

/// v1 stores zero − 1, which says nothing certain of a field of 2^bits − 1: see
/// `WeightFormat::borrowsAcrossZeros` and `PackedWeight::ambiguousZeros`.
static absl::Status readZeros(const WeightRequest& request, const Parts& parts,
                              const PartTensor& zeros, Unpacked& unpacked) {
  int32_t bits = request.format.bits;
  uint32_t last = (1u << bits) - 1;
  bool isV1 = request.format.layout == Layout::Gptq;
  bool borrows = isV1 && request.format.borrowsAcrossZeros;
  unpacked.zeros.resize(request.rows * unpacked.groups);
  for (int64_t group = 0; group < unpacked.groups; ++group) {
    std::vector<uint32_t> stored = storedZeros(request, zeros, group);
    for (int64_t row = 0; row < request.rows; ++row) {
      uint32_t zero = stored[row] + (isV1 ? 1 : 0);
      if (isV1 && stored[row] == last && !borrows)
        ++unpacked.ambiguousZeros;
      if (borrows) {
        if (bits == 3)
          return parts.error(Part::Zeros, "expects zeros of 2, 4 or 8 bits where a borrow crosses "
                                          "them, but got 3");
        int64_t word = group * (request.rows * bits / 32) + row * bits / 32;
        zero = returnBorrowed(wordAt(zeros.bytes.data(), word), bits) >> row * bits % 32 & last;
      }
      unpacked.zeros[row * unpacked.groups + group] = static_cast<uint16_t>(zero);
    }
  }
  return absl::OkStatus();
}

/// AutoGPTQ (`qlinear_cuda_old.py`) and GPTQModel: `qweight` [K · bits / 32, N], for each column a
/// stream of bits along K; `qzeros` [G, N · bits / 32], for each group one along N; `scales` [G,
/// N];
/// `g_idx` [K], which may be missing.
absl::StatusOr<Unpacked> readGptq(const WeightRequest& request, const Parts& parts) {
  constexpr int32_t known[] = {2, 3, 4, 8};
  constexpr ElementType words[] = {ElementType::I32};
  constexpr ElementType halves[] = {ElementType::F16, ElementType::Bf16};
  TENON_RETURN_IF_ERROR(checkBits(request, known));
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(countGroups(request, unpacked));
  int64_t rows = request.rows, columns = request.columns, groups = unpacked.groups;
  int32_t bits = request.format.bits;
  if (columns * bits % 32 != 0 || rows * bits % 32 != 0)
    return parts.error(Part::Codes,
                       absl::StrFormat("expects rows and columns in whole words of 32 bits, but "
                                       "got %d x %d of %d bits",
                                       rows, columns, bits));
  int64_t codesShape[] = {columns * bits / 32, rows}, zerosShape[] = {groups, rows * bits / 32},
          scalesShape[] = {groups, rows};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, words, codesShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* zeros, parts.require(Part::Zeros, words, zerosShape));
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales,
                         parts.require(Part::Scales, halves, scalesShape));
  TENON_RETURN_IF_ERROR(readScales(
      request, parts, *scales, [=](int64_t row, int64_t group) { return group * rows + row; },
      unpacked));
  TENON_RETURN_IF_ERROR(readZeros(request, parts, *zeros, unpacked));
  TENON_RETURN_IF_ERROR(readGroupIndex(request, parts, unpacked));
  std::span<const std::byte> bytes = codes->bytes;
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    for (int64_t k = 0; k < columns; ++k)
      for (int64_t row = 0; row < count; ++row)
        out[row * columns + k] =
            static_cast<uint8_t>(bitsOfStream(bytes.data(), first + row, rows, k * bits, bits));
  };
  return unpacked;
}

} // namespace tenon::containers::internal
