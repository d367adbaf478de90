#include "kernels/cpu/ScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::rules {

static RankedTensorType resultType(KernelOp kernel) {
  return llvm::cast<RankedTensorType>(kernel.getResult(0).getType());
}

static bool matches(KernelOp kernel) { return bool(acceptsForm(forms::cpuElementwise, kernel)); }

/// True if some input has to be repeated along an axis; then rows keep their meaning.
static bool broadcasts(KernelOp kernel) {
  int64_t elements = resultType(kernel).getNumElements();
  return llvm::any_of(kernel.getBlock().getArguments(), [&](BlockArgument argument) {
    auto type = llvm::dyn_cast<RankedTensorType>(argument.getType());
    return type && type.getNumElements() != elements && type.getNumElements() != 1;
  });
}

/// Long rows are cut into tiles, short ones put together.
static ScheduleAttr choose(KernelOp kernel, const CpuTarget&) {
  RankedTensorType type = resultType(kernel);
  int64_t elements = type.getNumElements();
  int64_t row = broadcasts(kernel) ? type.getShape().back() : elements;
  int64_t rows = elements / row;
  int64_t columnsPerTile = std::min(row, elementsPerTile);
  int64_t rowsPerTile = std::clamp<int64_t>(elementsPerTile / row, 1, rows);
  int64_t tiles = llvm::divideCeil(rows, rowsPerTile) * llvm::divideCeil(row, columnsPerTile);
  return makeSchedule(kernel, "elementwise", tiles,
                      {{"row_elements", row},
                       {"rows_per_tile", rowsPerTile},
                       {"columns_per_tile", columnsPerTile}});
}

extern const ScheduleRule elementwise = {matches, choose};

} // namespace tenon::kernels::rules
