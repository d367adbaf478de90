#include "kernels/cuda/ParameterKind.h"

using namespace mlir;

namespace tenon::kernels::kinds {

/// A thread loads the vectors of all inputs before it needs the first.
static Verdict fillElementwise(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t bytes = 2; // of the narrowest element
  int64_t inputs = kernel.getBlock().getNumArguments();
  resources.registers = 40;
  resources.bytesAThread = std::max<int64_t>(16, sizeParameter(kernel, "vector") * bytes * inputs);
  return Verdict::accept();
}

/// One word a thread.
static Verdict fillMove(KernelOp, BlockResources& resources) {
  resources.registers = 40;
  return Verdict::accept();
}

const ParameterKind elementwise = {"elementwise", fillElementwise};
const ParameterKind copy = {"copy", fillMove};
const ParameterKind kvWrite = {"kv_write", fillMove};
const ParameterKind rope = {"rope", fillMove};

} // namespace tenon::kernels::kinds
