#ifndef TENON_CODEGEN_CUDA_LIBRARYCALL_H
#define TENON_CODEGEN_CUDA_LIBRARYCALL_H

#include "ir/Dialect.h"
#include "runtime/program/Program.h"

namespace tenon::codegen::cuda {

/// Whether the kernel's schedule leaves it to cuBLASLt.
bool isLibraryGemm(KernelOp kernel);

/// What cuBLASLt is to compute for such a kernel, a `kernels::LibraryGemmRegion`. Emits an error
/// where the region or its types are none that it computes.
mlir::FailureOr<runtime::LibraryMatmul> describeGemm(KernelOp kernel);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_LIBRARYCALL_H
