#include "tools/run/internal/NpyHeader.h"

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

constexpr std::array<TypeInfo, 8> types = {{
    {NpyType::F32, "<f4", 4},
    {NpyType::F64, "<f8", 8},
    {NpyType::F16, "<f2", 2},
    {NpyType::I32, "<i4", 4},
    {NpyType::I64, "<i8", 8},
    {NpyType::U16, "<u2", 2},
    {NpyType::U8, "|u1", 1},
    {NpyType::Bool, "|b1", 1},
}};

const TypeInfo& infoOf(NpyType type) { return types[static_cast<size_t>(type)]; }

/// Reads the dictionary literal of a header: strings, `True`, `False` and tuples of integers.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : rest(text) {}

  absl::Status parse(NpyHeader& array);

private:
  void skipSpace() { rest.remove_prefix(std::min(rest.find_first_not_of(" \n\t"), rest.size())); }
  bool consume(std::string_view token);
  absl::StatusOr<std::string_view> parseString();
  absl::Status parseEntry(NpyHeader& array);
  absl::Status parseType(NpyHeader& array);
  absl::Status parseShape(NpyHeader& array);
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

absl::Status HeaderParser::parseType(NpyHeader& array) {
  TENON_ASSIGN_OR_RETURN(std::string_view name, parseString());
  for (const TypeInfo& info : types)
    if (info.name == name) {
      array.type = info.type;
      hasType = true;
      return absl::OkStatus();
    }
  return absl::InvalidArgumentError(
      absl::StrFormat("expects elements of <f4, <f8, <f2, <i4, <i8, <u2, |u1 or |b1, but got '%s'",
                      absl::CHexEscape(std::string(name))));
}

absl::Status HeaderParser::parseShape(NpyHeader& array) {
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

absl::Status HeaderParser::parseEntry(NpyHeader& array) {
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
  array.fortranOrder = consume("True");
  if (array.fortranOrder)
    return absl::OkStatus();
  return consume("False") ? absl::OkStatus() : expected("True or False");
}

absl::Status HeaderParser::parse(NpyHeader& array) {
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

/// Bytes before the header's text: magic, version and the text's length.
size_t lengthEnd(std::string_view file) { return file[6] == 1 ? 10 : 12; }

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

absl::StatusOr<size_t> findNpyElements(std::string_view start, uint64_t fileBytes) {
  if (!start.starts_with(magic) || start.size() < 10)
    return absl::InvalidArgumentError("expects an .npy file, but got other bytes");
  int version = static_cast<unsigned char>(start[6]);
  if (version < 1 || version > 3)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects .npy version 1, 2 or 3, but got %d", version));
  size_t textStart = lengthEnd(start);
  uint32_t length = 0;
  if (start.size() >= textStart)
    std::memcpy(&length, start.data() + 8, textStart - 8);
  if (start.size() < textStart || length > fileBytes - textStart)
    return absl::InvalidArgumentError("the array's header goes beyond the end");
  if (length > longestNpyHeader)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a header of at most %d bytes, but got %d", longestNpyHeader, length));
  return textStart + length;
}

absl::StatusOr<NpyHeader> parseNpyHeader(std::string_view text) {
  NpyHeader header;
  TENON_RETURN_IF_ERROR(HeaderParser(text.substr(lengthEnd(text))).parse(header));
  return header;
}

std::vector<std::byte> reorderFortran(std::span<const std::byte> elements,
                                      const NpyHeader& header) {
  size_t elementBytes = static_cast<size_t>(npyTypeBytes(header.type)), from = 0;
  std::vector<size_t> strides, index(header.shape.size()); // strides in bytes of `elements`
  size_t stride = elementBytes;
  for (int64_t length : header.shape) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(length);
  }
  std::vector<std::byte> reordered(elements.size());
  for (size_t to = 0; to < elements.size(); to += elementBytes) {
    std::memcpy(reordered.data() + to, elements.data() + from, elementBytes);
    for (size_t axis = strides.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < static_cast<size_t>(header.shape[axis]))
        break;
      from -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
  return reordered;
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
