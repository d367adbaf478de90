#include "codegen/KernelSet.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace tenon::codegen {

static size_t hashOf(KernelOp kernel) {
  auto types = [](auto range) { return llvm::hash_combine_range(range.begin(), range.end()); };
  llvm::hash_code hash =
      llvm::hash_combine(kernel.getScheduleAttr(), types(kernel.getResultTypes()),
                         types(kernel.getBlock().getArgumentTypes()));
  for (Operation& op : kernel.getBlock())
    hash =
        llvm::hash_combine(hash, op.getName(), op.getAttrDictionary(), types(op.getResultTypes()));
  return hash;
}

static bool areEqual(KernelOp a, KernelOp b) {
  return a.getScheduleAttr() == b.getScheduleAttr() && a.getResultTypes() == b.getResultTypes() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

KernelSet::KernelSet(ModuleOp module) {
  module.walk([&](KernelOp kernel) { indices[kernel] = insert(kernel); });
}

uint32_t KernelSet::insert(KernelOp kernel) {
  size_t hash = hashOf(kernel);
  auto [first, last] = byHash.equal_range(hash);
  for (; first != last; ++first)
    if (areEqual(distinct[first->second], kernel))
      return first->second;
  uint32_t index = distinct.size();
  distinct.push_back(kernel);
  byHash.emplace(hash, index);
  return index;
}

std::string KernelSet::symbol(uint32_t index) const {
  KernelOp kernel = distinct[index];
  return "k" + std::to_string(index) + "_" + kernel.getScheduleAttr().getEmitter().str();
}

} // namespace tenon::codegen
