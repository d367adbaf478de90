#include "frontends/gguf/GgufValue.h"

#include <cassert>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MessageText.h"

namespace tenon::frontends {

struct ValueTypeRow {
  GgufValueType type;
  std::string_view name;
  size_t bytes;
};

static constexpr ValueTypeRow valueTypes[] = {
    {GgufValueType::UInt8, "u8", 1},      {GgufValueType::Int8, "i8", 1},
    {GgufValueType::UInt16, "u16", 2},    {GgufValueType::Int16, "i16", 2},
    {GgufValueType::UInt32, "u32", 4},    {GgufValueType::Int32, "i32", 4},
    {GgufValueType::Float32, "f32", 4},   {GgufValueType::Bool, "bool", 1},
    {GgufValueType::String, "string", 0}, {GgufValueType::Array, "array", 0},
    {GgufValueType::UInt64, "u64", 8},    {GgufValueType::Int64, "i64", 8},
    {GgufValueType::Float64, "f64", 8},
};

static const ValueTypeRow* findValueType(GgufValueType type) {
  for (const ValueTypeRow& row : valueTypes)
    if (row.type == type)
      return &row;
  return nullptr;
}

std::string_view ggufValueTypeName(GgufValueType type) {
  const ValueTypeRow* row = findValueType(type);
  return row ? row->name : "unknown";
}

size_t ggufValueTypeBytes(GgufValueType type) {
  const ValueTypeRow* row = findValueType(type);
  return row ? row->bytes : 0;
}

template <typename T> static T load(std::span<const std::byte> bytes) {
  assert(bytes.size() >= sizeof(T));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

static std::string_view textOf(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<int64_t> GgufValue::asI64() const {
  switch (type) {
  case GgufValueType::UInt8:
    return load<uint8_t>(bytes);
  case GgufValueType::Int8:
    return load<int8_t>(bytes);
  case GgufValueType::UInt16:
    return load<uint16_t>(bytes);
  case GgufValueType::Int16:
    return load<int16_t>(bytes);
  case GgufValueType::UInt32:
    return load<uint32_t>(bytes);
  case GgufValueType::Int32:
    return load<int32_t>(bytes);
  case GgufValueType::Int64:
    return load<int64_t>(bytes);
  case GgufValueType::UInt64:
    if (uint64_t value = load<uint64_t>(bytes); value <= std::numeric_limits<int64_t>::max())
      return static_cast<int64_t>(value);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

std::optional<uint64_t> GgufValue::asU64() const {
  if (type == GgufValueType::UInt64)
    return load<uint64_t>(bytes);
  std::optional<int64_t> value = asI64();
  if (!value || *value < 0)
    return std::nullopt;
  return static_cast<uint64_t>(*value);
}

std::optional<double> GgufValue::asF64() const {
  if (type == GgufValueType::Float32)
    return load<float>(bytes);
  if (type == GgufValueType::Float64)
    return load<double>(bytes);
  return std::nullopt;
}

std::optional<bool> GgufValue::asBool() const {
  if (type != GgufValueType::Bool)
    return std::nullopt;
  return load<uint8_t>(bytes) != 0;
}

std::optional<std::string_view> GgufValue::asString() const {
  if (type != GgufValueType::String)
    return std::nullopt;
  return textOf(bytes);
}

/// Cuts the element of `type` off the front of `rest`, an array's checked bytes.
static GgufValue takeElement(GgufValueType type, std::span<const std::byte>& rest) {
  GgufValue element{.type = type};
  if (type == GgufValueType::String) {
    uint64_t length = load<uint64_t>(rest);
    element.bytes = rest.subspan(8, length);
    rest = rest.subspan(8 + length);
    return element;
  }
  if (type == GgufValueType::Array) {
    element.elementType = static_cast<GgufValueType>(load<uint32_t>(rest));
    element.count = load<uint64_t>(rest.subspan(4));
    std::span<const std::byte> inner = rest.subspan(12);
    rest = inner;
    if (size_t width = ggufValueTypeBytes(element.elementType))
      rest = rest.subspan(element.count * width);
    else
      for (uint64_t i = 0; i < element.count; ++i)
        takeElement(element.elementType, rest);
    element.bytes = inner.first(inner.size() - rest.size());
    return element;
  }
  size_t width = ggufValueTypeBytes(type);
  element.bytes = rest.first(width);
  rest = rest.subspan(width);
  return element;
}

/// The first `limit` elements of `array`, each as `convert` makes it; nothing where `array` is none
/// or `convert` returns nothing for an element.
template <typename T, typename Convert>
static std::optional<std::vector<T>> convertElements(const GgufValue& array, uint64_t limit,
                                                     Convert convert) {
  if (array.type != GgufValueType::Array)
    return std::nullopt;
  std::vector<T> elements;
  std::span<const std::byte> rest = array.bytes;
  for (uint64_t i = 0; i < array.count && i < limit; ++i) {
    std::optional<T> element = convert(takeElement(array.elementType, rest));
    if (!element)
      return std::nullopt;
    elements.push_back(*element);
  }
  return elements;
}

static constexpr uint64_t all = std::numeric_limits<uint64_t>::max();

std::optional<std::vector<std::string_view>> GgufValue::asStrings() const {
  return convertElements<std::string_view>(*this, all,
                                           [](const GgufValue& value) { return value.asString(); });
}

std::optional<std::vector<int64_t>> GgufValue::asI64s() const {
  return convertElements<int64_t>(*this, all, [](const GgufValue& value) { return value.asI64(); });
}

std::optional<std::vector<float>> GgufValue::asF32s() const {
  return convertElements<float>(*this, all, [](const GgufValue& value) -> std::optional<float> {
    std::optional<double> number = value.asF64();
    return number ? std::optional(static_cast<float>(*number)) : std::nullopt;
  });
}

std::optional<std::vector<GgufValue>> GgufValue::asValues() const {
  return convertElements<GgufValue>(*this, all,
                                    [](const GgufValue& value) { return std::optional(value); });
}

std::string GgufValue::typeText() const {
  if (type == GgufValueType::Array)
    return absl::StrFormat("array of %d %s", count, ggufValueTypeName(elementType));
  return std::string(ggufValueTypeName(type));
}

std::string GgufValue::text(size_t maxElements) const {
  if (std::optional<bool> value = asBool())
    return *value ? "true" : "false";
  if (std::optional<uint64_t> value = asU64())
    return absl::StrCat(*value);
  if (std::optional<int64_t> value = asI64())
    return absl::StrCat(*value);
  if (std::optional<double> value = asF64())
    return absl::StrFormat("%.9g", *value);
  if (std::optional<std::string_view> value = asString())
    return quoteName(*value);
  auto elements = convertElements<std::string>(*this, maxElements, [&](const GgufValue& value) {
    return std::optional(value.text(maxElements));
  });
  std::string joined;
  for (const std::string& element : *elements)
    absl::StrAppend(&joined, joined.empty() ? "" : ", ", element);
  return absl::StrCat("[", joined, count > maxElements ? ", …]" : "]");
}

} // namespace tenon::frontends
