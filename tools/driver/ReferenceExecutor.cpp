#include "tools/driver/ReferenceExecutor.h"

#include <cstring>

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "runtime/program/CheckCall.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"

namespace tenon::tools {

ReferenceExecutor::ReferenceExecutor(mlir::ModuleOp module, runtime::Program description,
                                     std::unique_ptr<Interpreter> interpreter)
    : module(module), description(std::move(description)), interpreter(std::move(interpreter)) {}

absl::StatusOr<std::unique_ptr<ReferenceExecutor>>
ReferenceExecutor::create(mlir::ModuleOp module) {
  TENON_ASSIGN_OR_RETURN(runtime::Program description, describeModel(module));
  TENON_ASSIGN_OR_RETURN(auto interpreter, Interpreter::create(module));
  return std::unique_ptr<ReferenceExecutor>(
      new ReferenceExecutor(module, std::move(description), std::move(interpreter)));
}

absl::Status ReferenceExecutor::run(size_t function,
                                    std::span<const std::span<const std::byte>> inputs,
                                    std::span<const std::span<std::byte>> outputs) {
  TENON_RETURN_IF_ERROR(runtime::checkCall(description, function, inputs, outputs));
  const runtime::Function& signature = description.functions[function];
  auto body = module.lookupSymbol<mlir::func::FuncOp>(signature.name);
  std::vector<ReferenceTensor> arguments;
  for (auto [index, type] : llvm::enumerate(body.getArgumentTypes())) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    if (llvm::isa<BlockType>(tensor.getElementType())) {
      arguments.emplace_back(tensor, inputs[index], nullptr);
      continue;
    }
    ReferenceTensor& argument = arguments.emplace_back(tensor);
    llvm::MutableArrayRef<double> values = argument.getValues();
    getEncoding(tensor.getElementType())->decode(inputs[index], {values.data(), values.size()});
  }
  TENON_ASSIGN_OR_RETURN(auto results, interpreter->run(signature.name, arguments));
  for (auto [index, result] : llvm::enumerate(results)) {
    if (outputs[index].empty())
      continue;
    std::vector<std::byte> bytes = result.encode();
    std::memcpy(outputs[index].data(), bytes.data(), bytes.size());
  }
  return absl::OkStatus();
}

absl::Status ReferenceExecutor::resetStates() {
  interpreter->resetStates();
  return absl::OkStatus();
}

} // namespace tenon::tools
