#ifndef TENON_PASSES_QUANTIZE_EXPANDWEIGHTS_H
#define TENON_PASSES_QUANTIZE_EXPANDWEIGHTS_H

#include <memory>

#include "mlir/Pass/Pass.h"
#include "passes/fusion/Fusion.h"

namespace tenon::passes {

/// The pass with options that no text can hold: the libraries, launch mode and measured times that
/// it prices with.
std::unique_ptr<mlir::Pass> createExpandWeightsPass(const FusionOptions& options);

} // namespace tenon::passes

#endif // TENON_PASSES_QUANTIZE_EXPANDWEIGHTS_H
