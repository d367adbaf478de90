#include <gtest/gtest.h>

#include <set>

#include "codegen/cuda/CompileForCuda.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "tests/codegen/cuda/GgmlCudaRows.h"
#include "tests/common/StatusMatchers.h"

namespace tenon::conformance {
namespace {

/// Of each operator the first row, and the first of each block format.
std::vector<const GgmlRow*> firstRowsOf(const std::string& op) {
  std::vector<const GgmlRow*> first;
  std::set<std::string> formats;
  for (const GgmlRow* row : cudaRowsOf(op)) {
    bool isNew = first.empty();
    for (const std::optional<GgmlTensor>& source : row->sources)
      if (source && findEncoding(source->type)->isBlockQuantized())
        isNew |= formats.insert(source->type).second;
    if (isNew)
      first.push_back(row);
  }
  return first;
}

/// Without a GPU: those rows compile for the H200. Products multiply weights of six block formats.
TEST(GgmlOpsCuda, FirstRowsCompile) {
  EXPECT_GE(firstRowsOf("MUL_MAT").size(), 6u);
  for (const std::string& op : cudaOperators()) {
    SCOPED_TRACE(op);
    auto cases = GgmlModule::build(firstRowsOf(op));
    ASSERT_THAT(cases, tests::IsOk());
    passes::PipelineOptions options;
    options.target = findTarget(&(*cases)->context, "h200");
    ASSERT_THAT(passes::runPipeline(*(*cases)->module, options), tests::IsOk());
    EXPECT_THAT(codegen::compileForCuda(*(*cases)->module, {}), tests::IsOk());
  }
}

} // namespace
} // namespace tenon::conformance
