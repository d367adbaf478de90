#include "codegen/cuda/LibraryCall.h"

#include <optional>

#include "kernels/cuda/LibraryGemm.h"

using namespace mlir;

namespace tenon::codegen::cuda {

using runtime::LibraryMatmul;
using runtime::MatmulType;

bool isLibraryGemm(KernelOp kernel) {
  return kernel.getScheduleAttr() &&
         kernel.getScheduleAttr().getEmitter() == kernels::LibraryGemmKernel::name;
}

static std::optional<MatmulType> matmulType(Type elementType) {
  if (elementType.isF32())
    return MatmulType::F32;
  if (elementType.isF16())
    return MatmulType::F16;
  if (elementType.isBF16())
    return MatmulType::Bf16;
  return std::nullopt;
}

/// The region's GEMM of its two arguments; null where it is another region.
static MatmulOp soleGemm(KernelOp kernel) {
  Block& block = kernel.getBlock();
  auto op = llvm::dyn_cast<MatmulOp>(block.front());
  bool isSole = op && llvm::hasNItems(block, 2) && block.getNumArguments() == 2 &&
                kernel.getYield().getValues().size() == 1;
  return isSole && op.getInput() == block.getArgument(0) && op.getWeight() == block.getArgument(1)
             ? op
             : MatmulOp();
}

FailureOr<LibraryMatmul> describeGemm(KernelOp kernel) {
  MatmulOp op = soleGemm(kernel);
  if (!op || op.getWeight().getType().getRank() != 2)
    return kernel.emitOpError("expects a region of one tenon.matmul of x and a matrix for the "
                              "schedule ")
           << kernel.getScheduleAttr();
  std::optional<MatmulType> input = matmulType(op.getInput().getType().getElementType());
  std::optional<MatmulType> weight = matmulType(op.getWeight().getType().getElementType());
  std::optional<MatmulType> output = matmulType(op.getType().getElementType());
  if (!input || input != weight || !output || (output != input && output != MatmulType::F32))
    return kernel.emitOpError("expects factors of one type, f32, f16 or bf16, and a result of that "
                              "type or f32 for the schedule ")
           << kernel.getScheduleAttr();
  auto library = kernels::LibraryGemmKernel::read(kernel);
  if (!library)
    return kernel.emitOpError(library.reason());
  bool tf32 = library->schedule.tf32 != 0;
  if (tf32 && *input != MatmulType::F32)
    return kernel.emitOpError("expects f32 factors for TF32 in the schedule ")
           << kernel.getScheduleAttr();
  llvm::ArrayRef<int64_t> shape = op.getWeight().getType().getShape(); // [N, K]
  return LibraryMatmul{.m = op.getInput().getType().getNumElements() / shape[1],
                       .n = shape[0],
                       .k = shape[1],
                       .input = *input,
                       .output = *output,
                       .tf32 = tf32,
                       .workspaceBytes = static_cast<uint64_t>(library->schedule.workspaceBytes)};
}

} // namespace tenon::codegen::cuda
