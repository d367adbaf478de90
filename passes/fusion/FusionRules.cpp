#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion {

llvm::ArrayRef<const FusionRule*> allRules() {
  static constexpr const FusionRule* list[] = {
      &rules::residualNorm,    &rules::normResidual,     &rules::embeddingNorm,
      &rules::normMatmul,      &rules::sharedInput,      &rules::parallelProducts,
      &rules::qkvCache,        &rules::attentionCache,   &rules::matmulEpilogue,
      &rules::gatedLinear,     &rules::parallelResidual, &rules::headArgmax,
      &rules::elementwiseChain};
  return list;
}

bool isElementwise(Operation* op) { return llvm::isa_and_nonnull<ElementwiseOpInterface>(op); }

bool isNorm(Operation* op) { return llvm::isa_and_nonnull<RmsNormOp, LayerNormOp>(op); }

Operation* onlyUser(Operation* op) {
  llvm::SmallVector<Operation*> users = usersOf(op->getResult(0));
  return users.size() == 1 && !users.front()->hasTrait<OpTrait::IsTerminator>() ? users.front()
                                                                                : nullptr;
}

llvm::SmallVector<Operation*> elementwiseTail(Operation* op) {
  llvm::SmallVector<Operation*> tail;
  for (Operation* next = onlyUser(op); isElementwise(next); next = onlyUser(next))
    tail.push_back(next);
  return tail;
}

bool isPointwise(Operation* op) {
  if (!isElementwise(op))
    return false;
  return llvm::count_if(op->getOperands(), [](Value operand) {
           return !llvm::isa_and_nonnull<GetWeightOp, ConstantOp>(producerOf(operand));
         }) == 1;
}

llvm::SmallVector<Operation*> pointwiseTail(Operation* op) {
  llvm::SmallVector<Operation*> tail;
  for (Operation* next = onlyUser(op); next && isPointwise(next); next = onlyUser(next))
    tail.push_back(next);
  return tail;
}

llvm::SmallVector<Operation*> matmulsOf(Value value) {
  llvm::SmallVector<Operation*> found;
  for (Operation* user : usersOf(value))
    if (auto matmul = llvm::dyn_cast<MatmulOp>(user);
        matmul && producerOf(matmul.getInput()) == producerOf(value))
      found.push_back(user);
  return found;
}

/// Back from `value` through operations that `passes` lets pass, each read by the next alone, to a
/// product.
static llvm::SmallVector<Operation*> chainTo(Value value, bool (*passes)(Operation*)) {
  llvm::SmallVector<Operation*> chain;
  for (Operation* op = producerOf(value); op; op = producerOf(op->getOperand(0))) {
    chain.insert(chain.begin(), op);
    if (llvm::isa<MatmulOp>(op))
      return chain;
    if (!passes(op) || !onlyUser(op))
      break;
  }
  return {};
}

llvm::SmallVector<Operation*> headTail(Value value) {
  llvm::SmallVector<Operation*> tail;
  for (Operation* op = producerOf(value);
       llvm::isa_and_nonnull<KvWriteOp, RopeOp>(op) || isNorm(op);
       op = producerOf(op->getOperand(0)))
    tail.push_back(op);
  return tail;
}

llvm::SmallVector<Operation*> matmulChain(Value value) { return chainTo(value, isElementwise); }

llvm::SmallVector<Operation*> pointwiseChain(Value value) { return chainTo(value, isPointwise); }

} // namespace tenon::passes::fusion
