#include "passes/fusion/FusionRule.h"

using namespace mlir;

namespace tenon::passes::fusion {

llvm::ArrayRef<const FusionRule*> allRules() {
  static constexpr const FusionRule* list[] = {
      &rules::residualNorm,     &rules::normResidual, &rules::embeddingNorm,   &rules::normMatmul,
      &rules::sharedInput,      &rules::qkvCache,     &rules::matmulEpilogue,  &rules::gatedLinear,
      &rules::parallelResidual, &rules::headArgmax,   &rules::elementwiseChain};
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

llvm::SmallVector<Operation*> matmulsOf(Value value) {
  llvm::SmallVector<Operation*> found;
  for (Operation* user : usersOf(value))
    if (auto matmul = llvm::dyn_cast<MatmulOp>(user);
        matmul && producerOf(matmul.getInput()) == producerOf(value))
      found.push_back(user);
  return found;
}

llvm::SmallVector<Operation*> matmulChain(Value value) {
  llvm::SmallVector<Operation*> chain;
  for (Operation* op = producerOf(value); op; op = producerOf(op->getOperand(0))) {
    chain.insert(chain.begin(), op);
    if (llvm::isa<MatmulOp>(op))
      return chain;
    if (!isElementwise(op) || !onlyUser(op))
      break;
  }
  return {};
}

} // namespace tenon::passes::fusion
