#include "kernels/cpu/Experts.h"

#include "kernels/cpu/GemmBlock.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cpu {

std::optional<PartTile> WeightedSumSchedule::tileOf(Operation* op) const {
  auto sum = llvm::dyn_cast<WeightedSumOp>(op);
  if (!sum || rowsPerTile < sum.getType().getDimSize(0))
    return std::nullopt;
  return PartTile::ofColumns(columnsPerTile, sum.getType());
}

static VerdictOr<PartTile> tileOfExpertColumns(Operation* op, ScheduleAttr part) {
  VerdictOr<DotBlockSchedule> schedule = parseSchedule<DotBlockSchedule>(part);
  if (!schedule)
    return schedule.refusal();
  if (auto gemms = llvm::dyn_cast<ExpertMatmulOp>(op))
    return PartTile::ofColumns(schedule->columnsPerTile, gemms.getType());
  return refusePart(part);
}

namespace kinds {
extern constexpr CpuKernelKind expertMatmul = kindOf<ExpertMatmulKernel>();
extern constexpr CpuKernelKind groupedExpertMatmul = kindOf<GroupedExpertMatmulKernel>();
extern constexpr CpuKernelKind expertColumns = {ExpertColumnsKernel::name, tileOfExpertColumns};
extern constexpr CpuKernelKind weightedSum = kindOf<WeightedSumKernel>();
} // namespace kinds

/// Bytes of a row of an expert's matrix.
static int64_t rowBytesOf(ExpertMatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  return *getStorageBytes(weight) / (weight.getDimSize(0) * weight.getDimSize(1));
}

/// Blocks of as many rows as chance gives an expert; tiles of `perTile` columns, of which there are
/// `parts` times as many as columns need.
static DotBlockSchedule scheduleWith(ExpertMatmulOp op, const GemmBlock& block, int64_t perTile,
                                     int64_t parts, const CpuTarget& target) {
  RankedTensorType weight = op.getWeight().getType();
  return {.tiles = parts * static_cast<int64_t>(llvm::divideCeil(weight.getDimSize(1), perTile)),
          .columnsPerTile = perTile,
          .columnBlock = block.columns,
          .rowBlock = block.rows,
          .step = chooseGemmStep(*getEncoding(weight.getElementType()), target),
          .prefetchBytes = block.columns * rowBytesOf(op)};
}

static GemmBlock chooseExpertBlock(ExpertMatmulOp op, const CpuTarget& target) {
  int64_t gemms = op.getIds().getType().getNumElements();
  int64_t experts = op.getWeight().getType().getDimSize(0);
  GemmBlock block = chooseGemmBlock(llvm::divideCeil(gemms, experts), target);
  if (op.getIds().getType().getDimSize(0) == 1)
    block.rows = 1;
  return block;
}

/// A tile streams as many bytes as one of a GEMM, of all experts that it reads.
DotBlockSchedule chooseExpertColumns(ExpertMatmulOp op, const CpuTarget& target) {
  op.setOrderAttr(makeOrder(op.getContext(), target.lanes));
  GemmBlock block = chooseExpertBlock(op, target);
  int64_t read =
      std::min(op.getIds().getType().getNumElements(), op.getWeight().getType().getDimSize(0));
  return scheduleWith(op, block, chooseStreamedColumns(read * rowBytesOf(op), block), 1, target);
}

Verdict acceptsExpertColumns(ExpertMatmulOp op) {
  constexpr int64_t mostGemms = 64;
  int64_t gemms = op.getIds().getType().getNumElements();
  if (gemms > mostGemms)
    return Refusal{"rows choose " + std::to_string(gemms) + " matrices, and of more than " +
                   std::to_string(mostGemms) + " a tile takes those of one expert"};
  return Verdict::accept();
}

VerdictOr<ExpertColumnsKernel> ExpertColumnsKernel::read(KernelOp kernel) {
  VerdictOr<ExpertColumnsKernel> found = readSole<ExpertColumnsKernel>(kernel);
  if (found)
    if (Verdict verdict = acceptsExpertColumns(found->op); !verdict)
      return verdict.refusal();
  return found;
}

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) {
  return soleOp<ExpertMatmulOp>(kernel) || soleOp<WeightedSumOp>(kernel);
}

/// A tile streams some rows of one expert's matrix: for one row of x, of each expert that it chose;
/// for more rows, of each expert for all rows that chose it.
static ScheduleAttr chooseGemms(KernelOp kernel, ExpertMatmulOp op, const CpuTarget& target) {
  op.setOrderAttr(makeOrder(kernel.getContext(), target.lanes));
  bool isOneRow = op.getIds().getType().getDimSize(0) == 1;
  GemmBlock block = chooseExpertBlock(op, target);
  int64_t parts =
      isOneRow ? op.getIds().getType().getNumElements() : op.getWeight().getType().getDimSize(0);
  return printSchedule(
      kernel.getContext(), isOneRow ? ExpertMatmulKernel::name : GroupedExpertMatmulKernel::name,
      scheduleWith(op, block, chooseStreamedColumns(rowBytesOf(op), block), parts, target));
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
                       WeightedSumSchedule{.tiles = tiles, .columnsPerTile = perTile});
}

extern const ScheduleRule experts = {matches, choose};

} // namespace tenon::kernels::cpu::rules
