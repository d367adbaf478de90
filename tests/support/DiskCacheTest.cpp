#include "support/DiskCache.h"

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
  EXPECT_FALSE(writeAtomically("/dev/full/x", "text")); // not a folder
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
  }
  {
    Variable set("HOME", "/h");
    EXPECT_EQ(cacheFolder(), "/h/.cache/tenon");
  }
  EXPECT_EQ(cacheFolder(), "");
  if (!home.empty())
    setenv("HOME", home.c_str(), 1);
}

} // namespace
} // namespace tenon
