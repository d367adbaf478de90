#include "kernels/cpu/Elementwise.h"

#include "kernels/cpu/ScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cpu {

std::optional<PartTile> ElementwiseSchedule::tileOf(Operation* op) const {
  if (!llvm::isa<ElementwiseOpInterface>(op))
    return std::nullopt;
  auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() == 0 || rowElements != type.getShape().back())
    return std::nullopt;
  int64_t total = type.getNumElements();
  int64_t elements = std::min(detail::saturatingProduct({rowsPerTile, rowElements}), total);
  if (columnsPerTile >= rowElements)
    return PartTile{false, elements, total};
  return elements == total ? std::optional(PartTile::ofColumns(columnsPerTile, type))
                           : std::nullopt;
}

VerdictOr<ElementwiseKernel> ElementwiseKernel::read(KernelOp kernel) {
  if (Verdict verdict = acceptsForm(forms::cpuElementwise, kernel); !verdict)
    return verdict.refusal();
  VerdictOr<ElementwiseSchedule> schedule =
      parseSchedule<ElementwiseSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return ElementwiseKernel{kernel, *schedule};
}

namespace kinds {
extern constexpr CpuKernelKind elementwise = kindOf<ElementwiseKernel>();
} // namespace kinds

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

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
  return printSchedule(kernel.getContext(), ElementwiseKernel::name,
                       ElementwiseSchedule{tiles, row, rowsPerTile, columnsPerTile});
}

extern const ScheduleRule elementwise = {matches, choose};

} // namespace tenon::kernels::cpu::rules
