#include "codegen/cuda/ArgumentSpaces.h"

#include "codegen/cuda/Emitter.h"
#include "ir/Views.h"

using namespace mlir;

namespace tenon::codegen::cuda {

/// What a value of a kernel's region is outside it; null where the region makes it.
static Value outside(KernelOp kernel, Value value) {
  auto argument = llvm::dyn_cast<BlockArgument>(value);
  return argument ? getViewSource(kernel.getInputs()[argument.getArgNumber()]) : Value();
}

/// Whether two operands, each of its kernel, are the same bytes; or there are neither.
static bool isSame(KernelOp kernel, Value operand, KernelOp other, Value otherOperand) {
  if (!operand || !otherOperand)
    return !operand && !otherOperand;
  Value value = outside(kernel, operand);
  return value && value == outside(other, otherOperand);
}

/// Whether `state` is what the call finds but for one kernel's writes, and all that `reader` does
/// with its input `index` is to attend from the sequences and positions of those.
static bool isAppended(OpResult state, KernelOp reader, unsigned index) {
  auto writer = llvm::dyn_cast<KernelOp>(state.getOwner());
  if (!writer)
    return false;
  auto write = writer.getYield().getValues()[state.getResultNumber()].getDefiningOp<KvWriteOp>();
  Value found = write ? outside(writer, write.getState()) : Value();
  return found && found.getDefiningOp<GetStateOp>() &&
         llvm::all_of(reader.getBlock().getArgument(index).getUsers(), [&](Operation* user) {
           auto attention = llvm::dyn_cast<AttentionOp>(user);
           return attention &&
                  isSame(reader, attention.getSequences(), writer, write.getSequences()) &&
                  isSame(reader, attention.getPositions(), writer, write.getPositions()) &&
                  isSame(reader, attention.getBlockTable(), writer, write.getBlockTable());
         });
}

/// Where the bytes of a kernel's input come from. A function's arguments are written before its
/// first kernel starts, and so is a state that no kernel has yielded: a function has one
/// `get_state` of it. Tensors of numbers as arguments stand for another kernel's results, as a
/// kernel that is measured or tested alone has them.
static MemorySpace spaceOf(KernelOp kernel, unsigned index) {
  Value source = getViewSource(kernel.getInputs()[index]);
  Operation* producer = source.getDefiningOp();
  if (!producer)
    return elementTypeOf(source.getType()).isInteger() ? MemorySpace::Settled : MemorySpace::Global;
  if (llvm::isa<GetStateOp>(producer))
    return MemorySpace::Settled;
  if (llvm::isa<GetWeightOp, ConstantOp>(producer))
    return MemorySpace::Constant;
  return isAppended(llvm::cast<OpResult>(source), kernel, index) ? MemorySpace::Appended
                                                                 : MemorySpace::Global;
}

std::vector<std::vector<MemorySpace>> findSpaces(ModuleOp module, const KernelSet& kernels) {
  std::vector<std::vector<MemorySpace>> spaces;
  for (KernelOp kernel : kernels.kernels())
    spaces.emplace_back(kernel.getInputs().size(), MemorySpace::Constant);
  module.walk([&](KernelOp kernel) {
    std::vector<MemorySpace>& known = spaces[kernels.indexOf(kernel)];
    for (unsigned index = 0; index < known.size(); ++index)
      known[index] = std::max(known[index], spaceOf(kernel, index));
  });
  return spaces;
}

} // namespace tenon::codegen::cuda
