#include "tools/common/internal/NpyHeader.h"

#include <array>
#include <charconv>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/Status.h"

namespace tenon::tools {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

struct TypeInfo {
  NpyType type;
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<TypeInfo, 7> types = {{
    {NpyType::F32, "<f4", 4},
    {NpyType::F64, "<f8", 8},
    {NpyType::F16, "<f2", 2},
    {NpyType::I32, "<i4", 4},
    {NpyType::I64, "<i8", 8},
    {NpyType::U16, "<u2", 2},
    {NpyType::U8, "|u1", 1},
}};

const TypeInfo& infoOf(NpyType type) { return types[static_cast<size_t>(type)]; }

/// Reads the dictionary literal of a header: strings, `True`, `False` and tuples of integers.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  absl::Status parse(NpyArray& array);

private:
  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \n\t"), rest.size())); }
  bool consume(std::string_view token);
  absl::StatusOr<std::string_view> parseString();
  absl::Status parseEntry(NpyArray& array);
  absl::Status parseType(NpyArray& array);
  absl::Status parseShape(NpyArray& array);
  absl::Status expected(std::string_view what) const;

  std::string_view rest;
  bool hasType = false, hasOrder = false, hasShape = false;
};

absl::Status HeaderParser::expected(std::string_view what) const {
  std::string found(rest.substr(0, 40));
  return absl::InvalidArgumentError(absl::StrFormat("the array's header expects %s, but got \"%s\"",
                                                    what, absl::CHexEscape(found)));
}

bool HeaderParser::consume(std::string_view token) {
  skipSpace();
  if (!rest.starts_with(token))
    return false;
  rest.remove_prefix(token.size());
  return true;
}

absl::StatusOr<std::string_view> HeaderParser::parseString() {
  skipSpace();
  if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
    return expected("a string");
  size_t end = rest.find(rest.front(), 1);
  if (end == std::string_view::npos)
    return expected("a closed string");
  std::string_view text = rest.substr(1, end - 1);
  rest.remove_prefix(end + 1);
  return text;
}

absl::Status HeaderParser::parseType(NpyArray& array) {
  TENON_ASSIGN_OR_RETURN(std::string_view name, parseString());
  for (const TypeInfo& info : types)
    if (info.name == name) {
      array.type = info.type;
      hasType = true;
      return absl::OkStatus();
    }
  return absl::InvalidArgumentError(
      absl::StrFormat("expects elements of <f4, <f8, <f2, <i4, <i8, <u2 or |u1, but got '%s'",
                      absl::CHexEscape(std::string(name))));
}

absl::Status HeaderParser::parseShape(NpyArray& array) {
  if (!consume("("))
    return expected("a tuple");
  while (!consume(")")) {
    skipSpace();
    int64_t length = 0;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), length);
    if (error != std::errc() || length < 0)
      return expected("a length");
    rest.remove_prefix(end - rest.data());
    array.shape.push_back(length);
    if (!consume(",") && !rest.starts_with(")"))
      return expected("',' or ')'");
  }
  hasShape = true;
  return absl::OkStatus();
}

absl::Status HeaderParser::parseEntry(NpyArray& array) {
  TENON_ASSIGN_OR_RETURN(std::string_view key, parseString());
  if (!consume(":"))
    return expected("':'");
  if (key == "descr" && !hasType)
    return parseType(array);
  if (key == "shape" && !hasShape)
    return parseShape(array);
  if (key != "fortran_order" || hasOrder)
    return expected("'descr', 'fortran_order' and 'shape', each once");
  hasOrder = true;
  if (consume("True"))
    return absl::InvalidArgumentError("expects row-major order, but got Fortran order");
  return consume("False") ? absl::OkStatus() : expected("True or False");
}

absl::Status HeaderParser::parse(NpyArray& array) {
  if (!consume("{"))
    return expected("'{'");
  while (!consume("}")) {
    TENON_RETURN_IF_ERROR(parseEntry(array));
    if (!consume(",") && !rest.starts_with("}"))
      return expected("',' or '}'");
  }
  return hasType && hasOrder && hasShape ? absl::OkStatus()
                                         : expected("'descr', 'fortran_order' and 'shape'");
}

/// The text of the header, and where the elements start.
struct HeaderPlace {
  std::string_view text;
  size_t end;
};

absl::StatusOr<HeaderPlace> findHeader(std::string_view file) {
  if (!file.starts_with(magic) || file.size() < 10)
    return absl::InvalidArgumentError("expects an .npy file, but got other bytes");
  int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects .npy version 1, 2 or 3, but got %d", version));
  size_t lengthBytes = version == 1 ? 2 : 4;
  size_t start = 8 + lengthBytes;
  uint32_t length = 0;
  if (file.size() >= start)
    std::memcpy(&length, file.data() + 8, lengthBytes);
  if (file.size() < start || length > file.size() - start)
    return absl::InvalidArgumentError("the array's header goes beyond the end");
  return HeaderPlace{file.substr(start, length), start + length};
}

} // namespace

std::string_view npyTypeName(NpyType type) { return infoOf(type).name; }
int64_t npyTypeBytes(NpyType type) { return infoOf(type).bytes; }

std::optional<int64_t> countElements(std::span<const int64_t> shape) {
  int64_t elements = 1, bytes = 0;
  for (int64_t length : shape)
    if (length < 0 || __builtin_mul_overflow(elements, length, &elements))
      return std::nullopt;
  return __builtin_mul_overflow(elements, 8, &bytes) ? std::nullopt : std::optional(elements);
}

absl::StatusOr<NpyArray> parseNpy(std::span<const std::byte> file) {
  std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  TENON_ASSIGN_OR_RETURN(HeaderPlace header, findHeader(text));
  NpyArray array;
  TENON_RETURN_IF_ERROR(HeaderParser(header.text).parse(array));
  std::span<const std::byte> data = file.subspan(header.end);
  std::optional<int64_t> elements = countElements(array.shape);
  int64_t elementBytes = npyTypeBytes(array.type);
  if (!elements || static_cast<uint64_t>(*elements * elementBytes) != data.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects as many bytes as the shape has elements of %d, but got %d bytes",
                        elementBytes, data.size()));
  array.bytes.assign(data.begin(), data.end());
  return array;
}

std::string makeNpyHeader(const NpyArray& array) {
  std::string shape;
  for (int64_t length : array.shape)
    absl::StrAppend(&shape, shape.empty() ? "" : ", ", length);
  if (array.shape.size() == 1)
    shape += ',';
  std::string text = absl::StrFormat("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                                     npyTypeName(array.type), shape);
  size_t fixed = magic.size() + 4;
  text.append((64 - (fixed + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string header(magic);
  header +=
      {'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  return header + text;
}

} // namespace tenon::tools
