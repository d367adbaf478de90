// One test for each error site of the reader.
#include "tests/frontends/gguf/GgufBytes.h"

namespace tenon::frontends {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;
using Type = GgufValueType;

/// InvalidArgument that names the file.
auto invalid(const std::string& text) {
  return FailsWith(absl::StatusCode::kInvalidArgument,
                   AllOf(HasSubstr("/test.gguf: "), HasSubstr(text)));
}

TEST(GgufErrors, NoFile) {
  EXPECT_THAT(GgufFile::open("/nowhere/model.gguf"),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("/nowhere/model.gguf")));
}

TEST(GgufErrors, Header) {
  GgufBytes bytes(0, 0);
  bytes.bytes = "";
  EXPECT_THAT(bytes.open(), invalid("expects 4 bytes of magic at offset 0, but the file ends "
                                    "after 0"));
  bytes.bytes = "GGML\x1b\x1b\x1b\x1b";
  EXPECT_THAT(bytes.open(), invalid("expects a GGUF file, which starts with 'GGUF', but got "
                                    "'GGML'"));
  bytes.bytes = "GGUF";
  EXPECT_THAT(bytes.open(), invalid("expects 4 bytes of version at offset 4"));
  bytes.bytes = std::string("GGUF\3\0\0\0\0", 9);
  EXPECT_THAT(bytes.open(), invalid("expects 8 bytes of tensor count at offset 8, but the file "
                                    "ends after 1"));
  bytes.bytes = std::string("GGUF\3\0\0\0", 8) + std::string(15, '\0');
  EXPECT_THAT(bytes.open(), invalid("metadata count"));
}

TEST(GgufErrors, Versions) {
  EXPECT_THAT(GgufBytes(0, 0, 1).open(), invalid("expects GGUF version 2 or 3, but got version 1"));
  EXPECT_THAT(GgufBytes(0, 0, 4).open(), invalid("but got version 4"));
  EXPECT_THAT(GgufBytes(0, 0, 0x03000000).open(),
              invalid("expects a little-endian GGUF file, but got a big-endian one of version 3"));
}

TEST(GgufErrors, CountsThatTheFileCannotHold) {
  EXPECT_THAT(GgufBytes(1, 0).open(), invalid("expects tensors in at least 24 bytes each, but got "
                                              "a count of 1 with 0 bytes left"));
  EXPECT_THAT(GgufBytes(~0ull, 0).open(), invalid("a count of 18446744073709551615"));
  EXPECT_THAT(GgufBytes(0, ~0ull).open(), invalid("expects metadata entries in at least 13 bytes"));
}

TEST(GgufErrors, MetadataKeys) {
  GgufBytes truncated(0, 1);
  truncated.number<uint64_t>(1000).number<uint64_t>(0);
  EXPECT_THAT(truncated.open(), invalid("expects 1000 bytes of key of metadata entry 0 at offset "
                                        "32, but the file ends after 8"));
  GgufBytes huge(0, 1);
  huge.number(~0ull).number<uint64_t>(0);
  EXPECT_THAT(huge.open(), invalid("expects 18446744073709551615 bytes of key"));
  GgufBytes twice(0, 2);
  for (uint8_t i = 0; i < 2; ++i)
    twice.key("a.key", Type::UInt8).number(i);
  EXPECT_THAT(twice.open(), invalid("expects each metadata key once, but got 'a.key' twice"));
}

TEST(GgufErrors, MetadataValues) {
  EXPECT_THAT(GgufBytes(0, 1).key("a", static_cast<Type>(13)).data(8).open(),
              invalid("metadata key 'a' expects a value type from 0 to 12, but got 13"));
  EXPECT_THAT(GgufBytes(0, 1).key("a", Type::UInt64).number<uint32_t>(0).open(),
              invalid("expects 8 bytes of metadata key 'a'"));
  EXPECT_THAT(GgufBytes(0, 1).key("a", Type::String).number<uint64_t>(9).number('x').open(),
              invalid("expects 9 bytes of metadata key 'a' at offset 45, but the file ends after "
                      "1"));
  // The type itself is cut off; the key is long enough for the entry to pass the count's check.
  EXPECT_THAT(GgufBytes(0, 1).string("a long key").open(),
              invalid("expects 4 bytes of metadata key 'a long key'"));
}

TEST(GgufErrors, Arrays) {
  EXPECT_THAT(GgufBytes(0, 1).arrayKey("a", static_cast<Type>(99), 1).data(8).open(),
              invalid("metadata key 'a' expects an element type from 0 to 12, but got 99"));
  EXPECT_THAT(GgufBytes(0, 1).key("a", Type::Array).open(),
              invalid("expects 4 bytes of metadata key 'a'"));
  EXPECT_THAT(GgufBytes(0, 1).key("a", Type::Array).number<uint32_t>(4).open(),
              invalid("expects 8 bytes of metadata key 'a'"));
  EXPECT_THAT(GgufBytes(0, 1).arrayKey("a", Type::UInt32, 1ull << 62).data(8).open(),
              invalid("expects metadata key 'a' elements in at least 4 bytes each, but got a count "
                      "of 4611686018427387904"));
  EXPECT_THAT(GgufBytes(0, 1).arrayKey("a", Type::String, 2).string("x").open(),
              invalid("expects metadata key 'a' elements in at least 8 bytes each"));
  EXPECT_THAT(GgufBytes(0, 1).arrayKey("a", Type::String, 1).number<uint64_t>(2).number('x').open(),
              invalid("expects 2 bytes of metadata key 'a'"));
  EXPECT_THAT(GgufBytes(0, 1).arrayKey("a", Type::Array, 1).array(Type::UInt8, 9).open(),
              invalid("but got a count of 9 with 0 bytes left"));
}

TEST(GgufErrors, ArraysNestedTooDeep) {
  for (int depth : {3, 4, 5, 100000}) {
    GgufBytes bytes(0, 1);
    bytes.key("a", Type::Array);
    for (int i = 1; i < depth; ++i)
      bytes.array(Type::Array, 1);
    bytes.array(Type::UInt8, 0);
    if (depth <= 4)
      EXPECT_THAT(bytes.open(), IsOk()) << depth;
    else
      EXPECT_THAT(bytes.open(),
                  invalid("metadata key 'a' expects arrays nested at most 4 deep, but got more"));
  }
}

TEST(GgufErrors, Alignment) {
  for (uint32_t alignment : {0u, 24u, 4294967295u})
    EXPECT_THAT(GgufBytes(0, 1).key("general.alignment", Type::UInt32).number(alignment).open(),
                invalid("metadata key 'general.alignment' expects a power of two below 2^32, but "
                        "got " +
                        std::to_string(alignment)));
  EXPECT_THAT(GgufBytes(0, 1).key("general.alignment", Type::UInt64).number(1ull << 32).open(),
              invalid("a power of two below 2^32, but got 4294967296"));
  EXPECT_THAT(GgufBytes(0, 1).key("general.alignment", Type::Float32).number(32.0f).open(),
              invalid("metadata key 'general.alignment' expects an integer of at least 0, but got "
                      "f32 32"));
}

TEST(GgufErrors, TensorTable) {
  EXPECT_THAT(GgufBytes(1, 0).number<uint64_t>(1000).data(32).open(),
              invalid("expects 1000 bytes of name of tensor 0"));
  EXPECT_THAT(GgufBytes(1, 0).string("a tensor's long name").open(),
              invalid("expects 4 bytes of tensor 'a tensor\\'s long name'"));
  EXPECT_THAT(GgufBytes(2, 0).tensor("a", {1}, 0, 0).tensor("a", {1}, 0, 0).data(32).open(),
              invalid("expects each tensor once, but got 'a' twice"));
  GgufBytes noOffset(1, 0);
  noOffset.tensor("long enough a name", {1}, 0, 0).bytes.resize(noOffset.bytes.size() - 8);
  EXPECT_THAT(noOffset.open(), invalid("expects 8 bytes of tensor 'long enough a name'"));
  noOffset.bytes.resize(noOffset.bytes.size() - 4);
  EXPECT_THAT(noOffset.open(), invalid("expects 4 bytes of tensor 'long enough a name'"));
  noOffset.bytes.resize(noOffset.bytes.size() - 8);
  EXPECT_THAT(noOffset.open(), invalid("expects 8 bytes of tensor 'long enough a name'"));
}

TEST(GgufErrors, Axes) {
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {1, 1, 1, 1, 1}, 0, 0).data(4).open(),
              invalid("tensor 'a' expects at most 4 axes, but got 5"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {4, 0}, 0, 0).data(4).open(),
              invalid("tensor 'a' expects a length of at least 1 of axis 1, but got 0"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {1ull << 63}, 0, 0).data(4).open(),
              invalid("tensor 'a' expects fewer than 2^63 elements, but got a length of "
                      "9223372036854775808 of axis 0"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {1ull << 32, 1ull << 31}, 0, 0).data(4).open(),
              invalid("tensor 'a' expects fewer than 2^63 elements"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {1ull << 32, 1ull << 30}, 0, 0).data(4).open(),
              invalid("tensor 'a' expects fewer than 2^64 bytes, but got 4611686018427387904 "
                      "blocks of 4"));
}

TEST(GgufErrors, RowsThatAreNoBlocks) {
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {48, 2}, 8, 0).data(102).open(),
              invalid("tensor 'a' expects rows of a multiple of 32 elements in q8_0, but got 48"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {}, 8, 0).data(34).open(),
              invalid("tensor 'a' expects rows of a multiple of 32 elements in q8_0, but got 1"));
}

TEST(GgufErrors, Offsets) {
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {1}, 0, 8).data(64).open(),
              invalid("tensor 'a' expects an offset that is a multiple of 32, but got 8"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {2}, 0, 32).data(39).open(),
              invalid("tensor 'a' expects its 8 bytes inside the file's 103, but got offset 32 in "
                      "data that start at 64"));
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {2}, 0, 32).data(40).open(), IsOk());
  for (uint64_t offset : {~0ull - 31, ~0ull - 127, 1ull << 63})
    EXPECT_THAT(GgufBytes(1, 0).tensor("a", {2}, 0, offset).data(40).open(),
                invalid("but got offset " + std::to_string(offset)));
  // An unknown type has no known size, but its start must lie in the file.
  EXPECT_THAT(GgufBytes(1, 0).tensor("a", {256}, 16, 64).data(32).open(),
              invalid("expects its 0 bytes inside the file's 96"));
}

TEST(GgufErrors, MissingKeysAndTensors) {
  auto opened = GgufBytes(0, 0).open();
  ASSERT_THAT(opened, IsOk());
  const GgufFile& file = **opened;
  auto missing = [](const std::string& text) {
    return FailsWith(absl::StatusCode::kNotFound,
                     AllOf(HasSubstr("/test.gguf: "), HasSubstr(text)));
  };
  auto missingKey = missing("expects metadata key 'k', but the file has none");
  EXPECT_THAT(file.requireU64("k"), missingKey);
  EXPECT_THAT(file.requireF32("k"), missingKey);
  EXPECT_THAT(file.requireBool("k"), missingKey);
  EXPECT_THAT(file.requireString("k"), missingKey);
  EXPECT_THAT(file.requireStrings("k"), missingKey);
  EXPECT_THAT(file.requireI64s("k"), missingKey);
  EXPECT_THAT(file.requireF32s("k"), missingKey);
  EXPECT_THAT(file.requireTensor("t"), missing("expects tensor 't', but the file has none"));
}

TEST(GgufErrors, ValuesOfAnotherType) {
  auto opened = GgufBytes(0, 2)
                    .key("i", Type::Int32)
                    .number<int32_t>(-5)
                    .arrayKey("a", Type::Bool, 1)
                    .number<uint8_t>(1)
                    .open();
  ASSERT_THAT(opened, IsOk());
  const GgufFile& file = **opened;
  EXPECT_THAT(file.requireU64("i"),
              invalid("metadata key 'i' expects an integer of at least 0, but got i32 -5"));
  EXPECT_THAT(file.optionalU64("i", 1), invalid("'i' expects an integer of at least 0"));
  EXPECT_THAT(file.requireF32("i"), invalid("expects a floating-point number, but got i32 -5"));
  EXPECT_THAT(file.optionalF32("i", 1), invalid("expects a floating-point number"));
  EXPECT_THAT(file.requireBool("i"), invalid("expects a bool, but got i32 -5"));
  EXPECT_THAT(file.optionalBool("i", true), invalid("expects a bool"));
  EXPECT_THAT(file.requireString("i"), invalid("expects a string, but got i32 -5"));
  EXPECT_THAT(file.optionalString("i", ""), invalid("expects a string"));
  EXPECT_THAT(file.requireStrings("a"),
              invalid("expects an array of strings, but got array of 1 bool"));
  EXPECT_THAT(file.requireI64s("a"), invalid("expects an array of integers below 2^63, but got "
                                             "array of 1 bool"));
  EXPECT_THAT(file.requireF32s("a"), invalid("expects an array of floating-point numbers"));
  EXPECT_THAT(file.requireU64("a"), invalid("but got array of 1 bool"));
}

TEST(GgufErrors, NumbersAboveTheLimit) {
  auto file = GgufBytes(0, 1).key("n", Type::UInt32).number<uint32_t>(4097).open();
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->requireU64("n", 4097), IsOk());
  EXPECT_THAT((*file)->requireU64("n", 4096),
              invalid("metadata key 'n' expects an integer of at most 4096, but got u32 4097"));
}

TEST(GgufErrors, TensorsOfAnotherShapeOrType) {
  auto file = GgufBytes(2, 0).tensor("a", {4, 8}, 0, 0).tensor("b", {256}, 16, 0).data(144).open();
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->requireTensor("a", std::vector<int64_t>{8, 4}), IsOk());
  EXPECT_THAT((*file)->requireTensor("a", std::vector<int64_t>{4, 8}),
              invalid("tensor 'a' expects shape [4, 8], but got [8, 4]"));
  EXPECT_THAT(
      (*file)->requireTensor("b"),
      invalid("tensor 'b' expects one of the types bf16, f16, f32, i32, i64, iq4_nl, mxfp4, nvfp4, "
              "q2_k, "
              "q3_k, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0, but got type 16 (iq2_xxs)"));
}

TEST(GgufErrors, HostileNamesAreEscaped) {
  auto file = GgufBytes(0, 1).key("\x1b[2J", static_cast<Type>(77)).data(8).open();
  EXPECT_THAT(file, invalid("metadata key '\\x1b[2J' expects"));
}

} // namespace
} // namespace tenon::frontends
