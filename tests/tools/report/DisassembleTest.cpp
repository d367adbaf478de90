#include "tools/report/Disassemble.h"

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/StatusMatchers.h"
#include "tests/common/TempFolder.h"

namespace tenon::tools {
namespace {

using ::tenon::tests::FailsWith;
using ::testing::HasSubstr;

TEST(Disassemble, SaysWhatAMachineWithoutTheToolkitLacks) {
  tests::TempFolder empty;
  const std::string path = std::getenv("PATH");
  setenv("PATH", empty.path("").c_str(), 1);
  const bool hasToolkit = findDisassembler().has_value();
  absl::StatusOr<std::string> text = disassemble({});
  setenv("PATH", path.c_str(), 1);
  if (hasToolkit)
    GTEST_SKIP() << "this machine has the CUDA toolkit in its usual folder";
  EXPECT_THAT(text, FailsWith(absl::StatusCode::kFailedPrecondition,
                              HasSubstr("expects nvdisasm or cuobjdump of the CUDA toolkit on PATH "
                                        "or in /usr/local/cuda/bin")));
}

} // namespace
} // namespace tenon::tools
