#ifndef TENON_KERNELS_REGIONS_MATMULEXTENTS_H
#define TENON_KERNELS_REGIONS_MATMULEXTENTS_H

#include "ir/Dialect.h"

namespace tenon::kernels {

/// y [batches, rows, columns] = x [batches, rows, depth] · W [batches, columns, depth]ᵀ.
struct MatmulExtents {
  explicit MatmulExtents(MatmulOp op) {
    mlir::RankedTensorType weight = op.getWeight().getType();
    depth = weight.getShape().back();
    columns = weight.getShape().end()[-2];
    batches = weight.getNumElements() / (columns * depth);
    rows = op.getInput().getType().getNumElements() / (depth * batches);
  }

  int64_t batches, rows, columns, depth;
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_MATMULEXTENTS_H
