#include "tools/bench/FunctionInputs.h"

#include <algorithm>
#include <random>

#include "ir/Dialect.h"
#include "ir/KvCache.h"
#include "ir/Views.h"

using namespace mlir;

namespace tenon::tools {

namespace {

/// What the integers of an argument are.
struct IntegerMeaning {
  enum { Other, Ids, Sequences, Positions, Pages } kind = Other;
  int64_t limit = 1; ///< each is below it
};

IntegerMeaning meaningOf(OpOperand& use) {
  auto inCache = [&](const OpOperand& sequences, Value cacheValue,
                     Value blockTable) -> IntegerMeaning {
    KvCache cache(cacheValue.getType(), blockTable);
    if (blockTable && use.get() == blockTable)
      return {IntegerMeaning::Pages, cache.pages};
    return &use == &sequences ? IntegerMeaning{IntegerMeaning::Sequences, cache.sequences}
                              : IntegerMeaning{IntegerMeaning::Positions, cache.capacity};
  };
  if (auto embedding = llvm::dyn_cast<EmbeddingOp>(use.getOwner()))
    return {IntegerMeaning::Ids, embedding.getTable().getType().getShape()[0]};
  if (auto gather = llvm::dyn_cast<GatherOp>(use.getOwner()); gather && use.getOperandNumber() == 1)
    return {IntegerMeaning::Ids, gather.getInput().getType().getShape()[gather.getAxis()]};
  if (auto scatter = llvm::dyn_cast<ScatterOp>(use.getOwner());
      scatter && use.getOperandNumber() == 1)
    return {IntegerMeaning::Ids, scatter.getType().getShape()[scatter.getAxis()]};
  if (auto write = llvm::dyn_cast<KvWriteOp>(use.getOwner()))
    return inCache(write.getSequencesMutable(), write.getState(), write.getBlockTable());
  if (auto attention = llvm::dyn_cast<AttentionOp>(use.getOwner()))
    return inCache(attention.getSequencesMutable(), attention.getKey(), attention.getBlockTable());
  if (llvm::isa<RopeOp>(use.getOwner()))
    return {IntegerMeaning::Positions, std::numeric_limits<int32_t>::max()};
  return {};
}

/// The narrowest meaning that its readers, through views and inside kernels, give an argument.
IntegerMeaning meaningOf(Value value) {
  IntegerMeaning narrowest;
  for (OpOperand& use : value.getUses()) {
    IntegerMeaning found = meaningOf(use);
    if (isView(use.getOwner()))
      found = meaningOf(use.getOwner()->getResult(0));
    else if (auto kernel = llvm::dyn_cast<KernelOp>(use.getOwner()))
      found = meaningOf(kernel.getBlock().getArgument(use.getOperandNumber()));
    bool isNarrower = narrowest.kind == IntegerMeaning::Other || found.limit < narrowest.limit;
    if (found.kind != IntegerMeaning::Other && isNarrower)
      narrowest = found;
  }
  return narrowest;
}

/// True where all rows of the function belong to one sequence: a chunk of a prompt.
bool isOneSequence(func::FuncOp function) {
  return llvm::any_of(function.getArguments(), [](BlockArgument argument) {
    auto type = llvm::cast<RankedTensorType>(argument.getType());
    return type.getElementType().isInteger() &&
           meaningOf(argument).kind == IntegerMeaning::Sequences && type.getNumElements() == 1;
  });
}

/// Numbers from N(0, 1), which begin again after a prime number of them: drawing each takes longer than
/// what is measured where inputs are large.
class NormalNumbers {
public:
  double next() {
    if (numbers.size() < period)
      return numbers.emplace_back(gaussian(engine));
    at = at + 1 < period ? at + 1 : 0;
    return numbers[at];
  }

private:
  static constexpr size_t period = 1'048'583;
  std::mt19937 engine{1};
  std::normal_distribution<double> gaussian;
  std::vector<double> numbers;
  size_t at = period - 1; ///< of the last number that came again
};

} // namespace

std::vector<std::vector<std::byte>> makeFunctionInputs(func::FuncOp function, int64_t position) {
  bool oneSequence = isOneSequence(function);
  NormalNumbers normal;
  std::vector<std::vector<std::byte>> inputs;
  for (BlockArgument argument : function.getArguments()) {
    auto type = llvm::cast<RankedTensorType>(argument.getType());
    const Encoding& encoding = *getEncoding(type.getElementType());
    IntegerMeaning meaning = meaningOf(argument);
    std::vector<double> values(type.getNumElements());
    bool isChunk = oneSequence && values.size() > 1;
    for (auto [row, value] : llvm::enumerate(values)) {
      auto at = static_cast<int64_t>(row);
      if (!type.getElementType().isInteger())
        value = normal.next();
      else if (meaning.kind == IntegerMeaning::Ids)
        value = static_cast<double>((at * 104729 + 17) % meaning.limit);
      else if (meaning.kind == IntegerMeaning::Sequences || meaning.kind == IntegerMeaning::Pages)
        value = static_cast<double>(at % meaning.limit);
      else if (meaning.kind == IntegerMeaning::Positions)
        value = static_cast<double>(std::min(isChunk ? at : position, meaning.limit - 1));
      else if (!type.getElementType().isInteger(32)) // numbers, of which some are equal
        value = type.getElementType().isInteger(1) ? at % 3 == 0 : static_cast<double>(at * 7 % 23);
    }
    encoding.encode(values, inputs.emplace_back(*getStorageBytes(type)));
  }
  return inputs;
}

} // namespace tenon::tools
