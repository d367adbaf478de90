#include "ir/containers/PackedWeight.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "ir/containers/internal/Unpacked.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::containers {

using internal::Unpacked;

namespace {

struct NamedType {
  std::string_view name;
  int64_t bytes;
};
/// By `ElementType`.
constexpr NamedType elementTypes[] = {{"I8", 1},  {"U8", 1},   {"I32", 4}, {"I64", 8},
                                      {"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F8_E4M3", 1}};

} // namespace

/// By `Layout` and by `Part`.
constexpr std::string_view layouts[] = {
    "gptq",          "gptq_v2", "awq_gemm",     "awq_gemv",     "pack_quantized",
    "int_quantized", "float8",  "nvfp4_packed", "mxfp4_packed", "mxfp4_blocks"};
constexpr std::string_view partNames[] = {"codes", "scales", "zeros", "group_index",
                                          "tensor_scale"};

template <typename T, typename List>
static std::optional<T> findIn(const List& list, std::string_view name) {
  auto found = std::ranges::find(list, name);
  if (found == std::end(list))
    return std::nullopt;
  return static_cast<T>(found - std::begin(list));
}

std::optional<Layout> findLayout(std::string_view name) { return findIn<Layout>(layouts, name); }
std::string_view nameOf(Layout layout) { return layouts[static_cast<size_t>(layout)]; }
std::optional<Part> findPart(std::string_view name) { return findIn<Part>(partNames, name); }
std::string_view nameOf(Part part) { return partNames[static_cast<size_t>(part)]; }

std::optional<ElementType> findElementType(std::string_view name) {
  for (size_t i = 0; i < std::size(elementTypes); ++i)
    if (elementTypes[i].name == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

std::string_view nameOf(ElementType type) { return elementTypes[static_cast<size_t>(type)].name; }

int64_t bytesOf(ElementType type) { return elementTypes[static_cast<size_t>(type)].bytes; }

std::optional<int64_t> bytesOf(ElementType type, std::span<const int64_t> shape) {
  int64_t bytes = bytesOf(type);
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return bytes;
}

static internal::Reader readerOf(Layout layout) {
  switch (layout) {
  case Layout::Gptq:
  case Layout::GptqV2:
    return internal::readGptq;
  case Layout::AwqGemm:
    return internal::readAwqGemm;
  case Layout::AwqGemv:
    return internal::readAwqGemv;
  case Layout::PackQuantized:
    return internal::readPackQuantized;
  case Layout::IntQuantized:
    return internal::readIntQuantized;
  case Layout::Float8:
    return internal::readFloat8;
  case Layout::Nvfp4Packed:
    return internal::readNvfp4Packed;
  case Layout::Mxfp4Packed:
    return internal::readMxfp4Packed;
  case Layout::Mxfp4Blocks:
    return internal::readMxfp4Blocks;
  }
  return nullptr;
}

/// The groups of 128, 64 or 32 columns, the most that divide the weight's own and a row; 0 where
/// nothing does.
static int64_t chooseGroup(int64_t columns, const Unpacked& unpacked) {
  for (int64_t size : {128, 64, 32})
    if (columns % size == 0 && (unpacked.groups == 1 || unpacked.groupSize % size == 0))
      return size;
  return 0;
}

static absl::StatusOr<const Encoding*> chooseEncoding(const WeightRequest& request,
                                                      const Unpacked& unpacked,
                                                      const internal::Parts& parts) {
  if (request.format.isFp4()) {
    bool isNvfp4 = request.format.layout == Layout::Nvfp4Packed;
    const Encoding* encoding = findEncoding(isNvfp4 ? "nvfp4_f32" : "mxfp4");
    if (request.columns % encoding->blockSize == 0)
      return encoding;
    return parts.error(Part::Codes, absl::StrFormat("expects rows of a multiple of %d columns, but "
                                                    "got %d",
                                                    encoding->blockSize, request.columns));
  }
  int64_t group = chooseGroup(request.columns, unpacked);
  if (group == 0)
    return parts.error(Part::Codes,
                       absl::StrFormat("expects groups and rows of a multiple of 32 columns, but "
                                       "got groups of %d and rows of %d",
                                       unpacked.groupSize, request.columns));
  if (request.format.layout == Layout::Float8)
    return findEncoding(absl::StrFormat("e4m3_g%d_f32", group));
  int64_t together = 1; // groups in a block
  if (request.format.bits == 4 && group == 128)
    together = std::gcd(request.columns / group, int64_t{8});
  // A block of a few groups has zeros in any case.
  bool hasZeros = request.keepsZeros || !unpacked.zeros.empty() || together == 2 || together == 4;
  return findEncoding(
      absl::StrFormat("int%d_g%d%s_%s%s", request.format.bits, group,
                      together > 1 ? absl::StrCat("x", together) : "",
                      unpacked.scaleType == BlockFormat::NumberType::F16 ? "f16" : "bf16",
                      hasZeros ? "_zero" : ""));
}

absl::StatusOr<PackedWeight> PackedWeight::create(const WeightRequest& request) {
  constexpr int64_t most = int64_t{1} << 31; // of rows and columns, so that products are small
  internal::Parts parts(request);
  if (request.rows <= 0 || request.columns <= 0 || request.rows > most || request.columns > most)
    return parts.error(Part::Codes, absl::StrFormat("expects from 1 to 2^31 rows and columns, but "
                                                    "got %d x %d",
                                                    request.rows, request.columns));
  internal::Reader reader = readerOf(request.format.layout);
  if (!reader)
    return parts.error(Part::Codes, absl::StrFormat("expects a known layout, but got number %d",
                                                    static_cast<int>(request.format.layout)));
  TENON_ASSIGN_OR_RETURN(Unpacked unpacked, reader(request, parts));
  internal::dropMiddleZeros(request.format.bits, unpacked);
  TENON_ASSIGN_OR_RETURN(const Encoding* encoding, chooseEncoding(request, unpacked, parts));
  for (const PartTensor& tensor : request.parts)
    if (tensor.part == Part::Codes)
      unpacked.codesName = tensor.name;
  PackedWeight weight;
  weight.file = request.file;
  weight.rowCount = request.rows;
  weight.columnCount = request.columns;
  weight.encodingOfBlocks = encoding;
  weight.unpacked = std::make_shared<const Unpacked>(std::move(unpacked));
  return weight;
}

absl::Status PackedWeight::expectEncoding(const Encoding& expected) const {
  if (&expected == encodingOfBlocks)
    return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("%s: tensor %s expects to become a weight in %s, but got %s", file,
                      quoteName(unpacked->codesName), expected.name, encodingOfBlocks->name));
}

std::span<const int32_t> PackedWeight::permutation() const { return unpacked->permutation; }

int64_t PackedWeight::ambiguousZeros() const { return unpacked->ambiguousZeros; }

/// The bits of a plane of 32 codes, where `BlockFormat::Plane` says.
static void packPlane(const BlockFormat::Plane& plane, const uint8_t* codes, std::byte* out) {
  const uint32_t mask = (1u << plane.bits) - 1;
  const size_t bits = plane.bits, perByte = 8 / bits, stride = plane.stride;
  for (size_t byte = 0; byte < 4 * bits; ++byte) {
    const uint8_t* first = codes + byte / stride * stride * perByte + byte % stride;
    uint32_t packed = 0;
    for (size_t i = 0; i < perByte; ++i)
      packed |= (first[i * stride] >> plane.shift & mask) << bits * i;
    out[byte] = static_cast<std::byte>(packed);
  }
}

/// A block of the codes of columns [column, …) of a row; its planes hold each 32 of them together.
/// `firstGroup` is the row's first group of the weight.
static void packBlock(const BlockFormat& format, const Encoding& encoding, const Unpacked& unpacked,
                      int64_t firstGroup, int64_t column, const uint8_t* codes, std::byte* out) {
  int64_t size = format.groupSize == 0 ? encoding.blockSize : format.groupSize;
  if (format.blockScale)
    std::memcpy(out + format.blockScale->offset, &unpacked.tensorScale, format.blockScale->bytes());
  for (int64_t first = 0, place = 0; first < encoding.blockSize;
       first += size, place += format.groupStride) {
    int64_t group = firstGroup + (column + first) / unpacked.groupSize;
    std::memcpy(out + format.scale.offset + place, &unpacked.scales[group], format.scale.bytes());
    if (format.zeroOffset) {
      auto zero =
          unpacked.zeros.empty() ? static_cast<uint16_t>(format.zero) : unpacked.zeros[group];
      std::memcpy(out + *format.zeroOffset + place, &zero, sizeof zero);
    }
    std::memset(out + format.scale.offset + place + format.groupStride - format.groupPadding, 0,
                format.groupPadding);
  }
  for (const BlockFormat::Plane& plane : format.planes)
    for (int64_t first = 0; plane.bits != 0 && first < encoding.blockSize; first += 32)
      packPlane(plane, codes + first, out + plane.offset + first * plane.bits / 8);
}

absl::Status PackedWeight::repackRows(int64_t first, int64_t count,
                                      std::span<std::byte> out) const {
  constexpr int64_t rowsAtOnce = 64; // of codes that lie beside each other in a column's words
  const Encoding& encoding = *encodingOfBlocks;
  const BlockFormat& format = *findBlockFormat(encoding.name);
  int64_t size = encoding.blockSize, groups = unpacked->groups;
  std::vector<uint8_t> codes(std::min(count, rowsAtOnce) * columnCount), ordered(size);
  std::byte* place = out.data();
  for (int64_t start = first; start < first + count; start += rowsAtOnce) {
    int64_t rows = std::min(rowsAtOnce, first + count - start);
    unpacked->readCodes(start, rows, codes.data());
    constexpr uint8_t nan = 0x7F;
    if (format.kind == BlockFormat::QuantKind::E4M3 &&
        std::ranges::any_of(codes.begin(), codes.begin() + rows * columnCount,
                            [](uint8_t code) { return (code & nan) == nan; }))
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: tensor %s expects finite numbers, but got NaN in rows %d to %d",
                          file, quoteName(unpacked->codesName), start, start + rows - 1));
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columnCount; column += size) {
        const uint8_t* ofBlock = codes.data() + row * columnCount + column;
        if (!unpacked->permutation.empty()) {
          for (int64_t i = 0; i < size; ++i)
            ordered[i] = codes[row * columnCount + unpacked->permutation[column + i]];
          ofBlock = ordered.data();
        }
        packBlock(format, encoding, *unpacked, (start + row) * groups, column, ofBlock, place);
        place += encoding.blockBytes;
      }
  }
  return absl::OkStatus();
}

absl::Status PackedWeight::repack(std::span<std::byte> out) const {
  constexpr int64_t mostThreads = 16, leastRows = 64;
  int64_t rowBytes = encodingOfBlocks->bytesFor(columnCount);
  int64_t threads = std::clamp<int64_t>(std::thread::hardware_concurrency(), 1, mostThreads);
  int64_t share = std::max(leastRows, (rowCount + threads - 1) / threads);
  std::vector<absl::Status> results((rowCount + share - 1) / share);
  {
    std::vector<std::jthread> pool;
    for (size_t i = 0; i < results.size(); ++i)
      pool.emplace_back([&, i] {
        int64_t first = static_cast<int64_t>(i) * share, count = std::min(share, rowCount - first);
        results[i] = repackRows(first, count, out.subspan(first * rowBytes, count * rowBytes));
      });
  }
  for (absl::Status& result : results)
    TENON_RETURN_IF_ERROR(std::move(result));
  return absl::OkStatus();
}

} // namespace tenon::containers
