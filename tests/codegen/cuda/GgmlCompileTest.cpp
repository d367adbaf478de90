#include <gtest/gtest.h>

#include "codegen/cuda/CompileForCuda.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "tests/codegen/cuda/GgmlCudaRows.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::conformance {
namespace {

/// Without a GPU: the first row of every operator compiles for the H200.
TEST(GgmlOpsCuda, FirstRowsCompile) {
  for (const std::string& op : cudaOperators()) {
    SCOPED_TRACE(op);
    auto cases = GgmlModule::build({cudaRowsOf(op).front()});
    ASSERT_THAT(cases, tests::IsOk());
    passes::PipelineOptions options;
    options.target = findTarget(&(*cases)->context, "h200");
    ASSERT_THAT(passes::runPipeline(*(*cases)->module, options), tests::IsOk());
    EXPECT_THAT(codegen::compileForCuda(*(*cases)->module, {}), tests::IsOk());
  }
}

} // namespace
} // namespace tenon::conformance
