#ifndef TENON_TESTS_FUZZ_FUZZ_H
#define TENON_TESTS_FUZZ_FUZZ_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// The entry points of libFuzzer (https://llvm.org/docs/LibFuzzer.html). A harness defines the first
// and, where bytes need a structure to get anywhere, the second. Without libFuzzer, Replay.cpp calls
// the first with every file of the corpus and of tests/reproducers.

/// Must return 0, whatever the bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
/// Changes the first `size` bytes at `data`, which hold `maxSize`, and returns how many they are
/// now.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed);
/// libFuzzer's own changes, for custom mutators; needs `maxSize` > 0.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t maxSize);

namespace tenon::fuzz {

/// A file in memory that has a path, for readers that map one.
class MemoryFile {
public:
  explicit MemoryFile(std::span<const uint8_t> contents);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  const std::string& path() const { return filePath; }

private:
  int descriptor;
  std::string filePath;
};

/// Reports a finding: prints `what` and aborts unless `holds`.
void require(bool holds, std::string_view what);

} // namespace tenon::fuzz

#endif // TENON_TESTS_FUZZ_FUZZ_H
