#include "ir/StateOrder.h"

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

static bool isStateOfKvWrite(OpOperand& use) {
  return llvm::isa<KvWriteOp>(use.getOwner()) &&
         use.getOperandNumber() == KvWriteOp::odsIndex_state;
}

/// True where the operation that holds `use` writes the state in place. That operation may not be
/// verified yet.
static bool isWrite(OpOperand& use) {
  if (isStateOfKvWrite(use))
    return true;
  auto kernel = llvm::dyn_cast<KernelOp>(use.getOwner());
  if (!kernel || kernel->getNumRegions() == 0 || kernel->getRegion(0).empty())
    return false;
  Block& block = kernel->getRegion(0).front();
  return use.getOperandNumber() < block.getNumArguments() &&
         llvm::any_of(block.getArgument(use.getOperandNumber()).getUses(), isStateOfKvWrite);
}

/// True where `other` stands before `op` in the same block. Walks the list: the block's own order
/// numbers are made on demand, which would race with the verification of a neighbour.
static bool standsBefore(Operation* other, Operation* op) {
  for (Operation* before = op->getPrevNode(); before; before = before->getPrevNode())
    if (before == other)
      return true;
  return false;
}

static LogicalResult verifyWrite(OpOperand& write) {
  Operation* writer = write.getOwner();
  for (OpOperand& use : write.get().getUses()) {
    Operation* other = use.getOwner();
    if (&use == &write || (!isWrite(use) && standsBefore(other, writer)))
      continue;
    // Of two writes the later one is told.
    if (isWrite(use) && other->getBlock() == writer->getBlock() && other != writer &&
        !standsBefore(other, writer))
      continue;
    return (writer->emitOpError("writes operand #")
            << write.getOperandNumber() << " in place, but another operation "
            << (isWrite(use) ? "writes" : "reads") << " the same value"
            << (isWrite(use) ? "" : " afterwards") << ": would need a copy of the state")
               .attachNote(other->getLoc())
           << (isWrite(use) ? "written here" : "read here");
  }
  return success();
}

LogicalResult verifyStateOrder(Operation* writer) {
  for (OpOperand& operand : writer->getOpOperands())
    if (llvm::isa<StateType>(operand.get().getType()) && isWrite(operand) &&
        failed(verifyWrite(operand)))
      return failure();
  return success();
}

} // namespace tenon
