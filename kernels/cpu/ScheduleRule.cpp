#include "kernels/cpu/ScheduleRule.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

ScheduleAttr makeRowSchedule(KernelOp kernel, llvm::StringRef emitter, int64_t rows,
                             int64_t rowElements) {
  int64_t perTile = std::clamp<int64_t>(elementsPerTile / rowElements, 1, rows);
  return makeSchedule(kernel, emitter, llvm::divideCeil(rows, perTile),
                      {{"rows_per_tile", perTile}});
}

} // namespace tenon::kernels
