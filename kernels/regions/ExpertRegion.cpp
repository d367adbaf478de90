#include "kernels/regions/ExpertRegion.h"

#include "kernels/regions/Regions.h"

using namespace mlir;

namespace tenon::kernels {

int64_t ExpertRegion::sharing() const {
  ExpertMatmulOp first = gemms.front();
  return pairs() * depth / first.getInput().getType().getNumElements();
}

static std::string nameOf(Operation& op) { return op.getName().stripDialect().str(); }

static bool isArgumentOrChosen(Value ids, const ExpertRegion& region) {
  return llvm::isa<BlockArgument>(ids) ||
         (region.choice && ids == TopKOp(region.choice->best).getIndices());
}

/// Whether `op` can stand beside the GEMMs before it.
static Verdict acceptsGemm(ExpertMatmulOp op, const ExpertRegion& region) {
  constexpr size_t mostGemms = 2;
  if (!llvm::isa<BlockArgument>(op.getInput()) || !llvm::isa<BlockArgument>(op.getWeight()) ||
      !isArgumentOrChosen(op.getIds(), region))
    return Refusal{"products with experts read their operands from memory: nothing may come before "
                   "them"};
  if (region.gemms.empty())
    return Verdict::accept();
  ExpertMatmulOp first = region.gemms.front();
  if (region.gemms.size() == mostGemms)
    return Refusal{"a kernel computes at most two products with experts"};
  if (op.getInput() != first.getInput() || op.getIds() != first.getIds() ||
      op.getType().getShape() != first.getType().getShape() ||
      op.getWeight().getType() != first.getWeight().getType())
    return Refusal{"products with experts in one kernel have one input, one choice of experts, one "
                   "shape and one encoding"};
  return Verdict::accept();
}

/// Whether all of `shape` lies at the positions of `whole`, with 1 for any extent.
static bool broadcastsTo(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> whole) {
  if (shape.size() > whole.size())
    return false;
  for (auto [extent, all] : llvm::zip_equal(shape, whole.take_back(shape.size())))
    if (extent != 1 && extent != all)
      return false;
  return true;
}

static llvm::ArrayRef<int64_t> shapeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getShape();
}

/// Whether `op` sums what the one GEMM of the region gives.
static Verdict acceptsSum(WeightedSumOp op, const ExpertRegion& region) {
  ExpertMatmulOp first = region.gemms.front();
  if (region.gemms.size() != 1 || op.getInput() != first.getResult() ||
      !first.getResult().hasOneUse())
    return Refusal{"a weighted sum stands in the kernel of the one product that it sums, which "
                   "nothing else reads"};
  if (!llvm::isa<BlockArgument>(op.getWeights()))
    return Refusal{"a weighted sum reads its weights from memory"};
  return Verdict::accept();
}

/// Whether `op` gives rows of a table in memory, a row for each pair.
static Verdict acceptsTable(EmbeddingOp op, const ExpertRegion& region) {
  ExpertMatmulOp first = region.gemms.front();
  if (region.sum || !llvm::isa<BlockArgument>(op.getTable()) ||
      !isArgumentOrChosen(op.getIds(), region) ||
      op.getType().getShape() != first.getType().getShape())
    return Refusal{"the emitter of experts takes rows of a table in memory for each row and expert "
                   "that a kernel stores, not beside a weighted sum or of another shape"};
  return Verdict::accept();
}

VerdictOr<ExpertRegion> readExpertRegion(KernelOp kernel) {
  ExpertRegion region;
  llvm::SmallVector<Operation*, 4> ofChoice;
  if (auto best = kernel.getBlock().getOps<TopKOp>(); !best.empty()) {
    ofChoice = choiceAround(*best.begin());
    VerdictOr<ChoiceRegion> choice = readChoice(ofChoice);
    if (!choice)
      return choice.refusal();
    region.choice = *std::move(choice);
  }
  for (auto op : kernel.getBlock().getOps<ExpertMatmulOp>()) {
    if (Verdict verdict = acceptsGemm(op, region); !verdict)
      return verdict.refusal();
    region.gemms.push_back(op);
  }
  if (region.gemms.empty())
    return Refusal{"expects a tenon.expert_matmul"};
  ExpertMatmulOp first = region.gemms.front();
  llvm::ArrayRef<int64_t> ids = shapeOf(first.getIds()), weight = shapeOf(first.getWeight());
  region.rows = ids[0], region.chosen = ids[1];
  region.experts = weight[0], region.columns = weight[1], region.depth = weight[2];
  for (auto op : kernel.getBlock().getOps<WeightedSumOp>()) {
    if (Verdict verdict = acceptsSum(op, region); !verdict)
      return verdict.refusal();
    region.sum = op;
  }
  Operation* last = region.sum ? region.sum.getOperation() : first.getOperation();
  llvm::ArrayRef<int64_t> positions = shapeOf(last->getResult(0));
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (llvm::isa<ExpertMatmulOp, WeightedSumOp>(op) || llvm::is_contained(ofChoice, &op))
      continue;
    if (auto embedding = llvm::dyn_cast<EmbeddingOp>(op)) {
      if (Verdict verdict = acceptsTable(embedding, region); !verdict)
        return verdict.refusal();
      continue;
    }
    if (!isFloatOperation(op) || llvm::isa<DequantizeOp>(op))
      return Refusal{"the emitter of experts cannot hold " + nameOf(op)};
    if (!broadcastsTo(shapeOf(op.getResult(0)), positions))
      return Refusal{"the emitter of experts works on positions " +
                     tenon::detail::formatShape(positions) + ", to which " + nameOf(op) + " " +
                     tenon::detail::formatShape(shapeOf(op.getResult(0))) + " does not broadcast"};
  }
  if (region.choice && (region.sum || llvm::isa<BlockArgument>(first.getIds())))
    return Refusal{"a choice of experts stands beside the products with them, not beside their "
                   "weighted sum or others"};
  for (Value value : kernel.getYield().getValues()) {
    if (region.choice && region.choice->gives(value))
      continue;
    if (auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
        !type || type.getShape() != positions)
      return Refusal{"the emitter of experts stores results of shape " +
                     tenon::detail::formatShape(positions) + ", not " +
                     tenon::detail::formatType(value.getType())};
  }
  return region;
}

} // namespace tenon::kernels
