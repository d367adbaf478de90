#ifndef TENON_TESTS_CODEGEN_CUDA_SOURCETEXT_H
#define TENON_TESTS_CODEGEN_CUDA_SOURCETEXT_H

#include <string>
#include <vector>

#include "codegen/cuda/CompileForCuda.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "tests/common/TempFolder.h"

namespace tenon::testing {

inline std::string golden(const std::string& name) {
  return tests::readFile(std::string(TENON_TEST_DATA) + "/../codegen/cuda/golden/" + name);
}

/// The kernels of a module in textual IR, scheduled for `target`.
inline absl::StatusOr<std::vector<codegen::CudaKernel>>
printText(const std::string& text, const std::string& target = "h200", bool stamps = false,
          passes::Plan plan = passes::PipelineOptions().fusion.plan) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = frontends::parseModuleText(context, text, "test");
  if (!module.ok())
    return module.status();
  passes::PipelineOptions options = {.upTo = Phase::Scheduled,
                                     .target = findTarget(&context, target)};
  options.fusion.plan = plan;
  absl::Status status = passes::runPipeline(**module, options);
  if (!status.ok())
    return status;
  return codegen::printCudaKernels(**module, stamps);
}

/// One product of one row.
inline constexpr const char* gemm = R"(
tenon.file @m "m.gguf" bytes 16777216 fingerprint 0
tenon.weight @w : tensor<2048x2048xf16> from [#tenon.range<@m, offset = 0, bytes = 8388608>]
func.func @f(%x: tensor<1x2048xf16>) -> tensor<1x2048xf16> {
  %w = tenon.get_weight @w : tensor<2048x2048xf16>
  %y = tenon.matmul %x, %w : (tensor<1x2048xf16>, tensor<2048x2048xf16>) -> tensor<1x2048xf16>
  return %y : tensor<1x2048xf16>
})";

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_SOURCETEXT_H
