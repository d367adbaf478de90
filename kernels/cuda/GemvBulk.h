#ifndef TENON_KERNELS_CUDA_GEMVBULK_H
#define TENON_KERNELS_CUDA_GEMVBULK_H

#include "kernels/KernelKind.h"
#include "kernels/Neighbours.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/cuda/GemvBulkLayout.h"

namespace tenon::kernels {

/// GEMMs of very few rows of x whose weights the warps of a block bring through rings in shared
/// memory by bulk copies, on sm_90 and later (codegen/cuda/emitters/GemvBulk.cpp).
struct GemvBulkKernel {
  static constexpr llvm::StringLiteral name = "gemv_bulk";
  static constexpr Tuning tuning[] = {
      // Decode of Llama-3.2-1B bf16, all norms inside the GEMMs, 16 warps with rings of 128 KB
      // 0.809 ms, 8 of 96 KB 0.888; of Llama-3.1-8B 3.92 and 4.42 (2026-11-21, `tenon bench`,
      // fused).
      {"bulk_ring_bytes", &CudaTarget::bulkRingBytes, 128 << 10},
      // One row at position 512, all of the rings or this much before the wait, 0.712 and 0.690 ms
      // (1B), 3.707 and 3.657 (8B), 1.479 and 1.456 (Pythia), there all of them after attention;
      // this much there too 1.452 and 1.432 (Pythia) (docs/notebook/2026-11-21-one-row-loads.md).
      {"bulk_early_bytes", &CudaTarget::bulkEarlyBytes, 64 << 10},
      // The same of quantised weights on tensor cores, Q4_K: rings of 96, 128 and 192 KB 1.528,
      // 1.536 and 1.617 ms (8B), 0.378, 0.389 and 0.396 (1B); before the wait 80 KB instead of 32
      // 1.715 (8B), of down alone 64 KB and 32 12.5 and 11.4 µs in two runs
      // (docs/notebook/2026-11-22-quantised-weights-prepared-x.md).
      {"quants_ring_bytes", &CudaTarget::quantsRingBytes, 96 << 10},
      {"quants_early_bytes", &CudaTarget::quantsEarlyBytes, 24 << 10}};

  GemmRegion region;
  GemvBulkSchedule schedule;
  GemvBulkLayout layout;

  static VerdictOr<GemvBulkKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// The schedule of `region`, whose GEMMs have the orders of `orderForBulkCopies`; refuses a
/// region whose inputs do not fit into shared memory beside the rings.
VerdictOr<GemvBulkSchedule> chooseGemvBulk(const GemmRegion& region, const CudaTarget& target,
                                           Neighbours neighbours);
/// The order of a GEMM, which follows from its weight and input alone.
OrderAttr orderForBulkCopies(MatmulOp op);
/// Whether bulk copies can bring the weights of a GEMM.
Verdict acceptsBulkCopies(MatmulOp op, const CudaTarget& target);
/// Whether they should, for one GEMM alone.
bool suitsBulkCopies(MatmulOp op, const CudaTarget& target);

/// Other schedules that compute the same bits, worth measuring: other warps a block, stages of
/// their rings, and stages filled before the kernel waits, where a block fits. Nothing for another
/// kind.
llvm::SmallVector<ScheduleAttr> gemvBulkAlternatives(KernelOp kernel, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMVBULK_H
