#include <cmath>

#include "frontends/models/internal/RopeFrequencies.h"
#include "tests/frontends/gguf/ImportFixture.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::IsOk;
using ::testing::ElementsAre;
using ::testing::FloatEq;

/// Frequencies of a Llama file with heads of 8: pairs 0 to 3.
class RopeFrequenciesTest : public ImportFixture {
protected:
  RopeFrequencies read() {
    auto source = GgufSource::open(model.write(folder));
    EXPECT_THAT(source, IsOk());
    Hyperparameters parameters;
    parameters.rotarySize = 8;
    parameters.contextLength = 16;
    parameters.yarnLogMultiplier = yarnLogMultiplier;
    auto frequencies = readRopeFrequencies(**source, parameters, contextLength, {}, truncatesYarn);
    EXPECT_THAT(frequencies, IsOk());
    return frequencies.ok() ? *frequencies : RopeFrequencies();
  }
  ModelFile model = ModelFile::llama();
  int64_t contextLength = 16; ///< positions that the caches hold
  bool truncatesYarn = true;
  double yarnLogMultiplier = 0;
};

TEST_F(RopeFrequenciesTest, TheBaseDefaultsTo10000) {
  RopeFrequencies frequencies = read();
  EXPECT_THAT(frequencies.inverse, ElementsAre(1.0f, 0.1f, 0.01f, 0.001f));
  EXPECT_EQ(frequencies.magnitude, 1.0);
}

TEST_F(RopeFrequenciesTest, AnotherBase) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.5f, 0.25f, 0.125f));
}

TEST_F(RopeFrequenciesTest, LinearScaling) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scaling.type"] = std::string("linear");
  model.keys["llama.rope.scaling.factor"] = 4.0f;
  model.keys["llama.rope.scaling.attn_factor"] = 1.5f;
  RopeFrequencies frequencies = read();
  EXPECT_THAT(frequencies.inverse, ElementsAre(0.25f, 0.125f, 0.0625f, 0.03125f));
  EXPECT_EQ(frequencies.magnitude, 1.5);
}

TEST_F(RopeFrequenciesTest, TheOlderKeyAndNoType) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scale_linear"] = 2.0f;
  EXPECT_THAT(read().inverse, ElementsAre(0.5f, 0.25f, 0.125f, 0.0625f));
}

TEST_F(RopeFrequenciesTest, TypeNoneIgnoresTheFactor) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scaling.type"] = std::string("none");
  model.keys["llama.rope.scaling.factor"] = 4.0f;
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.5f, 0.25f, 0.125f));
}

TEST_F(RopeFrequenciesTest, FactorsOfTheFile) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.tensors["rope_freqs.weight"] = {{4}, "f32", {1, 2, 4, 8}};
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.25f, 0.0625f, 0.015625f));
}

TEST_F(RopeFrequenciesTest, LongRopeGoesByTheContext) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scaling.type"] = std::string("longrope");
  model.keys["llama.rope.scaling.original_context_length"] = 8u;
  model.tensors["rope_factors_short.weight"] = {{4}, "f32", {1, 1, 2, 2}};
  model.tensors["rope_factors_long.weight"] = {{4}, "f32", {1, 2, 4, 8}};
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.25f, 0.0625f, 0.015625f));
  contextLength = 9;
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.25f, 0.0625f, 0.015625f));
  contextLength = 8;
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.5f, 0.125f, 0.0625f));
  // The original context is the model's own by default; no cache is longer than that.
  contextLength = 16;
  model.keys.erase("llama.rope.scaling.original_context_length");
  EXPECT_THAT(read().inverse, ElementsAre(1.0f, 0.5f, 0.125f, 0.0625f));
}

/// By hand, as llama.cpp's rope_yarn: base 16, 8 dimensions, original context 64. The pair that
/// turns r times is 8 ln(64 / 2πr) / (2 ln 16): 3.35, up to 4, for r = 1 (slow); 1.35, down to 1,
/// for r = 4 (fast). So the ramp goes from pair 1 to pair 4: 0, 0, 1/3, 2/3.
TEST_F(RopeFrequenciesTest, Yarn) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scaling.type"] = std::string("yarn");
  model.keys["llama.rope.scaling.factor"] = 4.0f;
  model.keys["llama.rope.scaling.original_context_length"] = 64u;
  model.keys["llama.rope.scaling.yarn_beta_fast"] = 4.0f;
  RopeFrequencies frequencies = read();
  EXPECT_THAT(frequencies.inverse,
              ElementsAre(FloatEq(1.0f), FloatEq(0.5f), FloatEq(0.25f * (2 + 1 / 4.0f) / 3),
                          FloatEq(0.125f * (1 + 2 / 4.0f) / 3)));
  EXPECT_DOUBLE_EQ(frequencies.magnitude, 1 + 0.1 * std::log(4.0));
}

/// The same between pairs: from 8 ln(64 / 8π) / (2 ln 16) to 8 ln(64 / 2π) / (2 ln 16).
TEST_F(RopeFrequenciesTest, YarnWithoutRounding) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scaling.type"] = std::string("yarn");
  model.keys["llama.rope.scaling.factor"] = 4.0f;
  model.keys["llama.rope.scaling.original_context_length"] = 64u;
  model.keys["llama.rope.scaling.yarn_beta_fast"] = 4.0f;
  model.keys["llama.rope.scaling.yarn_truncate"] = true;
  std::vector<float> rounded = read().inverse;
  model.keys["llama.rope.scaling.yarn_truncate"] = false;
  std::vector<float> found = read().inverse;
  auto pairAt = [](double turns) {
    return 8 * std::log(64 / (turns * 2 * M_PI)) / (2 * std::log(16.0));
  };
  double ramp = (2 - pairAt(4)) / (pairAt(1) - pairAt(4));
  EXPECT_THAT(found, ElementsAre(1.0f, 0.5f, FloatEq(static_cast<float>(0.25 * (1 - 0.75 * ramp))),
                                 testing::Not(rounded[3])));
  model.keys.erase("llama.rope.scaling.yarn_truncate");
  EXPECT_EQ(read().inverse, rounded);
  truncatesYarn = false;
  EXPECT_EQ(read().inverse, found);
}

TEST_F(RopeFrequenciesTest, YarnWithItsOtherNumbers) {
  model.keys["llama.rope.freq_base"] = 16.0f;
  model.keys["llama.rope.scaling.type"] = std::string("yarn");
  model.keys["llama.rope.scaling.factor"] = 4.0f;
  // The model's context of 16 by default; 0.5 of the ramp counts; the magnitude has a factor.
  model.keys["llama.rope.scaling.yarn_beta_fast"] = 1.0f;
  model.keys["llama.rope.scaling.yarn_beta_slow"] = 0.25f;
  model.keys["llama.rope.scaling.yarn_ext_factor"] = 0.5f;
  model.keys["llama.rope.scaling.yarn_attn_factor"] = 2.0f;
  // The same ramp as above.
  RopeFrequencies frequencies = read();
  auto blend = [](double inverse, double unscaled) {
    return FloatEq(static_cast<float>(inverse * (unscaled + (1 - unscaled) / 4)));
  };
  EXPECT_THAT(frequencies.inverse, ElementsAre(blend(1, 0.5), blend(0.5, 0.5), blend(0.25, 1.0 / 3),
                                               blend(0.125, 1.0 / 6)));
  EXPECT_DOUBLE_EQ(frequencies.magnitude, 2 * (1 + 0.1 * std::log(4.0)));
  yarnLogMultiplier = 1;
  EXPECT_DOUBLE_EQ(read().magnitude, 2);
}

} // namespace
} // namespace tenon::frontends
