#include "tools/bench/FunctionWork.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "ir/Dialect.h"
#include "ir/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/cost/KernelWork.h"

using namespace mlir;

namespace tenon::tools {

static bool isConstant(Value input) {
  Operation* source = getViewSource(input).getDefiningOp();
  return source && llvm::isa<GetWeightOp, ConstantOp>(source);
}

/// What is read where `value` is: itself behind views, and the cache behind writes into it.
static Value sourceOf(Value value) {
  while (auto write = getViewSource(value).getDefiningOp<KvWriteOp>())
    value = write.getState();
  return getViewSource(value);
}

/// The bytes that an operation's results leave in memory: rows of a cache, and what is yielded.
static int64_t writtenBytes(ComputeOpInterface op, const Work& work, YieldOp yield) {
  if (llvm::isa<KvWriteOp>(op.getOperation()))
    return work.resultBytes[0];
  int64_t sum = 0;
  for (auto [result, bytes] : llvm::zip_equal(op->getResults(), work.resultBytes))
    if (llvm::any_of(yield.getValues(),
                     [&](Value value) { return getViewSource(value) == result; }))
      sum += bytes;
  return sum;
}

static StepWork workOf(KernelOp kernel, int64_t position) {
  StepWork step;
  llvm::SmallVector<int64_t> argumentBytes(kernel.getInputs().size(), 0);
  for (Operation& op : kernel.getBlock()) {
    auto compute = llvm::dyn_cast<ComputeOpInterface>(op);
    if (!compute || isView(&op))
      continue;
    Work work = passes::cost::workAt(compute, position);
    step.flops += work.flops;
    for (auto [operand, bytes] : llvm::zip_equal(op.getOperands(), work.operandBytes))
      if (auto argument = llvm::dyn_cast<BlockArgument>(sourceOf(operand)))
        argumentBytes[argument.getArgNumber()] =
            std::max(argumentBytes[argument.getArgNumber()], bytes);
    step.otherBytes += writtenBytes(compute, work, kernel.getYield());
  }
  for (auto [input, bytes] : llvm::zip_equal(kernel.getInputs(), argumentBytes))
    (isConstant(input) ? step.weightBytes : step.otherBytes) += bytes;
  return step;
}

absl::StatusOr<std::vector<StepWork>> computeWork(ModuleOp module, const std::string& name,
                                                  int64_t position) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function)
    return absl::NotFoundError(absl::StrFormat("expects a function '%s' in the module", name));
  std::vector<StepWork> steps;
  function.walk([&](KernelOp kernel) { steps.push_back(workOf(kernel, position)); });
  return steps;
}

} // namespace tenon::tools
