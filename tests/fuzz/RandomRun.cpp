// Runs a harness on inputs changed at random, without libFuzzer and its instrumented build: each in a
// process of its own with limits of memory and time. What ends by a signal or passes a limit is kept.
//
// fuzz_NAME_random SECONDS SEED FINDINGS CORPUS...
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "tests/fuzz/Fuzz.h"

namespace {

using Bytes = std::vector<uint8_t>;

Bytes readBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Bytes changed(Bytes bytes, std::mt19937& random) {
  constexpr size_t most = 1 << 20;
  size_t size = bytes.size();
  bytes.resize(most);
  bytes.resize(LLVMFuzzerCustomMutator(bytes.data(), size, most, random()));
  return bytes;
}

void limit(int resource, rlim_t most) {
  rlimit limits = {most, most};
  ::setrlimit(resource, &limits);
}

/// Runs the harness in a child; its status as `waitpid` gives it.
int runLimited(const Bytes& bytes) {
  constexpr rlim_t mostMemory = rlim_t{2} << 30, mostSeconds = 10;
  pid_t child = ::fork();
  if (child == 0) {
    limit(RLIMIT_AS, mostMemory);
    limit(RLIMIT_CPU, mostSeconds);
    limit(RLIMIT_CORE, 0);
    ::_exit(LLVMFuzzerTestOneInput(bytes.data(), bytes.size()));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void keep(const Bytes& bytes, const std::filesystem::path& folder, uint64_t run, int status) {
  std::filesystem::path path = folder / (std::to_string(run) + "-status-" + std::to_string(status));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  std::printf("finding: %s\n", path.c_str());
  std::fflush(stdout);
}

} // namespace

int main(int argc, char** argv) {
  constexpr int leastArguments = 5;
  if (argc < leastArguments) {
    std::fprintf(stderr, "usage: %s SECONDS SEED FINDINGS CORPUS...\n", argv[0]);
    return 2;
  }
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  std::mt19937 random(static_cast<unsigned>(std::atoi(argv[2])));
  std::filesystem::path findings = argv[3];
  std::filesystem::create_directories(findings);
  std::vector<Bytes> corpus;
  for (int i = leastArguments - 1; i < argc; ++i)
    for (const auto& entry : std::filesystem::directory_iterator(argv[i]))
      corpus.push_back(readBytes(entry.path()));
  uint64_t runs = 0, found = 0;
  for (; !corpus.empty() && std::chrono::steady_clock::now() < end; ++runs) {
    Bytes bytes = changed(corpus[random() % corpus.size()], random);
    if (int status = runLimited(bytes); status != 0) {
      keep(bytes, findings, runs, status);
      ++found;
    }
  }
  std::printf("%llu inputs, %llu findings\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(found));
  return found == 0 ? 0 : 1;
}

/// What custom mutators ask libFuzzer for: one byte is changed.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t) {
  static std::mt19937 random(1);
  if (size > 0)
    data[random() % size] = static_cast<uint8_t>(random());
  return size;
}
