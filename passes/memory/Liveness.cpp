#include "passes/memory/Liveness.h"

#include <algorithm>

#include "ir/Views.h"

using namespace mlir;

namespace tenon::passes {

std::vector<LiveResult> computeLiveness(func::FuncOp function) {
  Block& body = function.getBody().front();
  llvm::SmallPtrSet<Value, 8> outputs;
  for (Value output : body.getTerminator()->getOperands())
    outputs.insert(getViewSource(output));

  std::vector<LiveResult> live;
  llvm::DenseMap<Value, size_t> indexOf;
  int64_t step = 0;
  for (auto kernel : body.getOps<KernelOp>()) {
    for (Value input : kernel.getInputs())
      if (auto found = indexOf.find(getViewSource(input)); found != indexOf.end())
        live[found->second].lastStep = step;
    for (OpResult result : kernel->getResults()) {
      if (llvm::isa<StateType>(result.getType()) || outputs.contains(result))
        continue;
      indexOf[result] = live.size();
      live.push_back(
          {kernel, result.getResultNumber(), *getStorageBytes(result.getType()), step, step});
    }
    ++step;
  }
  return live;
}

} // namespace tenon::passes
