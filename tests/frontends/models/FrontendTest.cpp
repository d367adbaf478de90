#include "frontends/models/Frontend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/frontends/gguf/ModelFile.h"

namespace tenon::frontends {
namespace {

using ::tenon::tests::FailsWith;
using ::tenon::tests::IsOk;
using ::testing::HasSubstr;

TEST(Frontend, TheListHasEveryFolderWithASource) {
  std::vector<std::string_view> names;
  for (const Frontend* frontend : allFrontends())
    names.push_back(frontend->name);
  EXPECT_THAT(names, ::testing::Contains("GGUF"));
}

TEST(Frontend, OpensWhatItRecognises) {
  tests::TempFolder folder;
  auto source = openModel(ModelFile::llama().write(folder));
  ASSERT_THAT(source, IsOk());
  EXPECT_EQ((*source)->text("architecture").value(), "llama");
  EXPECT_TRUE((*source)->hasTensor("token_embd.weight"));
}

TEST(Frontend, RefusesWhatNoneRecognises) {
  tests::TempFolder folder;
  std::string path = folder.write("m.safetensors", "{}");
  EXPECT_THAT(openModel(path), FailsWith(absl::StatusCode::kInvalidArgument,
                                         HasSubstr(path + ": expects a model in one of the "
                                                          "formats GGUF")));
  EXPECT_THAT(openModel(folder.path("")),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("one of the formats")));
  EXPECT_THAT(openModel(folder.path("none.gguf")),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("none.gguf")));
}

} // namespace
} // namespace tenon::frontends
