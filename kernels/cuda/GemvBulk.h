#ifndef TENON_KERNELS_CUDA_GEMVBULK_H
#define TENON_KERNELS_CUDA_GEMVBULK_H

#include "kernels/KernelKind.h"
#include "kernels/Neighbours.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/cuda/ProductLayout.h"

namespace tenon::kernels {

/// Products of very few rows of x whose weights the warps of a block bring through rings in shared
/// memory by bulk copies, on sm_90 and later (codegen/cuda/emitters/GemvBulk.cpp).
struct GemvBulkKernel {
  static constexpr llvm::StringLiteral name = "gemv_bulk";

  ProductRegion region;
  GemvBulkSchedule schedule;
  ProductLayout layout;

  static VerdictOr<GemvBulkKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const { return {}; }
};

/// The schedule of `region`, whose products have the orders of `orderForBulkCopies`; refuses a
/// region whose inputs do not fit into shared memory beside the rings.
VerdictOr<GemvBulkSchedule> chooseGemvBulk(const ProductRegion& region, const CudaTarget& target,
                                           Neighbours neighbours);
/// The order of a product, which follows from its weight and input alone.
OrderAttr orderForBulkCopies(MatmulOp op);
/// Whether bulk copies can bring the weights of a product.
Verdict acceptsBulkCopies(MatmulOp op, const CudaTarget& target);
/// Whether they should, for one product alone.
bool suitsBulkCopies(MatmulOp op, const CudaTarget& target);

/// Other schedules that compute the same bits, worth measuring: other warps a block, stages of
/// their rings, and stages filled before the kernel waits, where a block fits. Nothing for another
/// kind.
llvm::SmallVector<ScheduleAttr> gemvBulkAlternatives(KernelOp kernel, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMVBULK_H
