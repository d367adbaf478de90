#ifndef TENON_CODEGEN_CUDA_ARGUMENTSPACES_H
#define TENON_CODEGEN_CUDA_ARGUMENTSPACES_H

#include "codegen/KernelSet.h"
#include "codegen/cuda/PhaseStructure.h"

namespace tenon::codegen::cuda {

/// For each distinct kernel, where its inputs lie wherever it runs: what is promised of all places.
std::vector<std::vector<MemorySpace>> findSpaces(mlir::ModuleOp module, const KernelSet& kernels);

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_ARGUMENTSPACES_H
