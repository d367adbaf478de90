#ifndef TENON_KERNELS_CUDA_ROWS_H
#define TENON_KERNELS_CUDA_ROWS_H

#include "ir/Dialect.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// The schedule of a kernel of one row reduction; sets its order, which follows from the operation
/// and the target alone.
ScheduleAttr scheduleRows(mlir::Operation& hero, const CudaTarget& target);

/// True where that order adds chunks of so many lanes.
bool hasChunksOf(mlir::Operation& hero, int64_t elements, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_ROWS_H
