#ifndef TENON_TESTS_CODEGEN_CUDA_COMPAREONDEVICE_H
#define TENON_TESTS_CODEGEN_CUDA_COMPAREONDEVICE_H

#include "CudaCases.h"
#include "absl/status/statusor.h"
#include "ir/ReferenceTensor.h"
#include "runtime/cuda/CudaExecutor.h"

namespace tenon::testing {

/// Inputs as described, the same for the same description and seed.
std::vector<ReferenceTensor> makeInputs(mlir::MLIRContext& context,
                                        llvm::ArrayRef<CaseInput> described, unsigned seed = 1);

/// Runs function `function` of the program; the bytes of each output. Expects that nothing beside the
/// outputs is written.
absl::StatusOr<std::vector<std::vector<std::byte>>>
runOnDevice(runtime::CudaExecutor& executor, llvm::ArrayRef<ReferenceTensor> inputs,
            size_t function = 0);

/// Expects |a − b| ≤ tolerance · max |b|, plus two units of the type's last place, everywhere.
void expectClose(const ReferenceTensor& expected, const std::vector<std::byte>& bytes,
                 double tolerance, const std::string& what);

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_COMPAREONDEVICE_H
