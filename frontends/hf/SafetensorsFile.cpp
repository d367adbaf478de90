#include "frontends/hf/SafetensorsFile.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/strings/str_format.h"

#include "frontends/hf/JsonFile.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr size_t lengthBytes = 8;
constexpr size_t mostAxes = 8;

/// The types of the format with whole bytes an element, and Tenon's names of those that it knows.
struct ElementType {
  std::string_view name;
  uint64_t bytes;
  std::string_view encoding;
};
constexpr ElementType elementTypes[] = {
    {"BOOL", 1, ""},    {"U8", 1, ""},       {"I8", 1, ""},     {"F8_E4M3", 1, ""},
    {"F8_E5M2", 1, ""}, {"F8_E8M0", 1, ""},  {"I16", 2, ""},    {"U16", 2, ""},
    {"F16", 2, "f16"},  {"BF16", 2, "bf16"}, {"I32", 4, "i32"}, {"U32", 4, ""},
    {"F32", 4, "f32"},  {"I64", 8, ""},      {"U64", 8, ""},    {"F64", 8, ""},
};

const ElementType* findElementType(std::string_view name) {
  auto found = std::ranges::find(elementTypes, name, &ElementType::name);
  return found == std::end(elementTypes) ? nullptr : found;
}

/// Reads one entry of the header.
class EntryReader {
public:
  EntryReader(const JsonFile& header, const std::string& name, const json& entry)
      : header(header), name(name), entry(entry) {}

  /// `dataStart` and `dataBytes` say where the data lie in the file.
  absl::StatusOr<SafetensorsTensor> read(uint64_t dataStart, uint64_t dataBytes) {
    SafetensorsTensor tensor;
    tensor.name = name;
    TENON_ASSIGN_OR_RETURN(tensor.type, header.text(entry, place(), "dtype", ""));
    TENON_ASSIGN_OR_RETURN(tensor.shape, readShape());
    TENON_ASSIGN_OR_RETURN(std::vector<uint64_t> offsets, readNumbers("data_offsets", 2));
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > dataBytes)
      return error("data_offsets",
                   absl::StrFormat("a begin and an end within the %d bytes of data", dataBytes),
                   text("data_offsets"));
    tensor.offset = dataStart + offsets[0];
    tensor.byteSize = offsets[1] - offsets[0];
    const ElementType* type = findElementType(tensor.type);
    if (!type)
      return tensor; // an error only when it is used
    TENON_RETURN_IF_ERROR(checkSize(*type, tensor));
    if (!type->encoding.empty())
      tensor.encoding = findEncoding(type->encoding);
    return tensor;
  }

private:
  std::string place() const { return name + "."; }
  absl::Status error(std::string_view key, std::string_view expected,
                     const std::string& found) const {
    return header.error(place() + std::string(key), expected, found);
  }
  /// The value of a member for messages.
  std::string text(std::string_view key) const {
    const json* found = JsonFile::find(entry, key);
    if (!found)
      return "none";
    return found->is_array() && found->size() <= mostAxes ? found->dump() : describeJson(*found);
  }
  absl::StatusOr<std::vector<uint64_t>> readNumbers(std::string_view key, size_t most) const {
    const json* list = JsonFile::find(entry, key);
    if (!list || !list->is_array() || list->size() > most)
      return error(key, absl::StrFormat("a list of at most %d integers", most), text(key));
    std::vector<uint64_t> numbers;
    for (const json& element : *list) {
      if (!element.is_number_unsigned())
        return error(key, "integers of at least 0", describeJson(element));
      numbers.push_back(element.get<uint64_t>());
    }
    return numbers;
  }
  absl::StatusOr<std::vector<int64_t>> readShape() const {
    TENON_ASSIGN_OR_RETURN(std::vector<uint64_t> lengths, readNumbers("shape", mostAxes));
    uint64_t elements = 1;
    constexpr uint64_t most = uint64_t(1) << 48;
    for (uint64_t length : lengths) {
      if (length == 0 || length > most / elements)
        return error("shape", "axes of at least 1, with at most 2^48 elements", text("shape"));
      elements *= length;
    }
    return std::vector<int64_t>(lengths.begin(), lengths.end());
  }
  absl::Status checkSize(const ElementType& type, const SafetensorsTensor& tensor) const {
    uint64_t bytes = type.bytes;
    for (int64_t length : tensor.shape)
      bytes *= static_cast<uint64_t>(length);
    if (bytes == tensor.byteSize)
      return absl::OkStatus();
    return error("data_offsets",
                 absl::StrFormat("the %d bytes of type %s and shape %s", bytes, tensor.type,
                                 shapeText(tensor.shape)),
                 absl::StrFormat("%d", tensor.byteSize));
  }

  const JsonFile& header;
  const std::string& name;
  const json& entry;
};

} // namespace

bool isSafetensorsHead(std::span<const std::byte> head) {
  constexpr uint64_t longestHeader = 100'000'000; // what the safetensors library allows
  uint64_t length = 0;
  if (head.size() <= lengthBytes || head[lengthBytes] != std::byte('{'))
    return false;
  std::memcpy(&length, head.data(), lengthBytes);
  return length >= 2 && length <= longestHeader;
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> mapped, MappedFile::open(path));
  return create(std::move(mapped));
}

absl::StatusOr<SafetensorsFile> SafetensorsFile::create(std::shared_ptr<const MappedFile> mapped) {
  SafetensorsFile file(std::move(mapped));
  const std::string& path = file.file->path();
  std::span<const std::byte> bytes = file.file->bytes();
  if (bytes.size() < lengthBytes)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects a safetensors file of at least 8 bytes, but got %d", path, bytes.size()));
  uint64_t headerBytes = 0;
  std::memcpy(&headerBytes, bytes.data(), lengthBytes);
  if (headerBytes > bytes.size() - lengthBytes)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects a header within the file of %d bytes, but got one of %d", path,
                        bytes.size(), headerBytes));
  std::string_view text(reinterpret_cast<const char*>(bytes.data()) + lengthBytes, headerBytes);
  TENON_ASSIGN_OR_RETURN(JsonFile header, JsonFile::parse(path, text));
  uint64_t dataStart = lengthBytes + headerBytes;
  for (const auto& [name, entry] : header.root().items()) {
    if (name == "__metadata__")
      continue;
    TENON_ASSIGN_OR_RETURN(
        file.table.emplace_back(),
        EntryReader(header, name, entry).read(dataStart, bytes.size() - dataStart));
  }
  std::ranges::sort(file.table, {}, &SafetensorsTensor::offset);
  return file;
}

} // namespace tenon::frontends
