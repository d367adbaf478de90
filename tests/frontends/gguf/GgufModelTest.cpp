#include "frontends/gguf/GgufModel.h"

#include "tests/frontends/gguf/ModelFile.h"

namespace tenon::frontends {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;
constexpr absl::StatusCode notFound = absl::StatusCode::kNotFound;

class GgufModelTest : public ::testing::Test {
protected:
  /// Writes part `index` of three over the good one.
  void replace(const ModelFile& part, uint32_t index) {
    part.write(folder, "model-0000" + std::to_string(index + 1) + "-of-00003.gguf");
  }
  tests::TempFolder folder;
  ModelFile model = ModelFile::llama();
  std::string first = model.writeSplit(folder, 3);
};

TEST_F(GgufModelTest, OneFile) {
  auto opened = GgufModel::open(model.write(folder));
  ASSERT_THAT(opened, IsOk());
  EXPECT_EQ(opened->parts().size(), 1u);
  EXPECT_EQ(opened->tensorCount(), model.tensors.size());
  EXPECT_EQ(opened->partWith("output.weight"), 0u);
}

TEST_F(GgufModelTest, AllPartsOfASplitModel) {
  auto opened = GgufModel::open(first);
  ASSERT_THAT(opened, IsOk());
  ASSERT_EQ(opened->parts().size(), 3u);
  EXPECT_EQ(opened->tensorCount(), model.tensors.size());
  EXPECT_TRUE(opened->main().has("llama.block_count"));
  size_t index = 0;
  for (const auto& [name, tensor] : model.tensors) {
    EXPECT_EQ(opened->partWith(name), index++ % 3) << name;
    EXPECT_NE(opened->fileWith(name).findTensor(name), nullptr) << name;
  }
  EXPECT_EQ(opened->partWith("nothing"), 0u);
}

TEST_F(GgufModelTest, ASplitOfOneIsAFile) {
  EXPECT_THAT(GgufModel::open(model.part(0, 1).write(folder)), IsOk());
}

TEST_F(GgufModelTest, OnlyTheFirstPartIsOpened) {
  EXPECT_THAT(GgufModel::open(folder.path("model-00002-of-00003.gguf")),
              FailsWith(invalid, AllOf(HasSubstr("model-00002-of-00003.gguf: "),
                                       HasSubstr("'split.no' expects 0, that of the part named "
                                                 "'*-00001-of-00003.gguf', but got 1"))));
}

TEST_F(GgufModelTest, PartsAreFoundByName) {
  EXPECT_THAT(GgufModel::open(model.part(0, 3).write(folder, "renamed.gguf")),
              FailsWith(invalid, HasSubstr("renamed.gguf: expects the name of part 1 of 3 to end "
                                           "in '-00001-of-00003.gguf'")));
}

TEST_F(GgufModelTest, AMissingPart) {
  std::filesystem::remove(folder.path("model-00003-of-00003.gguf"));
  EXPECT_THAT(GgufModel::open(first), FailsWith(notFound, HasSubstr("model-00003-of-00003.gguf")));
}

TEST_F(GgufModelTest, APartThatIsNoGguf) {
  folder.write("model-00003-of-00003.gguf", "nonsense");
  EXPECT_THAT(GgufModel::open(first), FailsWith(invalid, HasSubstr("model-00003-of-00003.gguf: ")));
}

TEST_F(GgufModelTest, CountsThatNobodySplitsInto) {
  ModelFile part = model.part(0, 3);
  part.keys["split.count"] = 100000u;
  replace(part, 0);
  EXPECT_THAT(GgufModel::open(first),
              FailsWith(invalid, HasSubstr("'split.count' expects an integer of at most 99999")));
  part.keys["split.count"] = std::string("three");
  replace(part, 0);
  EXPECT_THAT(GgufModel::open(first), FailsWith(invalid, HasSubstr("'split.count' expects")));
  part.keys["split.count"] = 3u;
  part.keys.erase("split.no");
  replace(part, 0);
  EXPECT_THAT(GgufModel::open(first), FailsWith(notFound, HasSubstr("'split.no'")));
}

TEST_F(GgufModelTest, PartsThatContradictTheFirst) {
  ModelFile part = model.part(1, 3);
  part.keys["split.no"] = 2u;
  replace(part, 1);
  EXPECT_THAT(GgufModel::open(first),
              FailsWith(invalid, HasSubstr("model-00002-of-00003.gguf: metadata key 'split.no' "
                                           "expects 1, but got 2")));
  part.keys["split.count"] = 4u;
  replace(part, 1);
  EXPECT_THAT(GgufModel::open(first), FailsWith(invalid, HasSubstr("'split.count' expects 3, but "
                                                                   "got 4")));
  part.keys.erase("split.count");
  replace(part, 1);
  EXPECT_THAT(GgufModel::open(first), FailsWith(notFound, HasSubstr("'split.count'")));
}

TEST_F(GgufModelTest, ATensorInTwoParts) {
  ModelFile part = model.part(2, 3);
  part.tensors["blk.0.attn_k.weight"] = model.tensors["blk.0.attn_k.weight"];
  replace(part, 2);
  EXPECT_THAT(GgufModel::open(first),
              FailsWith(invalid, AllOf(HasSubstr("model-00003-of-00003.gguf: expects each tensor "
                                                 "in one part, but got 'blk.0.attn_k.weight' in"),
                                       HasSubstr("model-00001-of-00003.gguf, too"))));
}

TEST_F(GgufModelTest, AnotherNumberOfTensors) {
  ModelFile part = model.part(2, 3);
  part.tensors.erase(part.tensors.begin());
  replace(part, 2);
  EXPECT_THAT(GgufModel::open(first),
              FailsWith(invalid, HasSubstr("'split.tensors.count' expects the 20 tensors of all "
                                           "parts, but got 21")));
}

} // namespace
} // namespace tenon::frontends
