#include "ir/Dialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tenon {

LogicalResult GetStateOp::verifySymbolUses(SymbolTableCollection& symbols) {
  auto state = symbols.lookupNearestSymbolFrom<StateOp>(*this, getStateAttr());
  if (!state)
    return emitOpError("expects a tenon.state named ") << getStateAttr();
  if (state.getType() != getType())
    return (emitOpError("expects the type of the state, ")
            << state.getType() << ", but got " << getType())
               .attachNote(state.getLoc())
           << "the state is here";
  for (GetStateOp other : (*this)->getBlock()->getOps<GetStateOp>())
    if (other != *this && other.getStateAttr() == getStateAttr())
      return (emitOpError("expects to be the one tenon.get_state of ")
              << getStateAttr() << " in its function")
                 .attachNote(other.getLoc())
             << "another one is here";
  return success();
}

void GetStateOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getState());
}

} // namespace tenon
