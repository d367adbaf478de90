#include "runtime/text/Drafter.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/text/Generator.h"
#include "runtime/text/ModelDrafter.h"
#include "tests/runtime/HashModel.h"

namespace tenon::runtime {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;

TEST(NgramDrafter, GoesOnAsBehindTheLastOccurrence) {
  NgramDrafter drafter(8);
  drafter.begin(Ids{1, 2, 3, 4, 9, 1, 2, 7, 8, 5, 1});
  EXPECT_THAT(*drafter.draft(3), IsEmpty()); // the last two, 5 and 1, are new
  drafter.push(2);
  EXPECT_THAT(*drafter.draft(3), ElementsAre(7, 8, 5));
  EXPECT_THAT(*drafter.draft(0), IsEmpty());
}

TEST(NgramDrafter, PrefersLongerWords) {
  NgramDrafter drafter(8);
  drafter.begin(Ids{3, 1, 2, 5, 4, 1, 2, 6, 3, 1, 2});
  EXPECT_THAT(*drafter.draft(1), ElementsAre(5));
}

TEST(NgramDrafter, GoesOnWithItsOwnGuess) {
  NgramDrafter drafter(8);
  drafter.begin(Ids{1, 2, 3, 1, 2});
  EXPECT_THAT(*drafter.draft(8), ElementsAre(3, 1, 2, 3, 1, 2, 3, 1));
}

TEST(NgramDrafter, GuessesNoMoreThanItMay) {
  NgramDrafter drafter(2);
  drafter.begin(Ids{1, 2, 3, 1, 2});
  EXPECT_THAT(*drafter.draft(8), ElementsAre(3, 1));
}

TEST(NgramDrafter, BeginsAnew) {
  NgramDrafter drafter(8);
  drafter.begin(Ids{1, 2, 3, 1, 2});
  drafter.begin(Ids{1, 2});
  EXPECT_THAT(*drafter.draft(2), IsEmpty());
  drafter.begin(Ids{});
  EXPECT_THAT(*drafter.draft(2), IsEmpty());
}

Function decode(int64_t rows) {
  return makeModelFunction(Role::Decode, rows, HashModel::vocabulary);
}

Sampler greedy() { return Sampler::create({}).value(); }

TEST(DraftedGeneration, TakesFewerCallsForTheSameTokens) {
  HashModel model({decode(1), decode(2), decode(4)}, 1, /*memory=*/1); // the text repeats itself
  Generator generator = Generator::create(model).value();
  NgramDrafter drafter(8, 3);
  const Ids prompt = {5, 6, 7};
  const Generation result = generator.generate(prompt, 40, greedy(), {}, &drafter).value();
  EXPECT_EQ(result.ids, model.answerOf(prompt, 40));
  EXPECT_EQ(result.reason, StopReason::TokenLimit);
  EXPECT_EQ(result.tokenNs.size(), 39u);
  EXPECT_GT(result.acceptedTokens, 15);
  EXPECT_LE(result.acceptedTokens, result.draftedTokens);
  // Each call makes a token, and those that were accepted; the last may be more than were asked for.
  EXPECT_LE(int64_t(model.calls.size()), 3 + 39 - result.acceptedTokens + 3);
}

// Logits are fetched after the prompt alone, unless tokens are drawn from them.
TEST(DraftedGeneration, TakesWhatTheDeviceHasChosen) {
  const auto choosing = [](int64_t rows) {
    return makeModelFunction(Role::Decode, rows, HashModel::vocabulary, /*hasNextIds=*/true);
  };
  HashModel model({choosing(1), choosing(4)}, 1, /*memory=*/1);
  Generator generator = Generator::create(model).value();
  NgramDrafter drafter(8, 3);
  const Ids prompt = {5, 6, 7};
  const Generation result = generator.generate(prompt, 40, greedy(), {}, &drafter).value();
  EXPECT_EQ(result.ids, model.answerOf(prompt, 40));
  EXPECT_GT(result.acceptedTokens, 15);
  EXPECT_EQ(model.logitsCalls, prompt.size());
  model.calls.clear(), model.logitsCalls = 0;
  const Sampler drawing = Sampler::create({.temperature = 0.5f}).value();
  ASSERT_TRUE(generator.generate(prompt, 20, drawing, {}, &drafter).ok());
  EXPECT_EQ(model.logitsCalls, model.calls.size());
  model.brokenId = result.ids[0];
  EXPECT_THAT(
      std::string(generator.generate(prompt, 40, greedy(), {}, &drafter).status().message()),
      testing::HasSubstr("device: expects numbers as the logits behind token 4, but found NaN"));
}

// Which guesses are right is what the device says.
TEST(DraftedGeneration, TakesWhatTheDeviceHasAccepted) {
  HashModel model({makeGuessingFunction(1, HashModel::vocabulary, false),
                   makeGuessingFunction(4, HashModel::vocabulary, false)},
                  1, /*memory=*/1);
  Generator generator = Generator::create(model).value();
  NgramDrafter drafter(8, 3);
  const Ids prompt = {5, 6, 7};
  const Generation result = generator.generate(prompt, 40, greedy(), {}, &drafter).value();
  EXPECT_EQ(result.ids, model.answerOf(prompt, 40));
  EXPECT_GT(result.acceptedTokens, 15);
  EXPECT_EQ(model.logitsCalls, prompt.size());
  model.brokenId = result.ids[0];
  EXPECT_THAT(
      std::string(generator.generate(prompt, 40, greedy(), {}, &drafter).status().message()),
      testing::HasSubstr("device: expects numbers as the logits behind token 4, but found NaN"));
}

// The model's own head guesses the token after the next; a wrong one costs a row.
TEST(HeadDrafter, TakesWhatTheModelGuesses) {
  HashModel model({makeGuessingFunction(1, HashModel::vocabulary, true),
                   makeGuessingFunction(2, HashModel::vocabulary, true)},
                  1);
  Generator generator = Generator::create(model).value();
  HeadDrafter drafter;
  for (int32_t first = 0; first < 10; ++first) {
    const Ids prompt = {first, 2};
    const Generation all = generator.generate(prompt, 1000, greedy(), {}, &drafter).value();
    EXPECT_EQ(all.ids, model.answerOf(prompt, HashModel::context - 1));
    EXPECT_GT(all.acceptedTokens, 5);
    EXPECT_LT(all.acceptedTokens, all.draftedTokens);
    const Sampler drawing = Sampler::create({.temperature = 2, .seed = 7}).value();
    EXPECT_EQ(generator.generate(prompt, 40, drawing, {}, &drafter).value().ids,
              generator.generate(prompt, 40, drawing).value().ids);
  }
}

/// Guesses at random, sometimes right.
class RandomDrafter : public Drafter {
public:
  explicit RandomDrafter(const HashModel& model) : model(model) {}
  void begin(std::span<const int32_t> ids) override { text.assign(ids.begin(), ids.end()); }
  void push(int32_t id) override { text.push_back(id); }
  absl::StatusOr<std::span<const int32_t>> draft(int64_t most) override {
    const auto count = int64_t(random() % uint64_t(most + 1));
    guess = model.answerOf(text, count);
    for (int32_t& id : guess)
      id = random() % 3 == 0 ? int32_t(random() % 60) : id;
    return std::span<const int32_t>(guess);
  }

private:
  const HashModel& model;
  std::mt19937 random{3};
  Ids text, guess;
};

TEST(DraftedGeneration, AnyGuessChangesNoToken) {
  HashModel model({decode(1), decode(5)}, 1);
  Generator generator = Generator::create(model).value();
  RandomDrafter drafter(model);
  for (int32_t first = 0; first < 30; ++first) {
    const Ids prompt = {first, 2};
    // To the end of the context, whose last token is not fed.
    const Generation all = generator.generate(prompt, 1000, greedy(), {}, &drafter).value();
    EXPECT_EQ(all.ids, model.answerOf(prompt, HashModel::context - 1));
    EXPECT_EQ(all.reason, StopReason::ContextEnd);
    EXPECT_GT(all.acceptedTokens, 0);
    EXPECT_LT(all.acceptedTokens, all.draftedTokens);
    const Generation some = generator.generate(prompt, 7, greedy(), {}, &drafter).value();
    EXPECT_EQ(some.ids, model.answerOf(prompt, 7));
  }
}

TEST(DraftedGeneration, DrawsTheSameTokens) {
  HashModel model({decode(1), decode(5)}, 1);
  Generator generator = Generator::create(model).value();
  RandomDrafter drafter(model);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    for (float penalty : {1.0f, 1.5f}) {
      const SamplerOptions options = {.temperature = 2, .repetitionPenalty = penalty, .seed = seed};
      const Sampler sampler = Sampler::create(options).value();
      EXPECT_EQ(generator.generate(Ids{4}, 40, sampler, {}, &drafter).value().ids,
                generator.generate(Ids{4}, 40, sampler).value().ids);
    }
  }
}

TEST(DraftedGeneration, WithoutFurtherRowsNothingIsGuessed) {
  HashModel model({decode(1)}, 1, /*memory=*/1);
  Generator generator = Generator::create(model).value();
  NgramDrafter drafter(8);
  const Generation result = generator.generate(Ids{5}, 30, greedy(), {}, &drafter).value();
  EXPECT_EQ(result.ids, model.answerOf({5}, 30));
  EXPECT_EQ(result.draftedTokens, 0);
}

TEST(ModelDrafter, GuessesWhatItsModelSays) {
  HashModel model({decode(1), decode(5)}, 1),
      draft({decode(1), makeModelFunction(Role::Prefill, 4, HashModel::vocabulary)}, 1);
  Generator generator = Generator::create(model).value();
  auto drafter = ModelDrafter::create(draft, HashModel::vocabulary, 4).value();
  for (int32_t first : {1, 2}) {
    const Generation result =
        generator.generate(Ids{first, 6, 7, 8, 9}, 30, greedy(), {}, drafter.get()).value();
    EXPECT_EQ(result.ids, model.answerOf({first, 6, 7, 8, 9}, 30));
    EXPECT_EQ(result.acceptedTokens, result.draftedTokens) << "it is the same model";
    EXPECT_GE(result.acceptedTokens, 20);
  }
  // It feeds each token once: a prompt in two chunks, and of every call what it guessed but the last.
  EXPECT_LE(draft.calls.size(), 2 * (2 + 30u));
}

TEST(ModelDrafter, WrongGuessesAreForgotten) {
  HashModel model({decode(1), decode(5)}, 1, /*memory=*/3), draft({decode(1)}, 1, /*memory=*/1);
  draft.held.model->context = 20; // shorter than what is generated
  Generator generator = Generator::create(model).value();
  auto drafter = ModelDrafter::create(draft, HashModel::vocabulary, 3).value();
  const Generation result = generator.generate(Ids{5, 6}, 40, greedy(), {}, drafter.get()).value();
  EXPECT_EQ(result.ids, model.answerOf({5, 6}, 40));
  EXPECT_LT(result.acceptedTokens, result.draftedTokens);
}

TEST(ModelDrafter, NamesWhatItCannotUse) {
  HashModel wide({decode(2)}, 1), narrow({decode(1)}, 1);
  EXPECT_THAT(std::string(ModelDrafter::create(wide, HashModel::vocabulary, 3).status().message()),
              testing::HasSubstr("drafter: expects a decode function of one row"));
  EXPECT_THAT(
      std::string(ModelDrafter::create(narrow, 50, 3).status().message()),
      testing::HasSubstr("drafter: expects a model of 50 tokens, as the one that it guesses "
                         "for, but got 64"));
  narrow.failingCall = 1;
  auto drafter = ModelDrafter::create(narrow, HashModel::vocabulary, 3).value();
  drafter->begin(Ids{1});
  EXPECT_THAT(std::string(drafter->draft(2).status().message()), testing::HasSubstr("on fire"));
}

} // namespace
} // namespace tenon::runtime
