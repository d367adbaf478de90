#ifndef TENON_CODEGEN_CPU_EMITTER_H
#define TENON_CODEGEN_CPU_EMITTER_H

#include <limits>

#include "codegen/cpu/VectorBuilder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace tenon::codegen::cpu {

/// What an emitter works on: one kernel region and the addresses of its tensors.
class KernelContext {
public:
  /// `pointers` has an entry for every argument of the region, and one for every yielded tensor in
  /// `results`, by position.
  KernelContext(KernelOp kernel, VectorBuilder& builder, llvm::ArrayRef<mlir::Value> arguments,
                llvm::ArrayRef<mlir::Value> results)
      : kernel(kernel), builder(builder), lanes(builder.nativeLanes()), arguments(arguments),
        results(results), written(results.size()) {}

  KernelOp kernel;
  VectorBuilder& builder;
  /// f32 elements in a native vector of the target.
  int64_t lanes;

  ScheduleAttr schedule() { return kernel.getScheduleAttr(); }
  /// The address of a region argument.
  mlir::Value pointer(mlir::Value argument) const {
    return arguments[llvm::cast<mlir::BlockArgument>(argument).getArgNumber()];
  }
  /// Where values of the region lie that the thread has computed before its tiles.
  llvm::DenseMap<mlir::Value, mlir::Value> shared;
  /// The address of result `index` of the kernel, which the emitter writes.
  mlir::Value result(unsigned index) {
    written.set(index);
    return results[index];
  }
  /// The addresses that `value` is to be written to: one for each time that the region yields it.
  llvm::SmallVector<mlir::Value> destinations(mlir::Value value);
  /// Checks, behind the emitter, that it has asked for the address of every result.
  mlir::LogicalResult expectWritten();

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
  /// A parameter of the schedule, which `ScheduleAttr` bounds; emits an error where it is missing, or
  /// larger than `most`.
  mlir::FailureOr<int64_t> parameter(llvm::StringRef name,
                                     int64_t most = std::numeric_limits<int64_t>::max());
  /// Checks that the schedule has as many tiles as the emitter will number.
  mlir::LogicalResult expectTiles(int64_t tiles);

  /// Accumulators of a block that a loop keeps in registers: twice as many as a CPU has.
  static constexpr int64_t mostAccumulators = 64;

private:
  llvm::ArrayRef<mlir::Value> arguments;
  llvm::ArrayRef<mlir::Value> results;
  llvm::SmallBitVector written; ///< results that the emitter has asked for
};

/// Computes kernel regions of one schedule kind. An emitter is one file in `emitters/` and one line
/// in the list in `Emitter.cpp`.
struct Emitter {
  /// The name in `#tenon.schedule`.
  llvm::StringLiteral name;
  /// Emits the code of tile number `tile` (i64, in [0, tiles)) at the builder's insertion point,
  /// in a function of its own. Emits an error where the region or its schedule is none that the
  /// emitter can compute.
  mlir::LogicalResult (*emitTile)(KernelContext& context, mlir::Value tile);
  /// If set, emits what a thread does once, before its tiles; `context.shared` passes it on.
  mlir::LogicalResult (*emitBefore)(KernelContext& context) = nullptr;
};

/// The emitter of that name; null where there is none.
const Emitter* findEmitter(llvm::StringRef name);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_EMITTER_H
