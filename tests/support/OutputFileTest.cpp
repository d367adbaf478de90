#include "support/OutputFile.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <thread>

#include "support/MappedFile.h"
#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tests::FailsWith;
using tests::IsOk;
constexpr absl::StatusCode invalid = absl::StatusCode::kInvalidArgument;

class OutputFileTest : public ::testing::Test {
protected:
  tests::TempFolder folder;
  std::string path = folder.path("out");
};

TEST_F(OutputFileTest, AppearsWholeAndAlone) {
  auto file = OutputFile::create(path);
  ASSERT_THAT(file, IsOk());
  EXPECT_THAT((*file)->write("some "), IsOk());
  EXPECT_THAT((*file)->writeZeros(5000), IsOk());
  EXPECT_THAT((*file)->write("bytes"), IsOk());
  EXPECT_EQ((*file)->size(), 5010u);
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THAT((*file)->finish(), IsOk());
  EXPECT_THAT(folder.names(), ElementsAre("out"));
  EXPECT_EQ(tests::readFile(path), "some " + std::string(5000, '\0') + "bytes");
}

TEST_F(OutputFileTest, UnfinishedLeavesTheOldFile) {
  folder.write("out", "old");
  {
    auto file = OutputFile::create(path);
    ASSERT_THAT(file, IsOk());
    EXPECT_THAT((*file)->write("new"), IsOk());
  }
  EXPECT_THAT(folder.names(), ElementsAre("out"));
  EXPECT_EQ(tests::readFile(path), "old");
}

/// Each writer has a name of its own: whoever finishes last wins, and the file is one of the two.
TEST_F(OutputFileTest, WritersOfOnePathDoNotMeet) {
  auto first = OutputFile::create(path), second = OutputFile::create(path);
  ASSERT_THAT(first, IsOk());
  ASSERT_THAT(second, IsOk());
  EXPECT_THAT((*first)->write("fir"), IsOk());
  EXPECT_THAT((*second)->write("second"), IsOk());
  EXPECT_THAT((*second)->finish(), IsOk());
  EXPECT_THAT((*first)->write("st"), IsOk());
  EXPECT_EQ(tests::readFile(path), "second");
  EXPECT_THAT((*first)->finish(), IsOk());
  EXPECT_EQ(tests::readFile(path), "first");
  EXPECT_THAT(folder.names(), ElementsAre("out"));
}

TEST_F(OutputFileTest, FollowsLinks) {
  fs::create_directory(folder.path("other"));
  fs::create_symlink("other/target", path);
  EXPECT_THAT(writeFile(path, "new file"), IsOk()); // the link led to nothing
  EXPECT_EQ(tests::readFile(folder.path("other/target")), "new file");
  EXPECT_THAT(writeFile(path, "again"), IsOk());
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_EQ(tests::readFile(folder.path("other/target")), "again");
  fs::create_symlink(folder.path("round"), folder.path("round"));
  EXPECT_THAT(writeFile(folder.path("round"), ""),
              FailsWith(absl::StatusCode::kUnknown, HasSubstr("round: cannot write")));
}

/// An entry of a cache in a folder of others must not be led elsewhere.
TEST_F(OutputFileTest, OfACacheReplacesLinks) {
  folder.write("target", "mine");
  fs::create_symlink("target", path);
  EXPECT_THAT(writeFile(path, "entry", OutputFile::Durability::Cached), IsOk());
  EXPECT_FALSE(fs::is_symlink(path));
  EXPECT_EQ(tests::readFile(folder.path("target")), "mine");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(OutputFileTest, KeepsPermissions) {
  folder.write("out", "old");
  fs::permissions(path, fs::perms::owner_all);
  EXPECT_THAT(writeFile(path, "new"), IsOk());
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
}

TEST_F(OutputFileTest, WritesIntoWhatIsNoFile) {
  fs::create_symlink("/dev/null", path);
  EXPECT_THAT(writeFile(path, "lost"), IsOk());
  EXPECT_TRUE(fs::is_character_file(path));
  EXPECT_THAT(writeFile("/dev/full", "text"), FailsWith(absl::StatusCode::kResourceExhausted,
                                                        HasSubstr("/dev/full: cannot write")));
  std::string pipe = folder.path("pipe"), received;
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader([&] { received = tests::readFile(pipe); });
  EXPECT_THAT(writeFile(pipe, "through a pipe"), IsOk());
  reader.join();
  EXPECT_EQ(received, "through a pipe");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST_F(OutputFileTest, Refusals) {
  EXPECT_THAT(checkOutput(""), FailsWith(invalid, HasSubstr("got an empty name")));
  EXPECT_THAT(writeFile("", "x"), FailsWith(invalid, HasSubstr("got an empty name")));
  EXPECT_THAT(checkOutput(folder.path("no/such/out")),
              FailsWith(absl::StatusCode::kNotFound, HasSubstr("no/such/out: cannot write")));
  EXPECT_THAT(checkOutput(folder.path("")), FailsWith(absl::StatusCode::kFailedPrecondition,
                                                      HasSubstr("cannot write: Is a directory")));
  EXPECT_THAT(checkOutput(folder.path("folder/")),
              FailsWith(absl::StatusCode::kFailedPrecondition, HasSubstr("cannot write")));
  EXPECT_THAT(checkOutput(path), IsOk());
  folder.write("in", "weights");
  fs::create_symlink("in", folder.path("link"));
  fs::create_hard_link(folder.path("in"), folder.path("hard"));
  for (const char* name : {"in", "link", "hard"})
    EXPECT_THAT(checkOutput(folder.path(name), std::array{folder.path("in")}),
                FailsWith(invalid, AllOf(HasSubstr(name), HasSubstr("is the same file"))));
  folder.write("other", "");
  EXPECT_THAT(checkOutput(folder.path("other"), std::array{folder.path("in"), std::string()}),
              IsOk());
  if (::geteuid() == 0)
    GTEST_SKIP() << "root may write anywhere";
  fs::permissions(folder.path("in"), fs::perms::owner_read);
  EXPECT_THAT(checkOutput(folder.path("in")),
              FailsWith(absl::StatusCode::kPermissionDenied, HasSubstr("cannot write")));
}

TEST_F(OutputFileTest, UnfinishedFilesCanBeRemovedAtTheEndOfAProcess) {
  auto finished = OutputFile::create(folder.path("finished"));
  ASSERT_THAT((*finished)->finish(), IsOk());
  auto unfinished = OutputFile::create(path);
  EXPECT_EQ(folder.names().size(), 2u);
  removeTemporaryFiles();
  EXPECT_THAT(folder.names(), ElementsAre("finished"));
}

} // namespace
} // namespace tenon
