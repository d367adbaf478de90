#ifndef TENON_KERNELS_REGIONS_NORMS_H
#define TENON_KERNELS_REGIONS_NORMS_H

#include "ir/Dialect.h"

namespace tenon::kernels {

/// True for rms_norm and layer_norm; false for null.
inline bool isNorm(mlir::Operation* op) {
  return llvm::isa_and_nonnull<RmsNormOp, LayerNormOp>(op);
}

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_NORMS_H
