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
