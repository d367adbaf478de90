#include "absl/strings/str_format.h"

#include "ir/containers/internal/Unpacked.h"
#include "support/Status.h"

namespace tenon::containers::internal {

constexpr ElementType words[] = {ElementType::I32};
constexpr ElementType halves[] = {ElementType::F16, ElementType::Bf16};

static int64_t divideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// `weight_scale` [N, G].
static absl::Status readRowScales(const WeightRequest& request, const Parts& parts,
                                  Unpacked& unpacked) {
  int64_t groups = unpacked.groups, shape[] = {request.rows, groups};
  TENON_ASSIGN_OR_RETURN(const PartTensor* scales, parts.require(Part::Scales, halves, shape));
  return readScales(
      request, parts, *scales, [=](int64_t row, int64_t group) { return row * groups + group; },
      unpacked);
}

/// Codes of a word, or 0 for a stream without gaps. Until compressed-tensors' pull request 715 (May
/// 2026) codes of 3 bits did not cross words: the length of a row tells.
static absl::StatusOr<int64_t> codesAWord(const WeightRequest& request, const Parts& parts,
                                          const PartTensor& codes) {
  int64_t rows = request.rows, columns = request.columns;
  int32_t bits = request.format.bits;
  int64_t stream = divideUp(columns * bits, 32), whole = divideUp(columns, 32 / bits);
  bool isMatrix = codes.shape.size() == 2 && codes.shape[0] == rows;
  if (isMatrix && codes.shape[1] == stream)
    return 0;
  if (isMatrix && codes.shape[1] == whole)
    return 32 / bits;
  int64_t shape[] = {rows, stream};
  return parts.require(Part::Codes, words, shape).status();
}

/// compressed-tensors' `pack-quantized`: `weight_packed` [N, K · bits / 32], for each row a stream
/// of bits, codes 2^(bits − 1) above the quants; `weight_zero_point`, where there is one, [N · bits
/// / 32, G], for each group a stream along N, as much above the zeros; `weight_g_idx` [K] where
/// columns were ordered by activations.
absl::StatusOr<Unpacked> readPackQuantized(const WeightRequest& request, const Parts& parts) {
  constexpr int32_t known[] = {2, 3, 4, 8};
  TENON_RETURN_IF_ERROR(checkBits(request, known));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::TensorScale));
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(countGroups(request, unpacked));
  int64_t rows = request.rows, columns = request.columns, groups = unpacked.groups;
  int32_t bits = request.format.bits;
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, words));
  TENON_ASSIGN_OR_RETURN(int64_t perWord, codesAWord(request, parts, *codes));
  TENON_RETURN_IF_ERROR(readRowScales(request, parts, unpacked));
  if (parts.has(Part::Zeros)) {
    int64_t zeroWords = perWord ? divideUp(rows, perWord) : divideUp(rows * bits, 32);
    int64_t shape[] = {zeroWords, groups};
    TENON_ASSIGN_OR_RETURN(const PartTensor* zeros, parts.require(Part::Zeros, words, shape));
    unpacked.zeros.resize(rows * groups);
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t group = 0; group < groups; ++group) {
        int64_t bit = perWord ? row / perWord * 32 + row % perWord * bits : row * bits;
        unpacked.zeros[row * groups + group] =
            static_cast<uint16_t>(bitsOfStream(zeros->bytes.data(), group, groups, bit, bits));
      }
  }
  TENON_RETURN_IF_ERROR(readGroupIndex(request, parts, unpacked));
  std::span<const std::byte> bytes = codes->bytes;
  int64_t rowWords = codes->shape[1];
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t k = 0; k < columns; ++k) {
        int64_t bit = perWord ? k / perWord * 32 + k % perWord * bits : k * bits;
        out[i * columns + k] =
            static_cast<uint8_t>(bitsOfStream(bytes.data(), (first + i) * rowWords, 1, bit, bits));
      }
  };
  return unpacked;
}

/// compressed-tensors' `int-quantized`: `weight` [N, K] and `weight_zero_point` [N, G], signed
/// bytes; codes and zeros are 128 above them.
absl::StatusOr<Unpacked> readIntQuantized(const WeightRequest& request, const Parts& parts) {
  constexpr int32_t known[] = {8};
  constexpr ElementType bytesOnly[] = {ElementType::I8};
  constexpr uint8_t middle = 128;
  TENON_RETURN_IF_ERROR(checkBits(request, known));
  TENON_RETURN_IF_ERROR(parts.forbid(Part::GroupIndex));
  Unpacked unpacked;
  TENON_RETURN_IF_ERROR(countGroups(request, unpacked));
  int64_t rows = request.rows, columns = request.columns, groups = unpacked.groups;
  int64_t shape[] = {rows, columns}, zerosShape[] = {rows, groups};
  TENON_ASSIGN_OR_RETURN(const PartTensor* codes, parts.require(Part::Codes, bytesOnly, shape));
  TENON_RETURN_IF_ERROR(readRowScales(request, parts, unpacked));
  if (parts.has(Part::Zeros)) {
    TENON_ASSIGN_OR_RETURN(const PartTensor* zeros,
                           parts.require(Part::Zeros, bytesOnly, zerosShape));
    for (std::byte zero : zeros->bytes)
      unpacked.zeros.push_back(std::to_integer<uint8_t>(zero) ^ middle);
  }
  std::span<const std::byte> bytes = codes->bytes;
  unpacked.readCodes = [=](int64_t first, int64_t count, uint8_t* out) {
    for (int64_t i = 0; i < count * columns; ++i)
      out[i] = std::to_integer<uint8_t>(bytes[first * columns + i]) ^ middle;
  };
  return unpacked;
}

} // namespace tenon::containers::internal
