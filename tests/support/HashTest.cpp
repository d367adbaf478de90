#include "support/Hash.h"

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include "absl/strings/str_format.h"
#include "support/DiskCache.h"
#include "support/Fingerprint.h"
#include "tests/common/TempFolder.h"

namespace tenon {
namespace {

std::span<const std::byte> bytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

// Programs store hashes, so the function must never change.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hashBytes({}), 0x2D06800538D394C2u);
  EXPECT_EQ(hashBytes(bytesOf("abc")), 0x78AF5F94892F3950u);
}

TEST(Hash, DependsOnEveryByte) {
  std::string text(300, 'a');
  uint64_t whole = hashBytes(bytesOf(text));
  for (char& character : text) {
    character = 'b';
    EXPECT_NE(hashBytes(bytesOf(text)), whole);
    character = 'a';
  }
}

TEST(Fingerprint, SeesEveryByte) {
  std::string large(40 << 20, 'a');
  uint64_t whole = fingerprintFile(bytesOf(large));
  EXPECT_NE(fingerprintFile(bytesOf(large).first(large.size() - 1)), whole);
  for (size_t position : {size_t(0), size_t(17) << 20, size_t(31) << 20, large.size() - 1}) {
    large[position] = 'b';
    EXPECT_NE(fingerprintFile(bytesOf(large)), whole);
    large[position] = 'a';
  }
  std::string small(2 << 20, 'a');
  uint64_t smallWhole = fingerprintFile(bytesOf(small));
  small[1234567] = 'b';
  EXPECT_NE(fingerprintFile(bytesOf(small)), smallWhole);
}

/// Read once a file: a second look takes the stamp, which is kept under the file's identity.
TEST(Fingerprint, OfAFileIsStamped) {
  namespace fs = std::filesystem;
  tests::TempFolder folder;
  setenv("TENON_CACHE_DIR", folder.path("cache").c_str(), 1);
  std::string bytes(20 << 20, 'a');
  auto open = [&] { return MappedFile::open(folder.path("model")).value(); };
  folder.write("model", bytes);
  EXPECT_EQ(fingerprintFile(*open()), fingerprintFile(bytesOf(bytes)));
  EXPECT_FALSE(fs::exists(folder.path("cache"))); // too young to tell it from another write
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  EXPECT_EQ(fingerprintFile(*open()), fingerprintFile(bytesOf(bytes)));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path("cache")), {}), 1);

  // A stamp that another process left is believed: this one says 7.
  std::string moved = folder.path("moved");
  fs::rename(folder.path("model"), moved); // changes the identity
  std::this_thread::sleep_for(std::chrono::milliseconds(2100));
  auto file = MappedFile::open(moved).value();
  const FileIdentity& identity = file->identity();
  uint64_t seven = 7;
  ASSERT_TRUE(DiskCache(folder.path("cache"), "stamp")
                  .store(absl::StrFormat("fingerprint of %u:%u, %u bytes, modified %d, changed %d",
                                         identity.device, identity.inode, identity.bytes,
                                         identity.modifiedNs, identity.changedNs),
                         {reinterpret_cast<const char*>(&seven), sizeof(seven)}));
  EXPECT_EQ(fingerprintFile(*file), 7u);

  // One byte changed in place, the times set back: the file system's own clock tells.
  auto times = fs::last_write_time(moved);
  std::fstream stream(moved, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(10 << 20);
  stream.put('b');
  stream.close();
  fs::last_write_time(moved, times);
  bytes[10 << 20] = 'b';
  EXPECT_EQ(fingerprintFile(*MappedFile::open(moved).value()), fingerprintFile(bytesOf(bytes)));
  unsetenv("TENON_CACHE_DIR");
}

} // namespace
} // namespace tenon
