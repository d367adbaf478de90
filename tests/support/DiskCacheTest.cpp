#include "support/DiskCache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/CacheFolder.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

/// Sets an environment variable while it lives.
class Variable {
public:
  Variable(const char* name, const std::string& value) : name(name) {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { unsetenv(name); }

private:
  const char* name;
};

class DiskCacheTest : public ::testing::Test {
protected:
  tests::TempFolder folder;
  DiskCache cache{folder.path("made/on/demand"), "o"};
  const std::string content = std::string(1000, 'a') + '\0';
};

TEST_F(DiskCacheTest, FindsWhatItStored) {
  EXPECT_FALSE(cache.find("a"));
  EXPECT_TRUE(cache.store("a", content));
  EXPECT_EQ(cache.find("a"), content);
  EXPECT_FALSE(cache.find("b"));
  EXPECT_TRUE(cache.store("b", ""));
  EXPECT_EQ(cache.find("b"), "");
}

TEST_F(DiskCacheTest, TakesDamagedEntriesForAbsent) {
  ASSERT_TRUE(cache.store("a", content));
  std::string path = cache.pathFor("a");
  auto size = std::filesystem::file_size(path);
  for (uintmax_t at = 0; at < size; at += 7) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    char byte = static_cast<char>(file.get());
    file.seekp(at);
    file.put(byte ^ 0x10);
    file.close();
    EXPECT_FALSE(cache.find("a")) << "byte " << at;
    file.open(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put(byte);
  }
  EXPECT_TRUE(cache.find("a"));
  for (uintmax_t length : {size - 1, uintmax_t{20}, uintmax_t{3}, uintmax_t{0}}) {
    std::filesystem::resize_file(path, length);
    EXPECT_FALSE(cache.find("a")) << length << " bytes";
  }
  EXPECT_TRUE(cache.store("a", content));
  EXPECT_TRUE(cache.find("a"));
}

TEST_F(DiskCacheTest, AnEntryOfAnotherKeyUnderItsNameCountsAsAbsent) {
  ASSERT_TRUE(cache.store("a", content));
  std::filesystem::copy_file(cache.pathFor("a"), cache.pathFor("b"));
  EXPECT_FALSE(cache.find("b"));
}

TEST_F(DiskCacheTest, ManyWritersLeaveOneWholeEntryAndNothingElse) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 20; ++j) {
        cache.store("a", content);
        EXPECT_TRUE(cache.find("a"));
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::filesystem::directory_iterator files(folder.path("made/on/demand"));
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

TEST_F(DiskCacheTest, WhereNothingCanBeWrittenThereIsNoEntry) {
  DiskCache nowhere("/proc/no-such-folder", "o");
  EXPECT_FALSE(nowhere.store("a", content));
  EXPECT_FALSE(nowhere.find("a"));
}

TEST_F(DiskCacheTest, WhatWasNotUsedForLongestGoesFirst) {
  constexpr size_t bytes = 1000;
  DiskCache small(folder.path("small"), "o", 40 * bytes);
  auto age = [&](const std::string& key, int hours) {
    std::filesystem::last_write_time(small.pathFor(key),
                                     std::filesystem::file_time_type::clock::now() -
                                         std::chrono::hours(hours));
  };
  for (int i = 0; i < 50; ++i) {
    std::string key = "key" + std::to_string(i);
    ASSERT_TRUE(small.store(key, std::string(bytes, 'x')));
    age(key, 1000 - i);
  }
  EXPECT_TRUE(small.find("key20")); // used now
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(small.store("new" + std::to_string(i % 8), std::string(bytes, 'x')));
  EXPECT_FALSE(small.find("key19"));
  EXPECT_TRUE(small.find("key20"));
  EXPECT_TRUE(small.find("key49"));
  EXPECT_TRUE(small.find("new7"));
}

/// What was left by a process that was killed.
TEST_F(DiskCacheTest, UnfinishedEntriesGoAfterADay) {
  std::filesystem::create_directories(folder.path("left"));
  auto leave = [&](const std::string& name, int hours) {
    std::string path = folder.write("left/" + name, "part of an entry");
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() -
                                               std::chrono::hours(hours));
    return path;
  };
  std::string old = leave("a.o.0123.tmp", 25), young = leave("b.o.0123.tmp", 23);
  DiskCache left(folder.path("left"), "o");
  for (int i = 0; i < 32; ++i) // as often as it is looked at
    ASSERT_TRUE(left.store("a", content));
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(young));
}

/// Entries are run as code.
TEST_F(DiskCacheTest, FolderAndEntriesAreThisUsersAlone) {
  namespace fs = std::filesystem;
  mode_t before = ::umask(0);
  EXPECT_TRUE(cache.store("a", content));
  ::umask(before);
  fs::path made = folder.path("made/on/demand"), entry = cache.pathFor("a");
  EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(entry).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(cache.find("a"));
  for (fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    fs::permissions(entry, others, fs::perm_options::add);
    EXPECT_FALSE(cache.find("a"));
    fs::permissions(entry, others, fs::perm_options::remove);
    EXPECT_TRUE(cache.find("a"));
    fs::permissions(made, others, fs::perm_options::add);
    EXPECT_FALSE(cache.find("a"));
    EXPECT_FALSE(cache.store("b", content));
    fs::permissions(made, others, fs::perm_options::remove);
  }
  if (::geteuid() != 0)
    GTEST_SKIP() << "another owner needs root";
  ASSERT_EQ(::chown(entry.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.find("a"));
  ASSERT_EQ(::chown(entry.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(made.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(cache.find("a"));
}

TEST_F(DiskCacheTest, NamesAreSecure) {
  // The example of FIPS 180-4.
  EXPECT_NE(
      cache.pathFor("abc").find("/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f200"
                                "15ad.o"),
      std::string::npos);
}

TEST_F(DiskCacheTest, WithoutAFolderThereIsNoCache) {
  DiskCache none("", "o");
  EXPECT_FALSE(none.store("a", content));
  EXPECT_FALSE(none.find("a"));
}

TEST(CacheFolder, FollowsTheEnvironment) {
  std::string home = getenv("HOME") ? getenv("HOME") : "";
  {
    Variable xdg("XDG_CACHE_HOME", "/x");
    EXPECT_EQ(cacheFolder(), "/x/tenon");
    Variable own("TENON_CACHE_DIR", "/own");
    EXPECT_EQ(cacheFolder(), "/own");
    Variable relative("TENON_CACHE_DIR", "own");
    testing::internal::CaptureStderr();
    EXPECT_EQ(cacheFolder(), "/x/tenon");
    EXPECT_EQ(cacheFolder(), "/x/tenon");
    EXPECT_EQ(
        testing::internal::GetCapturedStderr(),
        "tenon: warning: TENON_CACHE_DIR: expects an absolute path, but got 'own'; ignored\n");
    setenv("XDG_CACHE_HOME", "x", 1);
    setenv("HOME", "h", 1);
    EXPECT_EQ(cacheFolder(), "");
  }
  {
    Variable set("HOME", "/h");
    EXPECT_EQ(cacheFolder(), "/h/.cache/tenon");
  }
  EXPECT_EQ(cacheFolder(), "");
  {
    tests::TempFolder open;
    Variable own("TENON_CACHE_DIR", open.path("."));
    EXPECT_EQ(cacheFolder(), open.path("."));
    std::filesystem::permissions(open.path("."), std::filesystem::perms::all);
    testing::internal::CaptureStderr();
    EXPECT_EQ(cacheFolder(), "");
    EXPECT_NE(testing::internal::GetCapturedStderr().find("nothing is cached"), std::string::npos);
  }
  if (!home.empty())
    setenv("HOME", home.c_str(), 1);
}

} // namespace
} // namespace tenon
