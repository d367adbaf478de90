#include "codegen/cpu/Emitter.h"

using namespace mlir;

namespace tenon::codegen::cpu {

const Emitter* findEmitter(llvm::StringRef name) {
  for (const Emitter* emitter : allEmitters())
    if (emitter->name == name)
      return emitter;
  return nullptr;
}

llvm::SmallVector<Value> KernelContext::destinations(Value value) {
  llvm::SmallVector<Value> found;
  for (auto [index, yielded] : llvm::enumerate(kernel.getYield().getValues()))
    if (yielded == value)
      found.push_back(result(index));
  return found;
}

LogicalResult KernelContext::expectWritten() {
  for (OpResult result : kernel->getResults())
    if (!llvm::isa<StateType>(result.getType()) && !written.test(result.getResultNumber()))
      return kernel.emitOpError("expects an emitter that writes every result, but ")
             << schedule().getEmitter() << " leaves out result #" << result.getResultNumber();
  return success();
}

FailureOr<int64_t> KernelContext::parameter(llvm::StringRef name, int64_t most) {
  std::optional<int64_t> value = schedule().getParameter(name);
  if (!value)
    return kernel.emitOpError("expects a parameter '")
           << name << "' in the schedule " << schedule();
  if (*value > most)
    return kernel.emitOpError("expects from 1 to ")
           << most << " as parameter '" << name << "', but got " << *value;
  return *value;
}

LogicalResult KernelContext::expectTiles(int64_t tiles) {
  if (schedule().getTiles() == tiles)
    return success();
  return kernel.emitOpError("expects ")
         << tiles << " tiles for the parameters of its schedule, but got " << schedule().getTiles();
}

} // namespace tenon::codegen::cpu
