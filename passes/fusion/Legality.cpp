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

static std::string refuseSize(const FusionGraph&, llvm::ArrayRef<unsigned> nodes) {
  if (nodes.size() <= mostKernelOperations)
    return "";
  return "a kernel holds at most " + std::to_string(mostKernelOperations) + " operations, not " +
         std::to_string(nodes.size());
}

static std::string refuseOrder(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
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
    return "";
  const unsigned* last =
      llvm::find_if(nodes, [&](unsigned node) { return graph.reaches(between, node); });
  return describe(graph.getOp(between)) + " has to run between " +
         describe(graph.getOp(nodes.front())) + " and " + describe(graph.getOp(*last));
}

static std::string refuseFootprints(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
  for (unsigned node : nodes) {
    auto op = llvm::cast<ComputeOpInterface>(graph.getOp(node));
    for (OpOperand& operand : op->getOpOperands()) {
      Operation* producer = producerOf(operand.get());
      std::optional<unsigned> from = producer ? graph.indexOf(producer) : std::nullopt;
      // Of a cache the region's emitter reads what the region itself writes, or refuses the region.
      if (llvm::isa<StateType>(operand.get().getType()))
        continue;
      if (from && llvm::is_contained(nodes, *from) &&
          op.getFootprint(operand.getOperandNumber()).kind == Footprint::Kind::Grid)
        return describe(op) + " needs elements of " + describe(producer) +
               " that other blocks compute";
    }
  }
  return "";
}

static std::string refuseEncodings(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
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
      return "weights of different encodings cannot stand together: " + detail::formatType(a) +
             " of " + describe(first) + " and " + detail::formatType(b) + " of " + describe(matmul);
  }
  return "";
}

std::string refuseGroup(const FusionGraph& graph, llvm::ArrayRef<unsigned> nodes) {
  for (auto ask : {refuseSize, refuseOrder, refuseFootprints, refuseEncodings})
    if (std::string reason = ask(graph, nodes); !reason.empty())
      return reason;
  return "";
}

static std::string refuseArguments(KernelOp prototype) {
  int64_t arguments = prototype.getBlock().getNumArguments() +
                      llvm::count_if(prototype.getResultTypes(),
                                     [](Type type) { return !llvm::isa<StateType>(type); });
  return arguments <= mostKernelArguments
             ? ""
             : "a kernel takes at most " + std::to_string(mostKernelArguments) +
                   " inputs and results, not " + std::to_string(arguments);
}

std::string refuseRegion(const schedule::Scheduler& scheduler, KernelOp prototype) {
  if (std::string reason = refuseArguments(prototype); !reason.empty())
    return reason;
  std::string reason = scheduler.refuse(prototype);
  return reason.empty() ? "" : "no emitter: " + reason;
}

} // namespace tenon::passes::fusion
