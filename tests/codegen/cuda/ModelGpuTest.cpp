#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "ir/Dialect.h"
#include "mlir/IR/MLIRContext.h"
#include "runtime/cuda/CudaExecutor.h"
#include "tools/common/CompileModel.h"
#include "tools/common/ModelInput.h"
#include "tools/common/ReferenceExecutor.h"

namespace tenon::testing {
namespace {

struct ModelCase {
  const char* name;
  const char* file;
  /// |a − b| ≤ tolerance · max |b| over the logits of a call.
  double tolerance;
};

class CudaModelTest : public ::testing::TestWithParam<ModelCase> {};

/// Calls function `index` with tokens and positions that continue over `calls` calls, on both
/// executors; compares the logits each time.
void compareCalls(runtime::Executor& cuda, runtime::Executor& reference, size_t index, int calls,
                  double tolerance) {
  const runtime::Function& function = cuda.program().functions[index];
  int32_t next = 0;
  for (int call = 0; call < calls; ++call) {
    std::vector<std::vector<int32_t>> values;
    std::vector<std::span<const std::byte>> inputs;
    for (const runtime::Port& port : function.inputs) {
      std::vector<int32_t>& input = values.emplace_back(port.bytes / sizeof(int32_t));
      for (size_t i = 0; i < input.size(); ++i)
        input[i] = port.name == "ids"         ? (37 * (next + i) + 11) % 500
                   : port.name == "positions" ? next + i
                                              : 0;
    }
    next += function.rows;
    for (const std::vector<int32_t>& input : values)
      inputs.push_back(std::as_bytes(std::span(input)));
    std::vector<float> got(function.outputs[0].bytes / sizeof(float)), want(got.size());
    std::span<std::byte> gotBytes = std::as_writable_bytes(std::span(got));
    std::span<std::byte> wantBytes = std::as_writable_bytes(std::span(want));
    absl::Status status = cuda.run(index, inputs, {&gotBytes, 1});
    ASSERT_TRUE(status.ok()) << status;
    status = reference.run(index, inputs, {&wantBytes, 1});
    ASSERT_TRUE(status.ok()) << status;
    double largest = 0, worst = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      largest = std::max<double>(largest, std::fabs(want[i]));
      worst = std::max<double>(worst, std::fabs(got[i] - want[i]));
    }
    EXPECT_LE(worst, tolerance * largest) << function.name << ", call " << call;
  }
}

TEST_P(CudaModelTest, LogitsEqualTheReference) {
  auto context = tools::makeContext();
  tools::ModelInputOptions options;
  options.path = std::string(TENON_TEST_DATA) + "/" + GetParam().file;
  auto module = tools::readModel(*context, options);
  ASSERT_TRUE(module.ok()) << module.status();
  auto target = tools::chooseTarget(*context, "h200");
  ASSERT_TRUE(target.ok()) << target.status();
  auto program = tools::compileModel(**module, *target);
  ASSERT_TRUE(program.ok()) << program.status();
  auto reference = tools::ReferenceExecutor::create(**module);
  ASSERT_TRUE(reference.ok()) << reference.status();
  auto cuda = runtime::CudaExecutor::create(*std::move(program), {});
  if (absl::IsNotFound(cuda.status()))
    GTEST_SKIP() << "no GPU: " << cuda.status();
  ASSERT_TRUE(cuda.ok()) << cuda.status();
  for (size_t index = 0; index < (*cuda)->program().functions.size(); ++index) {
    ASSERT_TRUE((*cuda)->resetStates().ok());
    ASSERT_TRUE((*reference)->resetStates().ok());
    compareCalls(**cuda, **reference, index, 3, GetParam().tolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, CudaModelTest,
    ::testing::Values(ModelCase{"stories_f32", "stories260K/stories260K.gguf", 1e-4},
                      ModelCase{"stories_f16", "stories260K/stories260K-f16.gguf", 1e-4},
                      ModelCase{"stories_q8_0", "stories260K/stories260K-q8_0.gguf", 1e-4},
                      ModelCase{"stories_q4_0", "stories260K/stories260K-q4_0.gguf", 1e-4},
                      ModelCase{"neox_f32", "tiny-neox/tiny-neox-262k-f32.gguf", 1e-4}),
    [](const auto& info) { return info.param.name; });

} // namespace
} // namespace tenon::testing
