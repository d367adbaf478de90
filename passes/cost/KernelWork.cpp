#include "passes/cost/KernelWork.h"

#include "ir/KvCache.h"
#include "ir/Views.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tenon::passes::cost {

int64_t reductionsOf(Operation& op) {
  return llvm::TypeSwitch<Operation&, int64_t>(op)
      .Case<LayerNormOp, SoftmaxOp>([](auto) { return 2; })
      .Case<RmsNormOp, ReduceOp, ArgmaxOp, MatmulOp, ExpertMatmulOp, AttentionOp>(
          [](auto) { return 1; })
      .Case([](TopKOp op) { return static_cast<int64_t>(op.getK()); })
      .Default([](Operation&) { return 0; });
}

/// The part of its keys that attention reads when the newest one is at position `newest`.
static double keyShareOf(AttentionOp op, std::optional<int64_t> newest) {
  if (!newest || !llvm::isa<StateType>(op.getKey().getType()))
    return 1;
  int64_t capacity = KvCache(op.getKey().getType(), op.getBlockTable()).capacity,
          window = op.getWindow();
  int64_t counted = window > 0 ? std::min(window, capacity) : capacity;
  return std::min(1.0, static_cast<double>(*newest + 1) / static_cast<double>(counted));
}

Work workAt(ComputeOpInterface op, std::optional<int64_t> newest) {
  Work work = op.getWork();
  auto attention = llvm::dyn_cast<AttentionOp>(op.getOperation());
  if (!attention || !newest)
    return work;
  double share = keyShareOf(attention, newest);
  work.flops = static_cast<int64_t>(static_cast<double>(work.flops) * share);
  for (auto [operand, bytes] : llvm::zip_equal(op->getOperands(), work.operandBytes))
    if (llvm::isa<StateType>(operand.getType()))
      bytes = static_cast<int64_t>(static_cast<double>(bytes) * share);
  return work;
}

/// True where the operand is a matrix or table that no earlier kernel has just written.
static bool isWeightOperand(OpOperand& operand) {
  return llvm::isa<MatmulOp, ExpertMatmulOp, EmbeddingOp>(operand.getOwner()) &&
         operand.getOperandNumber() == (llvm::isa<EmbeddingOp>(operand.getOwner()) ? 0u : 1u);
}

/// The cache that `op` writes in place and passes on; null where it writes none.
static Value stateOf(Operation* op) {
  auto write = llvm::dyn_cast<KvWriteOp>(op);
  return write ? Value(write.getState()) : Value();
}

/// Bytes that the region reads of `argument`: the most that one of its readers does.
static void addRead(BlockArgument argument, std::optional<int64_t> newest, KernelWork& work) {
  int64_t most = 0;
  bool isWeight = false;
  auto visit = [&](auto&& self, Value value) -> void {
    for (OpOperand& use : value.getUses()) {
      auto op = llvm::dyn_cast<ComputeOpInterface>(use.getOwner());
      if (!op)
        continue;
      if (isView(op) || use.get() == stateOf(op)) {
        self(self, op->getResult(0));
        continue;
      }
      most = std::max(most, workAt(op, newest).operandBytes[use.getOperandNumber()]);
      isWeight |= isWeightOperand(use);
    }
  };
  visit(visit, argument);
  int64_t& sum = isWeight ? work.weightBytes : work.readBytes;
  sum = detail::saturatingSum({sum, most});
}

/// The bytes written of a value that the region yields.
static int64_t writtenBytes(Value value) {
  auto result = llvm::dyn_cast<OpResult>(getViewSource(value));
  auto op = result ? result.getOwner() : nullptr;
  if (auto compute = llvm::dyn_cast_or_null<ComputeOpInterface>(op))
    return compute.getWork().resultBytes[result.getResultNumber()];
  return getStorageBytes(value.getType()).value_or(0);
}

/// Operations of the region that the input of a GEMM in it depends on.
static llvm::DenseSet<Operation*> findRepeated(KernelOp kernel) {
  llvm::DenseSet<Operation*> repeated;
  for (Operation& op : llvm::reverse(kernel.getBlock().without_terminator()))
    if (llvm::any_of(op.getUses(), [&](OpOperand& use) {
          auto experts = llvm::dyn_cast<ExpertMatmulOp>(use.getOwner());
          return llvm::isa<MatmulOp>(use.getOwner()) || repeated.contains(use.getOwner()) ||
                 (experts && experts.getInput() == use.get());
        }))
      repeated.insert(&op);
  return repeated;
}

/// What a GEMM with the chosen of a weight's matrices decodes.
static void addProduct(ExpertMatmulOp op, KernelWork& work) {
  RankedTensorType weight = op.getWeight().getType();
  const Encoding* encoding = getEncoding(weight.getElementType());
  int64_t blocks = op.getWork().operandBytes[1] / encoding->blockBytes;
  if (encoding->isBlockQuantized())
    work.blocks.push_back({encoding, /*integers=*/false, blocks * encoding->blockSize, 0});
}

/// What a GEMM does beyond floating-point operations on its weight.
static void addProduct(MatmulOp op, int64_t flops, KernelWork& work) {
  RankedTensorType weight = op.getWeight().getType();
  const Encoding* encoding = getEncoding(weight.getElementType());
  int64_t quantOps = op.isQuantized() ? flops : 0;
  if (encoding->isBlockQuantized())
    work.blocks.push_back({encoding, op.isQuantized(), weight.getNumElements(), quantOps});
  work.quantOps = detail::saturatingSum({work.quantOps, quantOps});
}

KernelWork sumWork(KernelOp kernel, std::optional<int64_t> newest) {
  KernelWork work;
  llvm::DenseSet<Operation*> repeated = findRepeated(kernel);
  llvm::DenseMap<Operation*, int64_t> depth;
  llvm::DenseSet<Value> reduced;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    auto compute = llvm::dyn_cast<ComputeOpInterface>(op);
    if (!compute || isView(&op))
      continue;
    int64_t flops = workAt(compute, newest).flops, before = 0;
    for (Value operand : op.getOperands())
      if (Operation* producer = getViewSource(operand).getDefiningOp())
        before = std::max(before, depth.lookup(producer));
    depth[&op] = before + reductionsOf(op);
    work.reductions = std::max(work.reductions, depth[&op]);
    work.flops = detail::saturatingSum({work.flops, flops});
    if (auto attention = llvm::dyn_cast<AttentionOp>(op))
      work.keyShare = keyShareOf(attention, newest);
    if (auto gemm = llvm::dyn_cast<MatmulOp>(op))
      addProduct(gemm, flops, work);
    if (auto gemm = llvm::dyn_cast<ExpertMatmulOp>(op))
      addProduct(gemm, work);
    if (repeated.contains(&op)) {
      work.repeatedFlops = detail::saturatingSum({work.repeatedFlops, flops});
      // Norms of one value share its sums, and a block keeps what it has read.
      if (reductionsOf(op) > 0 && reduced.insert(op.getOperand(0)).second) {
        work.repeatedReductions += reductionsOf(op);
        work.repeatedElements +=
            llvm::cast<RankedTensorType>(op.getOperand(0).getType()).getNumElements();
      }
    }
  }
  for (BlockArgument argument : kernel.getBlock().getArguments())
    addRead(argument, newest, work);
  for (Value value : kernel.getYield().getValues())
    work.writtenBytes = detail::saturatingSum({work.writtenBytes, writtenBytes(value)});
  return work;
}

} // namespace tenon::passes::cost
