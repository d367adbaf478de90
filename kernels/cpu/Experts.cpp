#include "kernels/cpu/Experts.h"

#include "kernels/cpu/GemmBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cpu {

namespace kinds {
extern constexpr CpuKernelKind expertMatmul = kindOf<ExpertMatmulKernel>();
extern constexpr CpuKernelKind groupedExpertMatmul = kindOf<GroupedExpertMatmulKernel>();
extern constexpr CpuKernelKind weightedSum = kindOf<WeightedSumKernel>();
} // namespace kinds

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) {
  return soleOp<ExpertMatmulOp>(kernel) || soleOp<WeightedSumOp>(kernel);
}

/// A tile streams some rows of one expert's matrix: for one row of x, of each expert that it chose;
/// for more rows, of each expert for all rows that chose it, of which there are as many in a block
/// as chance gives an expert.
static ScheduleAttr chooseGemms(KernelOp kernel, ExpertMatmulOp op, const CpuTarget& target) {
  op.setOrderAttr(makeOrder(kernel.getContext(), target.lanes));
  RankedTensorType weight = op.getWeight().getType();
  int64_t experts = weight.getDimSize(0), columns = weight.getDimSize(1);
  int64_t rows = op.getIds().getType().getDimSize(0);
  int64_t gemms = op.getIds().getType().getNumElements();
  int64_t rowBytes = *getStorageBytes(weight) / (experts * columns);
  GemmBlock block = chooseGemmBlock(llvm::divideCeil(gemms, experts), target);
  int64_t perTile = chooseStreamedColumns(rowBytes, block);
  DotBlockSchedule schedule = {.tiles = (rows == 1 ? gemms : experts) *
                                        static_cast<int64_t>(llvm::divideCeil(columns, perTile)),
                               .columnsPerTile = perTile,
                               .columnBlock = block.columns,
                               .rowBlock = rows == 1 ? 1 : block.rows,
                               .step =
                                   chooseGemmStep(*getEncoding(weight.getElementType()), target),
                               .prefetchBytes = block.columns * rowBytes};
  return printSchedule(kernel.getContext(),
                       rows == 1 ? ExpertMatmulKernel::name : GroupedExpertMatmulKernel::name,
                       schedule);
}

static ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  if (auto op = soleOp<ExpertMatmulOp>(kernel))
    return chooseGemms(kernel, op, target);
  auto op = soleOp<WeightedSumOp>(kernel);
  int64_t rows = op.getType().getDimSize(0), columns = op.getType().getDimSize(1);
  int64_t perRow = llvm::divideCeil(columns, llvm::alignTo(elementsPerTile, target.lanes));
  int64_t perTile = llvm::alignTo(llvm::divideCeil(columns, perRow), target.lanes);
  int64_t tiles = rows * static_cast<int64_t>(llvm::divideCeil(columns, perTile));
  return printSchedule(kernel.getContext(), WeightedSumKernel::name,
                       WeightedSumSchedule{tiles, perTile});
}

extern const ScheduleRule experts = {matches, choose};

} // namespace tenon::kernels::cpu::rules
