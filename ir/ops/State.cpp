#include "ir/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tenon {

/// True for the first tenon.get_state of its block. All of a block's ask together in linear time:
/// each looks back to the one before it.
static bool isFirst(GetStateOp op) {
  for (Operation* before = op->getPrevNode(); before; before = before->getPrevNode())
    if (llvm::isa<GetStateOp>(before))
      return false;
  return true;
}

/// Checks that no state is taken twice from `first` to the end of its block.
static LogicalResult verifyUnique(GetStateOp first) {
  llvm::DenseMap<Attribute, GetStateOp> taken;
  for (Operation* op = first; op; op = op->getNextNode()) {
    auto other = llvm::dyn_cast<GetStateOp>(op);
    if (!other)
      continue;
    auto [found, isNew] = taken.try_emplace(other.getStateAttr(), other);
    if (!isNew)
      return (found->second.emitOpError("expects to be the one tenon.get_state of ")
              << other.getStateAttr() << " in its function")
                 .attachNote(other.getLoc())
             << "another one is here";
  }
  return success();
}

LogicalResult GetStateOp::verifySymbolUses(SymbolTableCollection& symbols) {
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(*this, getStateAttr());
  if (!state)
    return emitOpError("expects a tenon.state named ") << getStateAttr();
  if (state.getType() != getType())
    return (emitOpError("expects the type of the state, ")
            << state.getType() << ", but got " << getType())
               .attachNote(state.getLoc())
           << "the state is here";
  return isFirst(*this) ? verifyUnique(*this) : success();
}

void GetStateOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getState());
}

} // namespace tenon
