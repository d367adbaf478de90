#ifndef TENON_KERNELS_CUDA_EXPERTCHOICE_H
#define TENON_KERNELS_CUDA_EXPERTCHOICE_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"

namespace tenon::kernels {

/// A warp, which is a block, a row.
struct ExpertChoiceSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;

  static constexpr Parameter<ExpertChoiceSchedule> parameters[] = {
      threadsParameter(&ExpertChoiceSchedule::threads)};
};

/// The choice of a mixture of experts, all of it in f32 (codegen/cuda/emitters/ExpertChoice.cpp):
/// the softmax of each row's scores, its largest elements and, where they are divided by their sum,
/// that.
struct ExpertChoiceKernel {
  static constexpr llvm::StringLiteral name = "expert_choice";

  SoftmaxOp softmax;
  TopKOp best;
  ReduceOp sum;  ///< null where the weights are not divided
  DivOp weights; ///< likewise
  int64_t rows, experts;
  ExpertChoiceSchedule schedule;

  static VerdictOr<ExpertChoiceKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// Reads the region, or says why it is no choice of experts. The schedule is empty.
VerdictOr<ExpertChoiceKernel> readExpertChoice(KernelOp kernel);

/// The schedule, with the orders that the reductions have in kernels of their own, which are set.
ExpertChoiceSchedule chooseExpertChoice(const ExpertChoiceKernel& kernel, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_EXPERTCHOICE_H
