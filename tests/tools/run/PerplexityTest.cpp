#include "tools/run/Perplexity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/runtime/HashModel.h"
#include "tests/runtime/text/TestVocabularies.h"

namespace tenon::tools {
namespace {

using ::tenon::tests::FailsWith;
using ::testing::HasSubstr;

// A program may come with the tokeniser of another model.
TEST(Perplexity, RefusesTokensThatTheModelDoesNotHave) {
  runtime::HashModel model(
      {runtime::makeModelFunction(runtime::Role::Decode, 1, runtime::HashModel::vocabulary)},
      /*sequences=*/1);
  model.held.tokenizer = runtime::makeSentencePieceSpec();
  EXPECT_THAT(
      computePerplexity(model, "abc abc", /*window=*/0, [](size_t, size_t) {}),
      FailsWith(absl::StatusCode::kInvalidArgument,
                HasSubstr("perplexity: expects tokens below 64, the model's vocabulary, but "
                          "its tokeniser gave")));
}

} // namespace
} // namespace tenon::tools
