#ifndef TENON_PASSES_FUSION_FUSEKERNELS_H
#define TENON_PASSES_FUSION_FUSEKERNELS_H

#include <memory>

#include "mlir/Pass/Pass.h"
#include "passes/fusion/Fusion.h"

namespace tenon::passes {

/// The pass `tenon-fuse-kernels` with options that no text can hold.
std::unique_ptr<mlir::Pass> createFuseKernelsPass(const FusionOptions& options);

} // namespace tenon::passes

#endif // TENON_PASSES_FUSION_FUSEKERNELS_H
