#include "frontends/gguf/internal/GgufParser.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

static_assert(std::endian::native == std::endian::little);

/// Arrays within arrays; the format sets no limit, files in use have none at all.
static constexpr int deepestArray = 4;
/// ggml's GGML_MAX_DIMS.
static constexpr uint32_t mostAxes = 4;
/// The fewest bytes that an entry takes: an empty key, the type, a value of one byte.
static constexpr uint64_t leastMetadataBytes = 8 + 4 + 1;
/// An empty name, the number of axes, the type, the offset.
static constexpr uint64_t leastTensorBytes = 8 + 4 + 4 + 8;

absl::Status GgufParser::parse() {
  TENON_RETURN_IF_ERROR(parseHeader());
  TENON_RETURN_IF_ERROR(parseMetadata());
  TENON_RETURN_IF_ERROR(findAlignment());
  TENON_RETURN_IF_ERROR(parseTensorTable());
  return placeTensors();
}

absl::Status GgufParser::parseHeader() {
  TENON_ASSIGN_OR_RETURN(std::span<const std::byte> magic, cursor.take(4, "magic"));
  std::string_view magicText(reinterpret_cast<const char*>(magic.data()), magic.size());
  if (magicText != "GGUF")
    return invalid(absl::StrFormat("expects a GGUF file, which starts with 'GGUF', but got %s",
                                   quoteName(magicText)));
  TENON_ASSIGN_OR_RETURN(file.formatVersion, cursor.number<uint32_t>("version"));
  uint32_t swapped = __builtin_bswap32(file.formatVersion);
  if (swapped == 2 || swapped == 3)
    return invalid(absl::StrFormat(
        "expects a little-endian GGUF file, but got a big-endian one of version %d", swapped));
  if (file.formatVersion != 2 && file.formatVersion != 3)
    return invalid(
        absl::StrFormat("expects GGUF version 2 or 3, but got version %d", file.formatVersion));
  TENON_ASSIGN_OR_RETURN(tensorCount, cursor.number<uint64_t>("tensor count"));
  TENON_ASSIGN_OR_RETURN(metadataCount, cursor.number<uint64_t>("metadata count"));
  TENON_RETURN_IF_ERROR(checkCount(tensorCount, leastTensorBytes, "tensors"));
  return checkCount(metadataCount, leastMetadataBytes, "metadata entries");
}

absl::Status GgufParser::checkCount(uint64_t count, uint64_t leastBytes,
                                    std::string_view what) const {
  if (count <= cursor.remaining() / leastBytes)
    return absl::OkStatus();
  return invalid(absl::StrFormat("expects %s in at least %d bytes each, but got a count of %d with "
                                 "%d bytes left in the file",
                                 what, leastBytes, count, cursor.remaining()));
}

absl::Status GgufParser::parseMetadata() {
  for (uint64_t i = 0; i < metadataCount; ++i) {
    TENON_ASSIGN_OR_RETURN(std::string_view key,
                           cursor.string(absl::StrCat("key of metadata entry ", i)));
    std::string what = absl::StrCat("metadata key ", quoteName(key));
    if (!file.entryIndex.emplace(key, file.entries.size()).second)
      return invalid(
          absl::StrFormat("expects each metadata key once, but got %s twice", quoteName(key)));
    TENON_ASSIGN_OR_RETURN(uint32_t type, cursor.number<uint32_t>(what));
    TENON_ASSIGN_OR_RETURN(GgufValue value, parseValue(static_cast<GgufValueType>(type), what));
    file.entries.push_back({key, value});
  }
  return absl::OkStatus();
}

absl::StatusOr<GgufValue> GgufParser::parseValue(GgufValueType type, const std::string& what) {
  if (type == GgufValueType::Array)
    return parseArray(what, /*depth=*/0);
  GgufValue value{.type = type};
  if (type == GgufValueType::String) {
    TENON_ASSIGN_OR_RETURN(std::string_view text, cursor.string(what));
    value.bytes = std::as_bytes(std::span(text));
    return value;
  }
  size_t width = ggufValueTypeBytes(type);
  if (width == 0)
    return invalid(absl::StrFormat("%s expects a value type from 0 to 12, but got %d", what,
                                   static_cast<uint32_t>(type)));
  TENON_ASSIGN_OR_RETURN(value.bytes, cursor.take(width, what));
  return value;
}

absl::StatusOr<GgufValue> GgufParser::parseArray(const std::string& what, int depth) {
  if (depth == deepestArray)
    return invalid(absl::StrFormat("%s expects arrays nested at most %d deep, but got more", what,
                                   deepestArray));
  TENON_ASSIGN_OR_RETURN(uint32_t elementType, cursor.number<uint32_t>(what));
  GgufValue value{.type = GgufValueType::Array,
                  .elementType = static_cast<GgufValueType>(elementType)};
  TENON_ASSIGN_OR_RETURN(value.count, cursor.number<uint64_t>(what));
  size_t width = ggufValueTypeBytes(value.elementType);
  bool isArray = value.elementType == GgufValueType::Array;
  bool isString = value.elementType == GgufValueType::String;
  if (width == 0 && !isArray && !isString)
    return invalid(
        absl::StrFormat("%s expects an element type from 0 to 12, but got %d", what, elementType));
  uint64_t leastBytes = isArray ? 12 : isString ? 8 : width;
  TENON_RETURN_IF_ERROR(checkCount(value.count, leastBytes, absl::StrCat(what, " elements")));

  uint64_t start = cursor.offset();
  std::span<const std::byte> all = file.file->bytes();
  if (width != 0)
    TENON_RETURN_IF_ERROR(cursor.take(value.count * width, what).status());
  for (uint64_t i = 0; isString && i < value.count; ++i)
    TENON_RETURN_IF_ERROR(cursor.string(what).status());
  for (uint64_t i = 0; isArray && i < value.count; ++i)
    TENON_RETURN_IF_ERROR(parseArray(what, depth + 1).status());
  value.bytes = all.subspan(start, cursor.offset() - start);
  return value;
}

absl::Status GgufParser::findAlignment() {
  TENON_ASSIGN_OR_RETURN(file.dataAlignment, file.optionalU64("general.alignment", 32));
  if (std::has_single_bit(file.dataAlignment) && file.dataAlignment <= uint64_t(1) << 31)
    return absl::OkStatus();
  return file.keyError("general.alignment", "a power of two below 2^32",
                       absl::StrCat(file.dataAlignment));
}

absl::Status GgufParser::parseTensorTable() {
  for (uint64_t i = 0; i < tensorCount; ++i) {
    TENON_ASSIGN_OR_RETURN(GgufTensor tensor, parseTensor(i));
    if (!file.tensorIndex.emplace(tensor.name, file.table.size()).second)
      return invalid(
          absl::StrFormat("expects each tensor once, but got %s twice", quoteName(tensor.name)));
    file.table.push_back(std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<GgufTensor> GgufParser::parseTensor(uint64_t index) {
  GgufTensor tensor;
  TENON_ASSIGN_OR_RETURN(tensor.name, cursor.string(absl::StrCat("name of tensor ", index)));
  std::string what = absl::StrCat("tensor ", quoteName(tensor.name));
  TENON_RETURN_IF_ERROR(parseAxes(tensor, what));
  TENON_ASSIGN_OR_RETURN(tensor.ggufType, cursor.number<uint32_t>(what));
  if (tensor.ggufType <= static_cast<uint32_t>(std::numeric_limits<int32_t>::max()))
    tensor.encoding = findEncodingOfGgufType(static_cast<int32_t>(tensor.ggufType));
  TENON_RETURN_IF_ERROR(measure(tensor, what));
  TENON_ASSIGN_OR_RETURN(tensor.offset, cursor.number<uint64_t>(what));
  return tensor;
}

absl::Status GgufParser::parseAxes(GgufTensor& tensor, const std::string& what) {
  TENON_ASSIGN_OR_RETURN(uint32_t axes, cursor.number<uint32_t>(what));
  if (axes > mostAxes)
    return invalid(absl::StrFormat("%s expects at most %d axes, but got %d", what, mostAxes, axes));
  int64_t elements = 1;
  for (uint32_t axis = 0; axis < axes; ++axis) {
    TENON_ASSIGN_OR_RETURN(uint64_t length, cursor.number<uint64_t>(what));
    if (length == 0)
      return invalid(
          absl::StrFormat("%s expects a length of at least 1 of axis %d, but got 0", what, axis));
    if (__builtin_mul_overflow(elements, length, &elements))
      return invalid(
          absl::StrFormat("%s expects fewer than 2^63 elements, but got a length of %d of axis %d",
                          what, length, axis));
    tensor.ne.push_back(static_cast<int64_t>(length));
  }
  return absl::OkStatus();
}

absl::Status GgufParser::measure(GgufTensor& tensor, const std::string& what) const {
  if (!tensor.encoding)
    return absl::OkStatus();
  int64_t innermost = tensor.ne.empty() ? 1 : tensor.ne.front();
  if (innermost % tensor.encoding->blockSize != 0)
    return invalid(absl::StrFormat("%s expects rows of a multiple of %d elements in %s, but got %d",
                                   what, tensor.encoding->blockSize, tensor.encoding->name,
                                   innermost));
  uint64_t blocks = 1;
  for (int64_t length : tensor.ne)
    blocks *= static_cast<uint64_t>(length);
  blocks /= static_cast<uint64_t>(tensor.encoding->blockSize);
  if (__builtin_mul_overflow(blocks, static_cast<uint64_t>(tensor.encoding->blockBytes),
                             &tensor.byteSize))
    return invalid(absl::StrFormat("%s expects fewer than 2^64 bytes, but got %d blocks of %d",
                                   what, blocks, tensor.encoding->blockBytes));
  return absl::OkStatus();
}

absl::Status GgufParser::placeTensors() {
  uint64_t fileBytes = file.file->bytes().size();
  uint64_t dataStart = (cursor.offset() + file.dataAlignment - 1) & ~(file.dataAlignment - 1);
  for (GgufTensor& tensor : file.table) {
    std::string what = absl::StrCat("tensor ", quoteName(tensor.name));
    if (tensor.offset % file.dataAlignment != 0)
      return invalid(absl::StrFormat("%s expects an offset that is a multiple of %d, but got %d",
                                     what, file.dataAlignment, tensor.offset));
    uint64_t end;
    if (__builtin_add_overflow(dataStart, tensor.offset, &tensor.offset) ||
        __builtin_add_overflow(tensor.offset, tensor.byteSize, &end) || end > fileBytes)
      return invalid(absl::StrFormat("%s expects its %d bytes inside the file's %d, but got offset "
                                     "%d in data that start at %d",
                                     what, tensor.byteSize, fileBytes, tensor.offset - dataStart,
                                     dataStart));
  }
  return absl::OkStatus();
}

} // namespace tenon::frontends
