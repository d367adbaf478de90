// Runs a harness over files, without libFuzzer: its corpus, and what was found with it before.

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <vector>

#include "tests/common/TempFolder.h"
#include "tests/fuzz/Fuzz.h"

namespace tenon::fuzz {
namespace {

/// The files of all `folders`, each of which ends with a colon.
std::vector<std::filesystem::path> filesIn(const std::string& folders) {
  std::vector<std::filesystem::path> files;
  std::istringstream list(folders);
  for (std::string folder; std::getline(list, folder, ':');)
    if (std::filesystem::exists(folder))
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// Runs all files of `folders` and returns how many there are.
size_t replay(const std::string& folders) {
  std::vector<std::filesystem::path> files = filesIn(folders);
  for (const std::filesystem::path& path : files) {
    SCOPED_TRACE(path);
    // A finding aborts: the name must be out before.
    std::fprintf(stderr, "%s\n", path.filename().c_str());
    std::string bytes = tests::readFile(path);
    EXPECT_EQ(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()),
              0);
  }
  return files.size();
}

TEST(Fuzz, ReplaysTheCorpus) { EXPECT_GT(replay(TENON_FUZZ_CORPUS), 0u); }

#ifdef TENON_FUZZ_REPRODUCERS // the harness has had findings
TEST(Fuzz, ReplaysEarlierFindings) { EXPECT_GT(replay(TENON_FUZZ_REPRODUCERS), 0u); }
#endif

TEST(Fuzz, AcceptsNoBytes) { EXPECT_EQ(LLVMFuzzerTestOneInput(nullptr, 0), 0); }

} // namespace
} // namespace tenon::fuzz

// Custom mutators call it; nothing here calls them.
extern "C" size_t LLVMFuzzerMutate(uint8_t*, size_t size, size_t) { return size; }
