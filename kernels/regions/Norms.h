#ifndef TENON_KERNELS_REGIONS_NORMS_H
#define TENON_KERNELS_REGIONS_NORMS_H

#include "ir/Dialect.h"

namespace tenon::kernels {

/// True for rms_norm and layer_norm; false for null.
inline bool isNorm(mlir::Operation* op) {
  return llvm::isa_and_nonnull<RmsNormOp, LayerNormOp>(op);
}

/// True for two norms of one value with the same sums and factor: they differ in weights alone, and
/// one kernel computes both from what it finds once.
inline bool isSibling(mlir::Operation& norm, mlir::Operation& other) {
  if (&norm == &other || !isNorm(&norm) || norm.getName() != other.getName() ||
      norm.getOperand(0) != other.getOperand(0))
    return false;
  return norm.getAttr("epsilon") == other.getAttr("epsilon");
}

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_NORMS_H
