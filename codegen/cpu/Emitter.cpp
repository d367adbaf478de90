#include "codegen/cpu/Emitter.h"

#include "codegen/cpu/emitters/Emitters.h"

using namespace mlir;

namespace tenon::codegen::cpu {

static const Emitter* const allEmitters[] = {
    &emitters::argmax,       &emitters::attention,   &emitters::copy,
    &emitters::dequantize,   &emitters::elementwise, &emitters::embedding,
    &emitters::kvWrite,      &emitters::layerNorm,   &emitters::matmul,
    &emitters::packedMatmul, &emitters::quantize,    &emitters::quantizedMatmul,
    &emitters::reduce,       &emitters::rmsNorm,     &emitters::rope,
    &emitters::sequence,     &emitters::softmax,     &emitters::topK};

const Emitter* findEmitter(llvm::StringRef name) {
  for (const Emitter* emitter : allEmitters)
    if (emitter->name == name)
      return emitter;
  return nullptr;
}

llvm::SmallVector<Value> KernelContext::destinations(Value value) {
  llvm::SmallVector<Value> found;
  for (auto [yielded, pointer] : llvm::zip_equal(kernel.getYield().getValues(), results))
    if (yielded == value)
      found.push_back(pointer);
  return found;
}

FailureOr<int64_t> KernelContext::parameter(llvm::StringRef name) {
  if (std::optional<int64_t> value = schedule().getParameter(name))
    return *value;
  return kernel.emitOpError("expects a parameter '") << name << "' in the schedule " << schedule();
}

LogicalResult KernelContext::expectTiles(int64_t tiles) {
  if (schedule().getTiles() == tiles)
    return success();
  return kernel.emitOpError("expects ")
         << tiles << " tiles for the parameters of its schedule, but got " << schedule().getTiles();
}

} // namespace tenon::codegen::cpu
