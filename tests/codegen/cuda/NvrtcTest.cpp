#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "codegen/cuda/CubinCache.h"
#include "codegen/cuda/Nvrtc.h"
#include "support/CacheFolder.h"
#include "support/SecureHash.h"
#include "tests/common/TempFolder.h"

namespace tenon::codegen::cuda {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* copySource = "extern \"C\" __global__ void copy(const float* a, float* b) { "
                                   "b[threadIdx.x] = a[threadIdx.x]; }";

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

TEST(PtxasLog, ReadsResourcesOfEveryKernel) {
  std::vector<KernelResources> kernels = parsePtxasLog(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_90a'\n"
      "ptxas info    : Function properties for a\n"
      "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_90a'\n"
      "ptxas info    : Used 12 registers, used 0 barriers\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0], (KernelResources{"a", 40, 16, 8, 12, 1024}));
  EXPECT_EQ(kernels[1], (KernelResources{"b", 12, 0, 0, 0, 0}));
}

TEST(PtxasLog, SurvivesTextThatIsNoLog) {
  EXPECT_TRUE(parsePtxasLog("").empty());
  EXPECT_TRUE(parsePtxasLog("registers\nstack frame").empty());
  EXPECT_EQ(parsePtxasLog("Compiling entry function 'x").size(), 1u);
  EXPECT_EQ(parsePtxasLog("Compiling entry function 'x'\n999999999999999 registers")[0].registers,
            0);
}

class NvrtcTest : public ::testing::Test {
protected:
  void SetUp() override {
    absl::StatusOr<const Nvrtc*> opened = Nvrtc::get();
    if (!opened.ok())
      GTEST_SKIP() << opened.status();
    nvrtc = *opened;
  }
  const Nvrtc* nvrtc = nullptr;
  tests::TempFolder folder;
};

TEST(Nvrtc, SaysWhatAMachineWithoutItLacks) {
  const std::string paths[] = {"libtenon-missing.so.1", "/tenon/missing.so"};
  std::string message(Nvrtc::open(paths).status().message());
  EXPECT_THAT(message, HasSubstr("cannot open NVRTC, the compiler of kernels for NVIDIA GPUs"));
  EXPECT_THAT(message, HasSubstr("but libtenon-missing.so.1: "));
  EXPECT_THAT(message, HasSubstr("; /tenon/missing.so: "));
}

TEST_F(NvrtcTest, CompilesForEachArchitectureWithoutAGpu) {
  for (const char* architecture : {"sm_80", "sm_90a", "sm_100a"}) {
    absl::StatusOr<CompiledSource> compiled = nvrtc->compile(copySource, "copy", architecture);
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    ASSERT_EQ(compiled->kernels.size(), 1u);
    EXPECT_EQ(compiled->kernels[0].symbol, "copy");
    EXPECT_GT(compiled->kernels[0].registers, 0);
    ASSERT_GT(compiled->cubin.size(), 4u);
    EXPECT_EQ(static_cast<char>(compiled->cubin[1]), 'E'); // an ELF file
    EXPECT_THAT(compiled->ptx, HasSubstr(".visible .entry copy"));
  }
}

TEST_F(NvrtcTest, ErrorsCarryTheLogAndKeepTheSource) {
  Variable cache("TENON_CACHE_DIR", folder.path("cache"));
  absl::StatusOr<CompiledSource> compiled = nvrtc->compile("broken code", "bad", "sm_90a");
  ASSERT_FALSE(compiled.ok());
  std::string message(compiled.status().message());
  EXPECT_THAT(message, HasSubstr("kernel bad does not compile for sm_90a"));
  EXPECT_THAT(message, HasSubstr("bad.cu(1): error"));
  std::filesystem::directory_iterator kept(folder.path("cache"));
  ASSERT_NE(kept, std::filesystem::directory_iterator());
  EXPECT_THAT(message, HasSubstr(kept->path().string()));
  std::stringstream text;
  text << std::ifstream(kept->path()).rdbuf();
  EXPECT_EQ(text.str(), "broken code");
}

TEST_F(NvrtcTest, RefusesAnUnknownArchitecture) {
  Variable cache("TENON_CACHE_DIR", folder.path("cache"));
  EXPECT_THAT(std::string(nvrtc->compile(copySource, "copy", "sm_1").status().message()),
              HasSubstr("does not compile for sm_1"));
}

TEST_F(NvrtcTest, TakesASecondCompilationFromTheCache) {
  Variable cache("TENON_CACHE_DIR", folder.path("made/on/demand"));
  absl::StatusOr<CompiledSource> first = compileCached(copySource, "copy", "sm_90a");
  ASSERT_TRUE(first.ok()) << first.status();
  CubinCache entries(cacheFolder());
  std::optional<CompiledSource> found = entries.find(cubinKey(*nvrtc, copySource, "sm_90a"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->cubin, first->cubin);
  EXPECT_EQ(found->kernels, first->kernels);
  EXPECT_EQ(found->ptx, first->ptx);
}

TEST_F(NvrtcTest, KeysTellWhatIsCompiled) {
  const std::string source = "#include \"memory.cuh\"\n";
  const std::string key = cubinKey(*nvrtc, source, "sm_90a");
  for (const DeviceHeader& header : deviceHeaders()) {
    bool included = header.name == "memory.cuh" || header.name == "types.cuh";
    EXPECT_EQ(key.find(hashSecurely(header.text)) != key.npos, included) << header.name;
  }
  EXPECT_NE(key, cubinKey(*nvrtc, source, "sm_80"));
  EXPECT_NE(key, cubinKey(*nvrtc, source + " ", "sm_90a"));
}

/// No device header includes another in a way that `includedHeaders` does not see.
TEST(DeviceHeaders, IncludeWhatKeysKnow) {
  for (const DeviceHeader& header : deviceHeaders()) {
    SCOPED_TRACE(header.name);
    std::set<std::string_view> reached = includedHeaders(header.text);
    std::istringstream lines{std::string(header.text)};
    const std::regex any(R"re(\s*#\s*include.*)re"), known(R"re(#include "([^"]+)")re");
    for (std::string line; std::getline(lines, line);) {
      std::smatch match;
      if (!std::regex_match(line, any))
        continue;
      ASSERT_TRUE(std::regex_match(line, match, known)) << line;
      EXPECT_THAT(reached, Contains(match.str(1)));
    }
  }
  EXPECT_THAT(includedHeaders("#include \"reduce.cuh\"\n"), ElementsAre("reduce.cuh", "types.cuh"));
  EXPECT_THAT(includedHeaders("#include \"unknown.cuh\"\n// #include \"types.cuh\""), IsEmpty());
}

CompiledSource makeEntry(char fill) {
  CompiledSource entry;
  entry.cubin.assign(1000, static_cast<std::byte>(fill));
  entry.ptx = "ptx";
  entry.kernels = {{"k", 1, 2, 3, 4, 5}};
  return entry;
}

class CubinCacheTest : public ::testing::Test {
protected:
  tests::TempFolder folder;
  CubinCache cache{folder.path("cache")};
};

TEST_F(CubinCacheTest, FindsWhatItStored) {
  EXPECT_FALSE(cache.find("a"));
  EXPECT_TRUE(cache.store("a", makeEntry('a')));
  ASSERT_TRUE(cache.find("a"));
  EXPECT_EQ(cache.find("a")->cubin, makeEntry('a').cubin);
  EXPECT_EQ(cache.find("a")->kernels, makeEntry('a').kernels);
  EXPECT_FALSE(cache.find("b"));
}

} // namespace
} // namespace tenon::codegen::cuda
