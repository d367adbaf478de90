#include "runtime/cuda/internal/AlgorithmStore.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/TempFolder.h"

namespace tenon::runtime::internal {
namespace {

using testing::Optional;

const std::vector<std::byte> algorithm = {std::byte{1}, std::byte{2}, std::byte{3}};

TEST(AlgorithmStore, KeepsAlgorithmsForLaterLoads) {
  tests::TempFolder folder;
  AlgorithmStore first(folder.path("cache"));
  EXPECT_EQ(first.find("a", 3), std::nullopt);
  EXPECT_TRUE(first.store("a", algorithm));
  EXPECT_THAT(AlgorithmStore(folder.path("cache")).find("a", 3), Optional(algorithm));
  EXPECT_EQ(AlgorithmStore(folder.path("cache")).find("b", 3), std::nullopt);
  EXPECT_EQ(AlgorithmStore(folder.path("cache")).find("a", 4), std::nullopt);
}

TEST(AlgorithmStore, KeepsThemInMemoryWithoutAFolder) {
  AlgorithmStore store("");
  EXPECT_FALSE(store.store("a", algorithm));
  EXPECT_THAT(store.find("a", 3), Optional(algorithm));
  EXPECT_EQ(store.find("a", 2), std::nullopt);
  AlgorithmStore unwritable("/dev/null/cache");
  EXPECT_FALSE(unwritable.store("a", algorithm));
  EXPECT_THAT(unwritable.find("a", 3), Optional(algorithm));
}

TEST(AlgorithmStore, IgnoresDamagedFiles) {
  tests::TempFolder folder;
  AlgorithmStore store(folder.path("cache"));
  ASSERT_TRUE(store.store("key", algorithm));
  const std::string path = store.pathFor("key");
  const auto size = std::filesystem::file_size(path);
  for (uintmax_t at = 0; at < size; ++at) {
    ASSERT_TRUE(store.store("key", algorithm));
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    char byte = static_cast<char>(file.get() ^ 0x10);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte).flush();
    EXPECT_EQ(AlgorithmStore(folder.path("cache")).find("key", 3), std::nullopt) << at;
  }
  std::filesystem::resize_file(path, size - 1);
  EXPECT_EQ(AlgorithmStore(folder.path("cache")).find("key", 3), std::nullopt);
}

} // namespace
} // namespace tenon::runtime::internal
