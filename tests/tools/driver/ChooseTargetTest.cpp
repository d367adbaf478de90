// The targets that stand for machines which this one is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/Dialect.h"
#include "tests/common/StatusMatchers.h"
#include "tools/driver/BuildParts.h"
#include "tools/driver/CompileModel.h"

namespace tenon::tools {
namespace {

using ::tenon::tests::FailsWith;

class ChooseTarget : public testing::Test {
protected:
  static std::string nameOf(const absl::StatusOr<TargetAttr>& target) {
    return target.ok() ? target->getName().str() : std::string(target.status().message());
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(ChooseTarget, OfACpuByItsFeatures) {
  llvm::StringMap<bool> features;
  for (const char* feature : {"cmov",   "cx8",  "fxsr",   "mmx",    "sse",   "sse2", "cx16", "sahf",
                              "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "avx",  "avx2", "bmi",
                              "bmi2",   "f16c", "fma",    "lzcnt",  "movbe", "xsave"})
    features[feature] = true;
  EXPECT_EQ(nameOf(chooseCpuTarget(context, features)), "x86-64-v3");
  features["fma"] = false;
  EXPECT_THAT(chooseCpuTarget(context, features),
              FailsWith(absl::StatusCode::kNotFound,
                        "--target=cpu: this CPU has the features of no known target"));
}

#ifdef TENON_CUDA
TEST_F(ChooseTarget, OfAGpuByItsNameOrArchitecture) {
  auto choose = [&](const char* name, int major, int minor) {
    runtime::CudaDeviceInfo gpu;
    gpu.name = name, gpu.capabilityMajor = major, gpu.capabilityMinor = minor;
    return nameOf(chooseGpuTarget(context, std::span(&gpu, 1)));
  };
  EXPECT_EQ(choose("NVIDIA H200", 9, 0), "h200");
  EXPECT_EQ(choose("NVIDIA H100 80GB HBM3", 9, 0), "h100");
  EXPECT_EQ(choose("NVIDIA A800", 8, 0), "a100");
  EXPECT_EQ(choose("Tesla T4", 7, 5),
            "--target=cuda: no target for Tesla T4, compute capability 7.5");
  EXPECT_EQ(nameOf(chooseGpuTarget(context, {})),
            "--device=cuda: expects an NVIDIA GPU, but found none");
}
#endif

TEST(BuildParts, AreNamedWhereTheyLack) {
  EXPECT_THAT(
      lacksPart("calibrate", "CUDA runtime"),
      FailsWith(absl::StatusCode::kUnimplemented, "calibrate: this build has no CUDA runtime"));
}

} // namespace
} // namespace tenon::tools
