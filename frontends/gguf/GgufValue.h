#ifndef TENON_FRONTENDS_GGUF_GGUFVALUE_H
#define TENON_FRONTENDS_GGUF_GGUFVALUE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::frontends {

/// The type of a metadata value, numbered as in GGUF files (`enum gguf_type`).
enum class GgufValueType : uint32_t {
  UInt8 = 0,
  Int8 = 1,
  UInt16 = 2,
  Int16 = 3,
  UInt32 = 4,
  Int32 = 5,
  Float32 = 6,
  Bool = 7,
  String = 8,
  Array = 9,
  UInt64 = 10,
  Int64 = 11,
  Float64 = 12,
};

/// The name of `type` in messages: `u8`, `i32`, `f32`, `bool`, `string`, `array`, …; `unknown` for
/// a number that is none of the enumerators.
std::string_view ggufValueTypeName(GgufValueType type);

/// Bytes of one value of `type`, or 0 where it varies (strings, arrays) or the type is unknown.
size_t ggufValueTypeBytes(GgufValueType type);

/// A metadata value, or an element of an array: a view of its bytes in the file.
///
/// The conversions return nothing where the value is of another type; `GgufFile`'s lookups turn
/// that into an error with the file's and the key's name.
struct GgufValue {
  GgufValueType type;
  /// The elements' type, where this is an array.
  GgufValueType elementType = GgufValueType::UInt8;
  /// The number of elements, where this is an array.
  uint64_t count = 0;
  /// Little-endian value; a string's text without its length; an array's elements, each as it
  /// stands in the file.
  std::span<const std::byte> bytes = {};

  /// Any integer type, where the value is not negative.
  std::optional<uint64_t> asU64() const;
  /// Any integer type, where the value fits.
  std::optional<int64_t> asI64() const;
  /// A 32- or 64-bit floating-point number.
  std::optional<double> asF64() const;
  std::optional<bool> asBool() const;
  std::optional<std::string_view> asString() const;

  /// The elements of an array of strings, or of an empty array of any type.
  std::optional<std::vector<std::string_view>> asStrings() const;
  /// The elements of an array of any integer type, where each fits; or of an empty array.
  std::optional<std::vector<int64_t>> asI64s() const;
  /// The elements of an array of floating-point numbers, rounded to f32; or of an empty array.
  std::optional<std::vector<float>> asF32s() const;
  /// The elements of an array of any type, nested arrays included; nothing where this is none.
  std::optional<std::vector<GgufValue>> asValues() const;

  /// What the value is, for messages: `u32`, `array of 3 f32`.
  std::string typeText() const;
  /// The value itself for a reader's eyes: numbers, quoted strings with control characters
  /// escaped, and at most `maxElements` elements of an array.
  std::string text(size_t maxElements = 8) const;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_GGUFVALUE_H
