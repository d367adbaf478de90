// ggml's operator cases on the GPU, each within the tolerance of ggml's own test.

#include <gtest/gtest.h>

#include <algorithm>

#include "codegen/cuda/CompileForCuda.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "runtime/cuda/CudaExecutor.h"
#include "runtime/cuda/Devices.h"
#include "tests/codegen/cuda/GgmlCudaRows.h"
#include "tests/common/StatusMatchers.h"
#include "tests/conformance/GgmlGraph.h"

namespace tenon::conformance {
namespace {

/// Bytes around every output that no kernel may touch.
constexpr std::byte sentinel{0xA5};
constexpr size_t sentinelBytes = 64;

class GgmlOpsGpu : public ::testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    auto devices = runtime::listCudaDevices();
    ASSERT_THAT(devices, tests::IsOk());
    if (devices->empty())
      GTEST_SKIP() << "no GPU on this machine";
  }
};

/// Runs function `index` and compares its result with the row's.
void expectRow(runtime::CudaExecutor& executor, size_t index, const GgmlRow& row,
               const std::vector<ReferenceTensor>& inputs) {
  SCOPED_TRACE(::testing::Message() << "row " << row.number << ": " << row.op << " " << row.vars);
  std::vector<std::vector<std::byte>> bytes;
  for (const ReferenceTensor& input : inputs)
    bytes.push_back(input.encode());
  std::vector<std::span<const std::byte>> inputSpans(bytes.begin(), bytes.end());
  size_t size = executor.program().functions[index].outputs[0].bytes;
  std::vector<std::byte> storage(size + 2 * sentinelBytes, sentinel);
  std::span<std::byte> output = std::span(storage).subspan(sentinelBytes, size);
  ASSERT_THAT(executor.run(index, inputSpans, {&output, 1}), tests::IsOk());
  for (auto edge :
       {std::span(storage).first(sentinelBytes), std::span(storage).last(sentinelBytes)})
    EXPECT_TRUE(std::ranges::all_of(edge, [](std::byte byte) { return byte == sentinel; }));
  std::vector<double> actual(row.result.elements());
  findEncoding(row.result.type)->decode(output, actual);
  EXPECT_LE(distance(row, std::move(actual)), row.maxNmse);
}

TEST_P(GgmlOpsGpu, Agrees) {
  auto cases = GgmlModule::build(cudaRowsOf(GetParam()));
  ASSERT_THAT(cases, tests::IsOk());
  passes::PipelineOptions options;
  options.target = findTarget(&(*cases)->context, "h200");
  ASSERT_THAT(passes::runPipeline(*(*cases)->module, options), tests::IsOk());
  auto program = codegen::compileForCuda(*(*cases)->module, {});
  ASSERT_THAT(program, tests::IsOk());
  auto executor = runtime::CudaExecutor::create(*std::move(program), {});
  ASSERT_THAT(executor, tests::IsOk());
  for (size_t i = 0; i < (*cases)->rows.size(); ++i)
    expectRow(**executor, i, *(*cases)->rows[i], (*cases)->inputs[i]);
}

INSTANTIATE_TEST_SUITE_P(Rows, GgmlOpsGpu, ::testing::ValuesIn(cudaOperators()),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace tenon::conformance
