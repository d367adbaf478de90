#include "passes/fusion/FusionRule.h"

#include "ir/Views.h"

using namespace mlir;

namespace tenon::passes::fusion {

bool isElementwise(Operation* op) { return llvm::isa_and_nonnull<ElementwiseOpInterface>(op); }

/// Finds who reads `value` through views; false once there are two of them.
static bool findOnlyUser(Value value, Operation*& found) {
  for (Operation* user : value.getUsers())
    if (isView(user)) {
      if (!findOnlyUser(user->getResult(0), found))
        return false;
    } else {
      if (found && found != user)
        return false;
      found = user;
    }
  return true;
}

Operation* onlyUser(Operation* op) {
  Operation* found = nullptr;
  bool isOnly = findOnlyUser(op->getResult(0), found);
  return isOnly && found && !found->hasTrait<OpTrait::IsTerminator>() ? found : nullptr;
}

/// The operations after `op` that `follows` takes, each the only user of the one before.
static llvm::SmallVector<Operation*> tailOf(Operation* op, bool (*follows)(Operation*)) {
  llvm::SmallVector<Operation*> tail;
  for (Operation* next = onlyUser(op);
       next && follows(next) && tail.size() + 1 < mostKernelOperations; next = onlyUser(next))
    tail.push_back(next);
  return tail;
}

llvm::SmallVector<Operation*> elementwiseTail(Operation* op) { return tailOf(op, isElementwise); }

bool isPointwise(Operation* op) {
  if (!isElementwise(op))
    return false;
  return llvm::count_if(op->getOperands(), [](Value operand) {
           return !llvm::isa_and_nonnull<GetWeightOp, ConstantOp>(producerOf(operand));
         }) == 1;
}

llvm::SmallVector<Operation*> pointwiseTail(Operation* op) { return tailOf(op, isPointwise); }

llvm::SmallVector<Operation*> matmulsOf(Value value) {
  llvm::SmallVector<Operation*> found;
  for (Operation* user : usersOf(value))
    if (auto matmul = llvm::dyn_cast<MatmulOp>(user);
        matmul && getViewSource(matmul.getInput()) == getViewSource(value))
      found.push_back(user);
  return found;
}

/// Back from `value` through operations that `passes` lets pass, each read by the next alone, to a
/// GEMM.
static llvm::SmallVector<Operation*> chainTo(Value value, bool (*passes)(Operation*)) {
  llvm::SmallVector<Operation*> chain;
  for (Operation* op = producerOf(value); op && chain.size() < mostKernelOperations;
       op = producerOf(op->getOperand(0))) {
    chain.push_back(op);
    if (llvm::isa<MatmulOp>(op)) {
      std::reverse(chain.begin(), chain.end());
      return chain;
    }
    if (!passes(op) || !onlyUser(op))
      break;
  }
  return {};
}

llvm::SmallVector<Operation*> headTail(Value value) {
  llvm::SmallVector<Operation*> tail;
  for (Operation* op = producerOf(value);
       (llvm::isa_and_nonnull<KvWriteOp, HadamardOp, RopeOp>(op) || isNorm(op)) &&
       tail.size() < mostKernelOperations;
       op = producerOf(op->getOperand(0)))
    tail.push_back(op);
  return tail;
}

void proposePieces(llvm::ArrayRef<Operation*> ops, Propose propose) {
  for (; ops.size() > mostKernelOperations; ops = ops.drop_front(mostKernelOperations))
    propose(ops.take_front(mostKernelOperations));
  if (ops.size() > 1)
    propose(ops);
}

llvm::SmallVector<Operation*> matmulChain(Value value) { return chainTo(value, isElementwise); }

llvm::SmallVector<Operation*> pointwiseChain(Value value) { return chainTo(value, isPointwise); }

} // namespace tenon::passes::fusion
