#include "ir/Views.h"

#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

bool isView(Operation* op) { return llvm::isa<ReshapeOp>(op); }

Value getViewSource(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace tenon
