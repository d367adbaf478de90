#include "frontends/hf/SafetensorsFile.h"

#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;

/// A file of that header and as many bytes of data.
std::string fileOf(const std::string& header, size_t dataBytes) {
  uint64_t length = header.size();
  std::string text(sizeof(length), '\0');
  std::memcpy(text.data(), &length, sizeof(length));
  return text + header + std::string(dataBytes, '\1');
}

class SafetensorsFileTest : public ::testing::Test {
protected:
  absl::StatusOr<SafetensorsFile> open(const std::string& bytes) {
    return SafetensorsFile::open(folder.write("m.safetensors", bytes));
  }
  /// The message of a file with one tensor `w`, whose entry is `entry`, and 16 bytes of data.
  std::string errorOf(const std::string& entry) {
    auto file = open(fileOf("{\"w\": " + entry + "}", 16));
    EXPECT_EQ(file.status().code(), invalid);
    std::string message(file.status().message());
    EXPECT_THAT(message, HasSubstr("m.safetensors: key 'w."));
    return message;
  }

  tests::TempFolder folder;
};

TEST_F(SafetensorsFileTest, ReadsTensorsInTheOrderOfTheirData) {
  std::string header = R"({"__metadata__": {"format": "pt"},
      "a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [8, 20]},
      "b": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
      "c": {"dtype": "I64", "shape": [], "data_offsets": [20, 28]},
      "d": {"dtype": "F4_X2", "shape": [3], "data_offsets": [28, 30]}})";
  auto file = open(fileOf(header, 30));
  ASSERT_THAT(file, IsOk());
  std::span<const SafetensorsTensor> tensors = file->tensors();
  ASSERT_EQ(tensors.size(), 4u);
  EXPECT_EQ(tensors[0].name, "b");
  EXPECT_EQ(tensors[0].encoding, findEncoding("f32"));
  EXPECT_EQ(tensors[0].offset, 8 + header.size());
  EXPECT_EQ(tensors[0].byteSize, 8u);
  EXPECT_EQ(tensors[1].name, "a");
  EXPECT_EQ(tensors[1].encoding, findEncoding("bf16"));
  EXPECT_THAT(tensors[1].shape, ElementsAre(2, 3));
  EXPECT_EQ(tensors[2].encoding, nullptr);
  EXPECT_EQ(tensors[3].type, "F4_X2");
  EXPECT_EQ(tensors[3].encoding, nullptr);
}

TEST_F(SafetensorsFileTest, RefusesHeadersThatAreNone) {
  EXPECT_THAT(open("1234567"), FailsWith(invalid, HasSubstr("at least 8 bytes, but got 7")));
  EXPECT_THAT(open(std::string("\xff\xff\xff\xff\xff\xff\xff\xff{}", 10)),
              FailsWith(invalid, HasSubstr("expects a header within the file of 10 bytes, but got "
                                           "one of 18446744073709551615")));
  EXPECT_THAT(open(fileOf("{\"a\"", 0)),
              FailsWith(invalid, HasSubstr("expects an object of JSON, but got text that is no "
                                           "JSON")));
  EXPECT_THAT(open(fileOf("[1]", 0)),
              FailsWith(invalid, HasSubstr("expects an object of JSON, but got a list of 1")));
  EXPECT_THAT(open(fileOf(std::string(100000, '['), 0)),
              FailsWith(invalid, HasSubstr("expects JSON of at most 64 levels")));
}

TEST_F(SafetensorsFileTest, RefusesRangesOutsideOfTheData) {
  for (const char* offsets :
       {"[8, 24]", "[8, 4]", "[4]", "[1, 2, 3]", "[18446744073709551612, 18446744073709551615]"})
    EXPECT_THAT(
        errorOf(R"({"dtype": "F32", "shape": [2], "data_offsets": )" + std::string(offsets) + "}"),
        HasSubstr("'w.data_offsets' expects a"));
  EXPECT_THAT(errorOf(R"({"dtype": "F32", "shape": [2], "data_offsets": [-1, 7]})"),
              HasSubstr("integers of at least 0, but got -1"));
  EXPECT_THAT(errorOf(R"({"dtype": "F32", "shape": [2]})"), HasSubstr("but got none"));
}

TEST_F(SafetensorsFileTest, RefusesSizesThatContradictTheShape) {
  EXPECT_THAT(errorOf(R"({"dtype": "F32", "shape": [3], "data_offsets": [0, 8]})"),
              HasSubstr("expects the 12 bytes of type F32 and shape [3], but got 8"));
  EXPECT_THAT(errorOf(R"({"dtype": "F16", "shape": [0], "data_offsets": [0, 0]})"),
              HasSubstr("axes of at least 1"));
  EXPECT_THAT(errorOf(R"({"dtype": "F16", "shape": [16777216, 16777216, 16777216],
                          "data_offsets": [0, 8]})"),
              HasSubstr("at most 2^48 elements"));
  EXPECT_THAT(errorOf(R"({"dtype": "F16", "shape": [1, 1, 1, 1, 1, 1, 1, 1, 1],
                          "data_offsets": [0, 2]})"),
              HasSubstr("a list of at most 8 integers, but got a list of 9 values"));
  EXPECT_THAT(errorOf(R"({"dtype": "F16", "shape": "4", "data_offsets": [0, 8]})"),
              HasSubstr("'w.shape' expects a list"));
  EXPECT_THAT(errorOf(R"({"dtype": 7, "shape": [4], "data_offsets": [0, 8]})"),
              HasSubstr("'w.dtype' expects a string, but got 7"));
  EXPECT_THAT(errorOf("3"), HasSubstr("expects a list"));
}

} // namespace
} // namespace tenon::frontends
