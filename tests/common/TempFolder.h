#ifndef TENON_TESTS_COMMON_TEMPFOLDER_H
#define TENON_TESTS_COMMON_TEMPFOLDER_H

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace tenon::tests {

/// A folder of its own for a test, removed with what it holds.
class TempFolder {
public:
  TempFolder() {
    std::string pattern = ::testing::TempDir() + "tenon-XXXXXX";
    if (char* made = ::mkdtemp(pattern.data()))
      folder = made;
    else
      ADD_FAILURE() << "cannot create " << pattern;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(std::string_view name) const { return folder + "/" + std::string(name); }

  /// Writes a file and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary).write(bytes.data(), std::ssize(bytes));
    return path(name);
  }

  /// What lies in it, sorted.
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      found.push_back(entry.path().filename().string());
    std::ranges::sort(found);
    return found;
  }

private:
  std::string folder;
};

/// All bytes of a file; a failure where it cannot be read.
inline std::string readFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace tenon::tests

#endif // TENON_TESTS_COMMON_TEMPFOLDER_H
