#include "codegen/cuda/LibraryCall.h"

#include "kernels/cuda/LibraryGemm.h"

using namespace mlir;

namespace tenon::codegen::cuda {

using runtime::LibraryMatmul;
using runtime::MatmulType;

bool isLibraryGemm(KernelOp kernel) {
  return kernel.getScheduleAttr() &&
         kernel.getScheduleAttr().getEmitter() == kernels::LibraryGemmKernel::name;
}

/// Of a type that a library computes in.
static MatmulType matmulType(Type elementType) {
  return elementType.isF16()    ? MatmulType::F16
         : elementType.isBF16() ? MatmulType::Bf16
                                : MatmulType::F32;
}

FailureOr<LibraryMatmul> describeGemm(KernelOp kernel) {
  auto library = kernels::LibraryGemmKernel::read(kernel);
  if (!library)
    return kernel.emitOpError(library.reason()) << " in the schedule " << kernel.getScheduleAttr();
  const auto& [region, schedule] = *library;
  MatmulOp op = region.op;
  MatmulType input = matmulType(op.getInput().getType().getElementType());
  if (schedule.tf32 != 0 && input != MatmulType::F32)
    return kernel.emitOpError("expects f32 factors for TF32 in the schedule ")
           << kernel.getScheduleAttr();
  llvm::ArrayRef<int64_t> shape = op.getWeight().getType().getShape(); // [N, K]
  return LibraryMatmul{.m = op.getInput().getType().getNumElements() / shape[1],
                       .n = shape[0],
                       .k = shape[1],
                       .input = input,
                       .output = matmulType(op.getType().getElementType()),
                       .tf32 = schedule.tf32 != 0,
                       .workspaceBytes = static_cast<uint64_t>(schedule.workspaceBytes),
                       .residual = region.hasResidual,
                       .bias = region.hasBias,
                       .gelu = region.hasGelu};
}

} // namespace tenon::codegen::cuda
