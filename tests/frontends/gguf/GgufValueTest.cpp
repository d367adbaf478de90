#include "frontends/gguf/GgufValue.h"

#include <limits>

#include "tests/frontends/gguf/GgufBytes.h"

namespace tenon::frontends {
namespace {

using tests::IsOk;
using Type = GgufValueType;

/// A file with one metadata entry, `key`, and its value.
class OneValue {
public:
  explicit OneValue(GgufBytes&& bytes) : file(bytes.open()) { EXPECT_THAT(file, IsOk()); }
  const GgufValue* operator->() const { return (*file)->find("key"); }

private:
  absl::StatusOr<std::shared_ptr<const GgufFile>> file;
};

template <typename T> OneValue scalar(Type type, T value) {
  return OneValue(std::move(GgufBytes(0, 1).key("key", type).number(value)));
}

TEST(GgufValue, ReadsEveryIntegerTypeAtBothEnds) {
  EXPECT_EQ(scalar<uint8_t>(Type::UInt8, 255)->asI64(), 255);
  EXPECT_EQ(scalar<int8_t>(Type::Int8, -128)->asI64(), -128);
  EXPECT_EQ(scalar<uint16_t>(Type::UInt16, 65535)->asI64(), 65535);
  EXPECT_EQ(scalar<int16_t>(Type::Int16, -32768)->asI64(), -32768);
  EXPECT_EQ(scalar<uint32_t>(Type::UInt32, 4294967295u)->asI64(), 4294967295);
  EXPECT_EQ(scalar<int32_t>(Type::Int32, std::numeric_limits<int32_t>::min())->asI64(),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(scalar<int64_t>(Type::Int64, std::numeric_limits<int64_t>::min())->asI64(),
            std::numeric_limits<int64_t>::min());
  OneValue largest = scalar(Type::UInt64, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(largest->asU64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(largest->asI64(), std::nullopt);
  EXPECT_EQ(scalar<int64_t>(Type::Int64, -1)->asU64(), std::nullopt);
  EXPECT_EQ(scalar<uint8_t>(Type::UInt8, 200)->asU64(), 200u);
}

TEST(GgufValue, ReadsNumbersBoolsAndStrings) {
  EXPECT_EQ(scalar(Type::Float32, 1.5f)->asF64(), 1.5);
  EXPECT_EQ(scalar(Type::Float64, 0.1)->asF64(), 0.1);
  EXPECT_EQ(scalar<uint8_t>(Type::Bool, 0)->asBool(), false);
  EXPECT_EQ(scalar<uint8_t>(Type::Bool, 1)->asBool(), true);
  EXPECT_EQ(scalar<uint8_t>(Type::Bool, 7)->asBool(), true);
  OneValue text(std::move(GgufBytes(0, 1).key("key", Type::String).string("four")));
  EXPECT_EQ(text->asString(), "four");
  OneValue empty(std::move(GgufBytes(0, 1).key("key", Type::String).string("")));
  EXPECT_EQ(empty->asString(), "");
}

TEST(GgufValue, ConvertsNoTypeIntoAnother) {
  OneValue number = scalar(Type::Float32, 1.0f);
  EXPECT_EQ(number->asI64(), std::nullopt);
  EXPECT_EQ(number->asU64(), std::nullopt);
  EXPECT_EQ(number->asBool(), std::nullopt);
  EXPECT_EQ(number->asString(), std::nullopt);
  EXPECT_EQ(number->asStrings(), std::nullopt);
  EXPECT_EQ(number->asI64s(), std::nullopt);
  EXPECT_EQ(number->asF32s(), std::nullopt);
  EXPECT_EQ(number->asValues(), std::nullopt);
  EXPECT_EQ(scalar<uint8_t>(Type::Bool, 1)->asI64(), std::nullopt);
  EXPECT_EQ(scalar<uint32_t>(Type::UInt32, 1)->asF64(), std::nullopt);
}

template <typename T> OneValue arrayOf(Type type, const std::vector<T>& values) {
  GgufBytes bytes(0, 1);
  bytes.arrayKey("key", type, values.size());
  for (T value : values)
    bytes.number(value);
  return OneValue(std::move(bytes));
}

TEST(GgufValue, ReadsArraysOfEveryPlainType) {
  using Integers = std::vector<int64_t>;
  EXPECT_EQ(arrayOf<uint8_t>(Type::UInt8, {1, 255})->asI64s(), (Integers{1, 255}));
  EXPECT_EQ(arrayOf<int8_t>(Type::Int8, {1, -1})->asI64s(), (Integers{1, -1}));
  EXPECT_EQ(arrayOf<uint16_t>(Type::UInt16, {1, 65535})->asI64s(), (Integers{1, 65535}));
  EXPECT_EQ(arrayOf<int16_t>(Type::Int16, {1, -1})->asI64s(), (Integers{1, -1}));
  EXPECT_EQ(arrayOf<uint32_t>(Type::UInt32, {1, ~0u})->asI64s(), (Integers{1, 4294967295}));
  EXPECT_EQ(arrayOf<int32_t>(Type::Int32, {1, -1})->asI64s(), (Integers{1, -1}));
  EXPECT_EQ(arrayOf<int64_t>(Type::Int64, {1, -1})->asI64s(), (Integers{1, -1}));
  EXPECT_EQ(arrayOf<uint64_t>(Type::UInt64, {1, 2})->asI64s(), (Integers{1, 2}));
  EXPECT_EQ(arrayOf<uint64_t>(Type::UInt64, {1, ~0ull})->asI64s(), std::nullopt);
  EXPECT_EQ(arrayOf<float>(Type::Float32, {1.5f, -2.0f})->asF32s(),
            (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(arrayOf<double>(Type::Float64, {0.1, -2.0})->asF32s(),
            (std::vector<float>{0.1f, -2.0f}));
  OneValue boolArray = arrayOf<uint8_t>(Type::Bool, {0, 1});
  auto bools = boolArray->asValues();
  ASSERT_EQ(bools->size(), 2u);
  EXPECT_EQ((*bools)[0].asBool(), false);
  EXPECT_EQ((*bools)[1].asBool(), true);
}

TEST(GgufValue, AnEmptyArrayIsAnArrayOfAnything) {
  OneValue empty = arrayOf<uint8_t>(Type::UInt8, {});
  EXPECT_EQ(empty->asStrings(), std::vector<std::string_view>());
  EXPECT_EQ(empty->asF32s(), std::vector<float>());
  EXPECT_EQ(empty->asI64s(), std::vector<int64_t>());
}

OneValue stringArray() {
  return OneValue(std::move(
      GgufBytes(0, 1).arrayKey("key", Type::String, 3).string("one").string("").string("three")));
}

TEST(GgufValue, ReadsArraysOfStrings) {
  EXPECT_EQ(stringArray()->asStrings(), (std::vector<std::string_view>{"one", "", "three"}));
  EXPECT_EQ(stringArray()->asI64s(), std::nullopt);
}

/// [[1, 2], ["a"], []]
OneValue nestedArray() {
  GgufBytes bytes(0, 1);
  bytes.arrayKey("key", Type::Array, 3);
  bytes.array(Type::UInt16, 2).number<uint16_t>(1).number<uint16_t>(2);
  bytes.array(Type::String, 1).string("a");
  bytes.array(Type::Array, 0);
  return OneValue(std::move(bytes));
}

TEST(GgufValue, ReadsNestedArrays) {
  OneValue nested = nestedArray();
  auto outer = nested->asValues();
  ASSERT_EQ(outer->size(), 3u);
  EXPECT_EQ((*outer)[0].asI64s(), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ((*outer)[1].asStrings(), std::vector<std::string_view>{"a"});
  EXPECT_EQ((*outer)[2].asValues()->size(), 0u);
}

TEST(GgufValue, SaysItsTypeAndText) {
  EXPECT_EQ(scalar<int8_t>(Type::Int8, -5)->typeText(), "i8");
  EXPECT_EQ(scalar<int8_t>(Type::Int8, -5)->text(), "-5");
  EXPECT_EQ(scalar(Type::UInt64, ~0ull)->text(), "18446744073709551615");
  EXPECT_EQ(scalar(Type::Float32, 0.5f)->text(), "0.5");
  EXPECT_EQ(scalar<uint8_t>(Type::Bool, 1)->text(), "true");
  EXPECT_EQ(stringArray()->typeText(), "array of 3 string");
  EXPECT_EQ(stringArray()->text(), "['one', '', 'three']");
  EXPECT_EQ(stringArray()->text(2), "['one', '', …]");
  EXPECT_EQ(nestedArray()->text(), "[[1, 2], ['a'], []]");
}

TEST(GgufValue, EscapesAndCutsHostileText) {
  OneValue colour(std::move(GgufBytes(0, 1).key("key", Type::String).string("\x1b[31mé\n")));
  EXPECT_EQ(colour->text(), "'\\x1b[31mé\\n'");
  std::string accents;
  for (int i = 0; i < 200; ++i)
    accents += "é";
  OneValue longText(std::move(GgufBytes(0, 1).key("key", Type::String).string("x" + accents)));
  EXPECT_EQ(longText->text(), "'x" + accents.substr(0, 98) + "…'");
}

TEST(GgufValueType, NamesAndSizes) {
  EXPECT_EQ(ggufValueTypeName(Type::Float64), "f64");
  EXPECT_EQ(ggufValueTypeBytes(Type::Float64), 8u);
  EXPECT_EQ(ggufValueTypeBytes(Type::String), 0u);
  EXPECT_EQ(ggufValueTypeName(static_cast<Type>(13)), "unknown");
  EXPECT_EQ(ggufValueTypeBytes(static_cast<Type>(13)), 0u);
}

} // namespace
} // namespace tenon::frontends
