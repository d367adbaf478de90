#include "kernels/cuda/Elementwise.h"

#include "kernels/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<ElementwiseKernel> ElementwiseKernel::read(KernelOp kernel) {
  VerdictOr<ElementwiseSchedule> schedule =
      parseSchedule<ElementwiseSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return ElementwiseKernel{kernel, *schedule};
}

/// A thread loads the vectors of all inputs before it needs the first.
BlockResources ElementwiseKernel::resources() const {
  constexpr int64_t bytes = 2; // of the narrowest element
  int64_t inputs = KernelOp(kernel).getBlock().getNumArguments();
  return {.threads = schedule.threads,
          .registers = 40,
          .bytesAThread = std::max<int64_t>(16, schedule.vector * bytes * inputs)};
}

namespace kinds {
extern constexpr KernelKind elementwise = kindOf<ElementwiseKernel>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

static bool readsRows(KernelOp kernel) {
  return llvm::any_of(kernel.getBlock(), llvm::IsaPred<EmbeddingOp, DequantizeOp>);
}

static bool matches(KernelOp kernel, const CudaTarget&) {
  return bool(acceptsForm(forms::cudaElementwise, kernel));
}

/// True if some input has to be repeated along an axis; then rows keep their meaning.
static bool broadcasts(KernelOp kernel, int64_t elements) {
  return llvm::any_of(kernel.getBlock().getArguments(), [&](BlockArgument argument) {
    auto type = llvm::dyn_cast<RankedTensorType>(argument.getType());
    return type && type.getNumElements() != elements && type.getNumElements() != 1;
  });
}

/// A thread takes 16 bytes of the narrowest operand, so that every access is as wide as it can be;
/// few threads a block, so that small tensors spread over many multiprocessors.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours) {
  auto type = llvm::cast<RankedTensorType>(kernel.getResult(0).getType());
  int64_t elements = type.getNumElements(), row = elements;
  bool rowwise = type.getRank() > 0 && (readsRows(kernel) || broadcasts(kernel, elements));
  if (rowwise)
    row = type.getShape().back();
  int64_t vector = widestVector(kernel);
  if (rowwise)
    vector = dividingPower(row, vector);
  int64_t vectors = elements / row * llvm::divideCeil(row, vector);
  int64_t threads = vectors >= target.elementVectorsPerSm * target.sms ? 256 : 64;
  ElementwiseSchedule schedule = {static_cast<int64_t>(llvm::divideCeil(vectors, threads)), threads,
                                  row, vector};
  return printSchedule(kernel.getContext(), ElementwiseKernel::name, schedule);
}

const CudaScheduleRule elementwise = {matches, choose, &forms::cudaElementwise};

} // namespace tenon::kernels::cuda_rules
