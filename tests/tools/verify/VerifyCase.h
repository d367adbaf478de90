#ifndef TENON_TESTS_TOOLS_VERIFY_VERIFYCASE_H
#define TENON_TESTS_TOOLS_VERIFY_VERIFYCASE_H

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "frontends/text/TextFrontend.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "support/Status.h"
#include "tools/bench/FunctionInputs.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"
#include "tools/verify/VerifyReport.h"

namespace tenon::tools {

/// Residual and norm, then a cache after a product: a fused kernel of norm and sum.
inline constexpr const char* verifiedGraph = R"(
tenon.state @k : !tenon.state<1x8x2x32xf32>
tenon.state @v : !tenon.state<1x8x2x32xf32>
func.func @f(%x: tensor<1x64xf32>, %r: tensor<1x64xf32>, %g: tensor<64xf32>,
             %w: tensor<64x64xf32>, %s: tensor<1xi32>, %p: tensor<1xi32>)
    -> (tensor<1x64xf32>, tensor<1x2x32xf32>) {
  %k = tenon.get_state @k : !tenon.state<1x8x2x32xf32>
  %v = tenon.get_state @v : !tenon.state<1x8x2x32xf32>
  %0 = tenon.add %x, %r : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
  %1 = tenon.rms_norm %0, %g eps 1.0e-5 : (tensor<1x64xf32>, tensor<64xf32>) -> tensor<1x64xf32>
  %2 = tenon.matmul %1, %w : (tensor<1x64xf32>, tensor<64x64xf32>) -> tensor<1x64xf32>
  %3 = tenon.reshape %2 to [1, 2, 32] : (tensor<1x64xf32>) -> tensor<1x2x32xf32>
  %k1 = tenon.kv_write %3, %s, %p into %k : (tensor<1x2x32xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x32xf32>) -> !tenon.state<1x8x2x32xf32>
  %v1 = tenon.kv_write %3, %s, %p into %v : (tensor<1x2x32xf32>, tensor<1xi32>, tensor<1xi32>, !tenon.state<1x8x2x32xf32>) -> !tenon.state<1x8x2x32xf32>
  %y = tenon.attention %3, %k1, %v1, %s, %p scale 1.0 : (tensor<1x2x32xf32>, !tenon.state<1x8x2x32xf32>, !tenon.state<1x8x2x32xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1x2x32xf32>
  return %0, %y : tensor<1x64xf32>, tensor<1x2x32xf32>
})";

/// A graph compiled for this machine under the plan with the fewest kernels.
struct CompiledGraph {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  runtime::Program program;
};

inline absl::StatusOr<CompiledGraph>
compileGraph(const std::string& text, const std::string& device,
             passes::Numerics numerics = passes::Numerics::Exact) {
  CompiledGraph compiled;
  TENON_ASSIGN_OR_RETURN(compiled.module,
                         frontends::parseModuleText(*compiled.context, text, "test"));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, chooseTarget(*compiled.context, device, "native"));
  TENON_ASSIGN_OR_RETURN(
      compiled.program,
      compileModel(*compiled.module, target, {.plan = passes::Plan::Fused, .numerics = numerics}));
  return compiled;
}

/// Checks a call of the program of `runs` as if it were that of `expected`.
inline absl::StatusOr<VerifiedCall> verifyCall(CompiledGraph& expected, const CompiledGraph& runs) {
  TENON_ASSIGN_OR_RETURN(auto executor, makeExecutor(runs.program, {}));
  TENON_ASSIGN_OR_RETURN(auto verifier,
                         FunctionVerifier::create(*expected.module, expected.program, 0, {}));
  ValueBytes inputs =
      makeFunctionInputs(expected.module->lookupSymbol<mlir::func::FuncOp>("f"), /*position=*/3);
  ValueBytes outputs;
  for (const runtime::Port& port : expected.program.functions[0].outputs)
    outputs.emplace_back(port.bytes);
  std::vector<std::span<const std::byte>> arguments(inputs.begin(), inputs.end());
  std::vector<std::span<std::byte>> results(outputs.begin(), outputs.end());
  TENON_RETURN_IF_ERROR(executor->runObserved(0, arguments, results, *verifier));
  return VerifiedCall{"f", 3, verifier->checks()};
}

} // namespace tenon::tools

#endif // TENON_TESTS_TOOLS_VERIFY_VERIFYCASE_H
