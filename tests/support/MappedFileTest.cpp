#include "support/MappedFile.h"

#include <sys/stat.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;

TEST(MappedFile, ShowsTheBytes) {
  tests::TempFolder folder;
  std::string path = folder.write("file", "some bytes");
  auto file = MappedFile::open(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->path(), path);
  std::span<const std::byte> bytes = (*file)->bytes();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "some bytes");
}

TEST(MappedFile, KnowsWhichFileAnAddressIsOf) {
  tests::TempFolder folder;
  auto file = MappedFile::open(folder.write("file", std::string(5000, 'x')));
  ASSERT_THAT(file, IsOk());
  const std::byte* begin = (*file)->bytes().data();
  EXPECT_STREQ(findMappedPath(begin + 4999), folder.path("file").c_str());
  EXPECT_EQ(findMappedPath(begin + 5000), nullptr);
  EXPECT_EQ(findMappedPath(nullptr), nullptr);
  file->reset();
  EXPECT_EQ(findMappedPath(begin), nullptr);
}

TEST(MappedFile, IdentityIsThatOfTheFile) {
  tests::TempFolder folder;
  auto first = MappedFile::open(folder.write("a", "text")),
       same = MappedFile::open(folder.path("a"));
  auto other = MappedFile::open(folder.write("b", "text"));
  ASSERT_THAT(other, IsOk());
  EXPECT_TRUE((*first)->isFile());
  EXPECT_EQ((*first)->identity().bytes, 4u);
  EXPECT_EQ((*first)->identity().inode, (*same)->identity().inode);
  EXPECT_EQ((*first)->identity().changedNs, (*same)->identity().changedNs);
  EXPECT_NE((*first)->identity().inode, (*other)->identity().inode);
}

TEST(MappedFile, OfPieces) {
  // More than the machine has, of which three bytes are touched.
  uint64_t size = uint64_t{1} << 40;
  const MappedFile::Piece pieces[] = {{0, {std::byte{1}, std::byte{2}}},
                                      {size - 1, {std::byte{3}}}};
  auto file = MappedFile::ofPieces("a shape", size, pieces);
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ((*file)->path(), "a shape");
  EXPECT_FALSE((*file)->isFile());
  ASSERT_EQ((*file)->bytes().size(), size);
  EXPECT_EQ((*file)->bytes()[1], std::byte{2});
  EXPECT_EQ((*file)->bytes()[size / 2], std::byte{0});
  EXPECT_EQ((*file)->bytes()[size - 1], std::byte{3});
}

TEST(MappedFile, FirstBytes) {
  tests::TempFolder folder;
  std::string path = folder.write("file", "GGUF and more");
  EXPECT_EQ(readFileStart(path, 4).value(), "GGUF");
  EXPECT_EQ(readFileStart(path, 100).value(), "GGUF and more");
  std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(readFileStart(pipe, 4),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("expects a regular file")));
}

TEST(MappedFile, EmptyFileIsAnEmptySpan) {
  tests::TempFolder folder;
  auto file = MappedFile::open(folder.write("empty", ""));
  ASSERT_THAT(file, IsOk());
  EXPECT_TRUE((*file)->bytes().empty());
}

TEST(MappedFile, RefusesWhatIsNoFile) {
  tests::TempFolder folder;
  std::string missing = folder.path("missing");
  EXPECT_THAT(
      MappedFile::open(missing),
      FailsWith(absl::StatusCode::kNotFound, AllOf(HasSubstr(missing), HasSubstr("cannot open"))));
  EXPECT_THAT(MappedFile::open(folder.path("")),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("expects a regular file")));
  std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(MappedFile::open(pipe),
              FailsWith(absl::StatusCode::kInvalidArgument, HasSubstr("expects a regular file")));
}

} // namespace
} // namespace tenon
