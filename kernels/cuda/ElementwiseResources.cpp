#include "kernels/cuda/ScheduleKind.h"

using namespace mlir;

namespace tenon::kernels::kinds {

/// A thread loads the vectors of all inputs before it needs the first.
static bool fillElementwise(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t bytes = 2; // of the narrowest element
  int64_t inputs = kernel.getBlock().getNumArguments();
  resources.registers = 40;
  resources.bytesAThread = std::max<int64_t>(16, sizeParameter(kernel, "vector") * bytes * inputs);
  return true;
}

/// One word a thread.
static bool fillMove(KernelOp, BlockResources& resources) {
  resources.registers = 40;
  return true;
}

const ScheduleKind elementwise = {"elementwise", fillElementwise};
const ScheduleKind copy = {"copy", fillMove};
const ScheduleKind kvWrite = {"kv_write", fillMove};
const ScheduleKind rope = {"rope", fillMove};

} // namespace tenon::kernels::kinds
