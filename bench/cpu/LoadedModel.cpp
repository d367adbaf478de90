#include "bench/cpu/LoadedModel.h"

#include <algorithm>
#include <numeric>

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/ReadModel.h"

namespace tenon::bench {

/// Bytes of weights that one call of `function` reads.
static int64_t countWeightBytes(mlir::ModuleOp module, llvm::StringRef function) {
  int64_t bytes = 0;
  auto body = module.lookupSymbol<mlir::func::FuncOp>(function);
  body.walk([&](KernelOp kernel) {
    kernel.walk([&](ComputeOpInterface op) {
      Work work = op.getWork();
      for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
        auto argument = llvm::dyn_cast<mlir::BlockArgument>(operand);
        if (argument && kernel.getInputs()[argument.getArgNumber()].getDefiningOp<GetWeightOp>())
          bytes += work.operandBytes[index];
      }
    });
  });
  return bytes;
}

absl::StatusOr<LoadedModel> LoadedModel::load(const std::string& path,
                                              const std::string& activations, int threads) {
  auto context = tools::makeContext();
  tools::ModelOptions options;
  options.path = path;
  options.activations = activations;
  options.shapes = {"decode:1", "prefill:" + std::to_string(prefillRows)};
  options.contextLength = contextLength;
  TENON_ASSIGN_OR_RETURN(auto module, tools::readModel(*context, options));
  TENON_ASSIGN_OR_RETURN(TargetAttr target, tools::chooseTarget(*context, "cpu"));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, tools::compileModel(*module, target));
  LoadedModel model;
  for (size_t i = 0; i < program.functions.size(); ++i)
    (program.functions[i].role == runtime::Role::Decode ? model.decodeFunction
                                                        : model.prefillFunction) = i;
  model.logits.resize(program.model->vocabulary);
  model.weightBytes = countWeightBytes(*module, program.functions[model.decodeFunction].name);
  TENON_ASSIGN_OR_RETURN(model.executor,
                         runtime::CpuExecutor::create(std::move(program), {.threads = threads}));
  return model;
}

static int32_t greatest(std::span<const float> logits) {
  return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

absl::StatusOr<int32_t> LoadedModel::decode(int32_t id, int32_t position) {
  int32_t sequence = 0;
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(&id, 1)),
                                               std::as_bytes(std::span(&sequence, 1)),
                                               std::as_bytes(std::span(&position, 1))};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(logits))};
  TENON_RETURN_IF_ERROR(executor->run(decodeFunction, inputs, outputs));
  return greatest(logits);
}

absl::StatusOr<int32_t> LoadedModel::prefill(std::span<const int32_t> ids) {
  int32_t positions[prefillRows], sequence = 0, lastRow = prefillRows - 1;
  std::iota(std::begin(positions), std::end(positions), 0);
  const std::span<const std::byte> inputs[] = {
      std::as_bytes(ids), std::as_bytes(std::span(&sequence, 1)),
      std::as_bytes(std::span(positions)), std::as_bytes(std::span(&lastRow, 1))};
  const std::span<std::byte> outputs[] = {std::as_writable_bytes(std::span(logits))};
  TENON_RETURN_IF_ERROR(executor->run(prefillFunction, inputs, outputs));
  return greatest(logits);
}

} // namespace tenon::bench
