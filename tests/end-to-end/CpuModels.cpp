#include "tests/end-to-end/CpuModels.h"

#include "runtime/cpu/CpuExecutor.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"

namespace tenon::tests {

absl::StatusOr<std::unique_ptr<runtime::Executor>> compile(const tools::ModelOptions& options,
                                                           passes::Plan plan) {
  std::unique_ptr<mlir::MLIRContext> context = tools::makeContext();
  TENON_ASSIGN_OR_RETURN(auto module, tools::readModel(*context, options));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program,
                         tools::compileModel(*module, target, {.plan = plan}));
  program.tokenizer.reset();
  return runtime::CpuExecutor::create(std::move(program), {.threads = 2});
}

} // namespace tenon::tests
