#include "passes/fusion/Legality.h"

#include "ir/KernelLimits.h"
#include "mlir/IR/Operation.h"
#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion {

/// `add at "blk.0.attn_residual"`.
static std::string describe(Operation* op) {
  std::string text = op->getName().stripDialect().str();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    text += " '" + name.getName().str() + "'";
  return text;
}

static Verdict checkSize(const FusionGraph&, llvm::ArrayRef<unsigned> nodes) {
  if (nodes.size() > mostKernelOperations)
    return Refusal{"a kernel holds at most " + std::to_string(mostKernelOperations) +
                   " operations, not " + std::to_string(nodes.size())};
  return Verdict::accept();
}

static Verdict checkOrder(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
  llvm::BitVector inside(graph.size()), after(graph.size()), before(graph.size());
  for (unsigned node : nodes) {
    inside.set(node);
    after |= graph.after(node);
    before |= graph.before(node);
  }
  after &= before;
  after.reset(inside);
  int between = after.find_first();
  if (between < 0)
    return Verdict::accept();
  const unsigned* last =
      llvm::find_if(nodes, [&](unsigned node) { return graph.reaches(between, node); });
  return Refusal{describe(graph.getOp(between)) + " has to run between " +
                 describe(graph.getOp(nodes.front())) + " and " + describe(graph.getOp(*last))};
}

static Verdict checkFootprints(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
  for (unsigned node : nodes) {
    auto op = llvm::cast<ComputeOpInterface>(graph.getOp(node));
    for (OpOperand& operand : op->getOpOperands()) {
      Operation* producer = producerOf(operand.get());
      std::optional<unsigned> from = producer ? graph.indexOf(producer) : std::nullopt;
      // Of a cache the region's emitter reads what the region itself writes, or refuses the region.
      if (llvm::isa<StateType>(operand.get().getType()))
        continue;
      // A sum of what a row's experts give stands beside its GEMM, whose emitter computes all of
      // them in a block, or refuses the region.
      if (llvm::isa<WeightedSumOp>(op) && operand.getOperandNumber() == 0 && producer &&
          (llvm::isa<ExpertMatmulOp>(producer) || isElementwise(producer)))
        continue;
      if (from && llvm::is_contained(nodes, *from) &&
          op.getFootprint(operand.getOperandNumber()).kind == Footprint::Kind::Grid)
        return Refusal{describe(op) + " needs elements of " + describe(producer) +
                       " that other blocks compute"};
    }
  }
  return Verdict::accept();
}

static Verdict checkEncodings(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
  MatmulOp first;
  for (unsigned node : nodes) {
    auto matmul = llvm::dyn_cast<MatmulOp>(graph.getOp(node));
    if (!matmul)
      continue;
    if (!first)
      first = matmul;
    Type a = first.getWeight().getType().getElementType();
    Type b = matmul.getWeight().getType().getElementType();
    if (a != b)
      return Refusal{
          "weights of different encodings cannot stand together: " + detail::formatType(a) +
          " of " + describe(first) + " and " + detail::formatType(b) + " of " + describe(matmul)};
  }
  return Verdict::accept();
}

Verdict acceptsGroup(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
  for (auto check : {checkSize, checkOrder, checkFootprints, checkEncodings})
    if (Verdict verdict = check(graph, nodes); !verdict)
      return verdict;
  return Verdict::accept();
}

static Verdict checkArguments(KernelOp prototype) {
  int64_t arguments = prototype.getBlock().getNumArguments() +
                      llvm::count_if(prototype.getResultTypes(),
                                     [](Type type) { return !llvm::isa<StateType>(type); });
  if (arguments > mostKernelArguments)
    return Refusal{"a kernel takes at most " + std::to_string(mostKernelArguments) +
                   " inputs and results, not " + std::to_string(arguments)};
  return Verdict::accept();
}

Verdict acceptsRegion(const schedule::Scheduler& scheduler, KernelOp prototype) {
  if (Verdict verdict = checkArguments(prototype); !verdict)
    return verdict;
  if (Verdict verdict = scheduler.accepts(prototype); !verdict)
    return Refusal{"no emitter: " + verdict.reason()};
  return Verdict::accept();
}

} // namespace tenon::passes::fusion
