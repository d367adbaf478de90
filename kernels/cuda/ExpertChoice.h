#ifndef TENON_KERNELS_CUDA_EXPERTCHOICE_H
#define TENON_KERNELS_CUDA_EXPERTCHOICE_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/ChoiceRegion.h"

namespace tenon::kernels {

/// A warp, which is a block, a row.
struct ExpertChoiceSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;

  static constexpr Parameter<ExpertChoiceSchedule> parameters[] = {
      threadsParameter(&ExpertChoiceSchedule::threads)};
};

/// The choice of a mixture of experts alone (codegen/cuda/emitters/ExpertChoice.cpp).
struct ExpertChoiceKernel {
  static constexpr llvm::StringLiteral name = "expert_choice";

  ChoiceRegion region;
  ExpertChoiceSchedule schedule;

  static VerdictOr<ExpertChoiceKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// Reads a region that is a choice of experts and nothing else, or says why it is none.
VerdictOr<ChoiceRegion> readExpertChoice(KernelOp kernel);

/// Gives the reductions the orders that they have in kernels of their own.
void setChoiceOrders(ChoiceRegion& choice, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_EXPERTCHOICE_H
