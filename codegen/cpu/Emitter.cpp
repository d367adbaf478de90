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

LogicalResult KernelContext::expectTiles(int64_t tiles) {
  if (schedule().getTiles() == tiles)
    return success();
  return kernel.emitOpError("expects ")
         << tiles << " tiles for the parameters of its schedule, but got " << schedule().getTiles();
}

} // namespace tenon::codegen::cpu
