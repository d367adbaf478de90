#ifndef TENON_KERNELS_SCHEDULES_H
#define TENON_KERNELS_SCHEDULES_H

#include "ir/Dialect.h"

namespace tenon::kernels {

/// One chunk, added in `lanes` lanes that combine by halving.
OrderAttr makeOrder(mlir::MLIRContext* context, int64_t lanes, int64_t chunk = 0);

/// The one operation of the region, if it is an `OpTy`; null otherwise.
template <typename OpTy> OpTy soleOp(KernelOp kernel) {
  mlir::Block& block = kernel.getBlock();
  return llvm::hasNItems(block, 2) ? llvm::dyn_cast<OpTy>(block.front()) : OpTy();
}

/// The first `OpTy` of the region; null where there is none.
template <typename OpTy> OpTy findOp(KernelOp kernel) {
  for (mlir::Operation& op : kernel.getBlock())
    if (auto found = llvm::dyn_cast<OpTy>(op))
      return found;
  return nullptr;
}

/// The largest power of two, at most `limit`, that divides `extent`.
int64_t dividingPower(int64_t extent, int64_t limit);

} // namespace tenon::kernels

#endif // TENON_KERNELS_SCHEDULES_H
