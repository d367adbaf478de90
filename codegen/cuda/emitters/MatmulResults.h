#ifndef TENON_CODEGEN_CUDA_EMITTERS_MATMULRESULTS_H
#define TENON_CODEGEN_CUDA_EMITTERS_MATMULRESULTS_H

#include "codegen/cuda/RegionPrinter.h"

namespace tenon::codegen::cuda {

/// The one matmul of a region whose other operations follow it, element by element; null after an
/// error.
MatmulOp findMatmul(KernelContext& context);

/// Prints the epilogue and the stores of `width` results from column `column` on of row `row` of y
/// (rows of all batches counted together), which are in the array `sums`, not yet rounded. Where
/// `guarded`, columns outside y are left out.
mlir::LogicalResult printMatmulResults(KernelContext& context, MatmulOp op, CodeWriter& code,
                                       const std::string& row, const std::string& column,
                                       const std::string& sums, int width, bool guarded);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_MATMULRESULTS_H
