#ifndef TENON_CODEGEN_CUDA_EMITTER_H
#define TENON_CODEGEN_CUDA_EMITTER_H

#include <string>
#include <vector>

#include "codegen/cuda/PhaseStructure.h"
#include "ir/Dialect.h"
#include "kernels/KernelKind.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tenon::codegen::cuda {

/// What an emitter needs to know of a GPU.
struct Architecture {
  std::string name;          ///< `sm_90a`
  int capability;            ///< compute capability, major · 10 + minor: 90
  int64_t registersPerSm;    ///< of a multiprocessor; 0 where the target does not say
  int64_t smemBytesPerBlock; ///< shared memory that a block may have; 0 where it does not say

  /// cp.async.bulk, mbarrier transactions, programmatic dependent launch, clusters.
  bool isHopperOrLater() const { return capability >= 90; }
  /// wgmma, setmaxnreg: of that architecture alone.
  bool hasWarpgroups() const { return name == "sm_90a"; }
};

/// What an emitter works on: one kernel region, its parameters, and the structure that it fills.
class KernelContext {
public:
  /// `spaces` has an entry an argument of the region: where it lies in every place where the program
  /// runs this kernel. Constant, settled or global; of a state that the region writes, settled says
  /// that no kernel before this one has written to it in the same call.
  KernelContext(KernelOp kernel, Architecture architecture, std::vector<MemorySpace> spaces);

  KernelOp kernel;
  Architecture architecture;
  PhaseStructure structure;

  ScheduleAttr schedule() { return kernel.getScheduleAttr(); }
  /// The parameter that points to a region argument: `a0`.
  std::string pointer(mlir::Value argument) const;
  /// The parameters that `value` is to be written to: one for each time that the region yields it.
  llvm::SmallVector<std::string> destinations(mlir::Value value);
  /// Checks, behind the emitter, that it has asked for the parameters of every result.
  mlir::LogicalResult expectWritten();

  /// A read of a region argument, in the space that it lies in.
  Access access(mlir::Value argument) const;
  /// A write to a state that is a region argument.
  Access writeAccess(mlir::Value state) const { return {MemorySpace::Global, pointer(state)}; }
  /// The accesses to all arguments that lie in constant memory, or to all others.
  std::vector<Access> arguments(bool constant);
  /// The accesses to the results that are no states.
  std::vector<Access> results();

  /// The one operation of the region, which must be an `OpTy`; null after an error.
  template <typename OpTy> OpTy soleOp() {
    mlir::Block& block = kernel.getBlock();
    auto op = llvm::dyn_cast<OpTy>(block.front());
    if (op && llvm::hasNItems(block, 2))
      return op;
    kernel.emitOpError("expects a region of one ")
        << OpTy::getOperationName() << " for the emitter " << schedule().getEmitter();
    return nullptr;
  }
  /// The region and schedule as a kernel of that kind (`kernels::NarrowGemmKernel`), and what a block takes
  /// in the structure; emits an error where they are none.
  template <typename Kernel> mlir::FailureOr<Kernel> read() {
    VerdictOr<Kernel> found = Kernel::read(kernel);
    if (!found)
      return kernel.emitOpError(found.reason());
    if (failed(useResources(found->resources())))
      return mlir::failure();
    return *std::move(found);
  }
  /// Checks that the schedule has as many tiles as the emitter will number.
  mlir::LogicalResult expectTiles(int64_t tiles);
  /// What a block takes, once the emitter has read its kernel.
  const kernels::BlockResources& blockResources() const { return resources; }

private:
  /// Emits an error where a block takes more shared memory than the target gives it.
  mlir::LogicalResult useResources(const kernels::BlockResources& needs);

  kernels::BlockResources resources;
  std::vector<MemorySpace> spaces;
  llvm::SmallBitVector written; ///< results that the emitter has asked for
};

/// Computes kernel regions of one schedule kind. An emitter is one file in `emitters/` and one line
/// in the list in `Emitter.cpp`.
///
/// Every buffer that a kernel is given starts at a multiple of 16 bytes; positions, sequences and
/// ids may hold anything.
struct Emitter {
  /// The name in `#tenon.schedule`.
  llvm::StringLiteral name;
  /// Fills `context.structure`. Emits an error where the region or its schedule is none that the
  /// emitter can compute.
  mlir::LogicalResult (*emit)(KernelContext& context);
};

/// The emitter of that name; null where there is none.
const Emitter* findEmitter(llvm::StringRef name);

/// The device type of an element type: `float`, `F16`, `BF16`, `int`, `Q8_0`, `Q4_0`.
std::string deviceType(mlir::Type elementType);
/// The element type of a tensor or state.
mlir::Type elementTypeOf(mlir::Type type);
/// The shape of a tensor or state.
llvm::ArrayRef<int64_t> shapeOf(mlir::Type type);
/// Bytes of an element of a plain type.
int64_t elementBytes(mlir::Type elementType);
/// True for a block-quantised element type.
bool isBlockQuantized(mlir::Type elementType);

/// The order of a reduction, which scheduling has set; emits an error where it is missing.
template <typename OpTy> mlir::FailureOr<OrderAttr> orderOf(OpTy op) {
  if (OrderAttr order = op.getOrderAttr())
    return order;
  return op.emitOpError("expects an order in a scheduled module");
}

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTER_H
