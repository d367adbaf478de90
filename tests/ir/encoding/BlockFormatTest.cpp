#include "ir/encoding/BlockFormat.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/encoding/Encoding.h"

namespace tenon {
namespace {

using ::testing::Each;
using ::testing::UnorderedElementsAre;

TEST(BlockFormat, EveryBlockFormatOfWeightsIsDescribed) {
  for (const Encoding* encoding : allEncodings()) {
    bool isOfActivations = encoding->name == "q8_s" || encoding->name == "q8_k";
    bool isOfWeights = encoding->isBlockQuantized() && !isOfActivations;
    const BlockFormat* format = findBlockFormat(encoding->name);
    EXPECT_EQ(format != nullptr, isOfWeights) << encoding->name;
    if (format)
      EXPECT_EQ(format->encoding, encoding->name);
  }
  EXPECT_EQ(findBlockFormat("q9_9"), nullptr);
}

TEST(BlockFormat, NumbersLieInTheBlock) {
  for (const BlockFormat* format : allBlockFormats()) {
    int64_t bytes = findEncoding(format->encoding)->blockBytes;
    EXPECT_LE(format->scale.offset + format->scale.bytes(), bytes) << format->encoding;
    EXPECT_GT(format->scale.randomFactor, 0) << format->encoding;
    if (format->hasMinimum()) {
      EXPECT_LE(format->minimum.offset + format->minimum.bytes(), bytes) << format->encoding;
      EXPECT_NE(format->minimum.offset, format->scale.offset) << format->encoding;
    }
  }
}

/// Of a block of one scale the description names each byte once, and each bit of a quant.
TEST(BlockFormat, OfPlanesCoversTheBlock) {
  int described = 0;
  for (const BlockFormat* format : allBlockFormats()) {
    if (!format->hasPlanes())
      continue;
    ++described;
    const Encoding& encoding = *findEncoding(format->encoding);
    std::vector<int> uses(encoding.blockBytes, 0);
    auto use = [&](int64_t offset, int64_t bytes) {
      ASSERT_LE(offset + bytes, encoding.blockBytes) << encoding.name;
      for (int64_t i = 0; i < bytes; ++i)
        ++uses[offset + i];
    };
    int64_t groups = format->groupSize == 0 ? 1 : encoding.blockSize / format->groupSize;
    for (int64_t group = 0; group < groups; ++group) {
      use(format->scale.offset + group * format->groupStride, format->scale.bytes());
      if (format->zeroOffset)
        use(*format->zeroOffset + group * format->groupStride, 2);
      use(format->scale.offset + (group + 1) * format->groupStride - format->groupPadding,
          format->groupPadding);
    }
    if (format->blockScale)
      use(format->blockScale->offset, format->blockScale->bytes());
    if (format->hasMinimum())
      use(format->minimum.offset, format->minimum.bytes());
    uint32_t bits = 0;
    for (const BlockFormat::Plane& plane : format->planes) {
      use(plane.offset, encoding.blockSize * plane.bits / 8);
      if (plane.bits != 0)
        EXPECT_EQ(plane.shift, bits) << encoding.name;
      bits += plane.bits;
    }
    EXPECT_THAT(uses, Each(1)) << encoding.name;
    if (!format->levels.empty())
      EXPECT_EQ(format->levels.size(), size_t{1} << bits) << encoding.name;
  }
  EXPECT_EQ(described,
            5 + 3 + 75 + 8); // q4_0, q4_1, q5_0, q5_1, iq4_nl; mxfp4, nvfp4; the families
}

TEST(BlockFormat, SuperBlocksHaveScalesOfGroups) {
  std::vector<std::string_view> withSixBits;
  for (const BlockFormat* format : allBlockFormats()) {
    const Encoding& encoding = *findEncoding(format->encoding);
    constexpr int64_t superBlock = 256;
    bool isSuperBlock = format->ggufFileType && encoding.blockSize == superBlock;
    EXPECT_EQ(format->groupScales.has_value(), isSuperBlock) << encoding.name;
    if (format->groupScales)
      EXPECT_EQ(superBlock % format->scaledElements(), 0) << encoding.name;
    if (format->hasSixBitScales())
      withSixBits.push_back(encoding.name);
  }
  EXPECT_THAT(withSixBits, UnorderedElementsAre("q4_k", "q5_k"));
  EXPECT_EQ(findBlockFormat("nvfp4")->scaledElements(), 16u);
  EXPECT_EQ(findBlockFormat("q8_0")->scaledElements(), 0u);
}

} // namespace
} // namespace tenon
