#include "kernels/cuda/Indexed.h"

#include "kernels/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

namespace kinds {
extern constexpr KernelKind cumulativeSum = kindOf<IndexedKernel<CumulativeSumOp>>();
extern constexpr KernelKind gather = kindOf<IndexedKernel<GatherOp>>();
extern constexpr KernelKind scatter = kindOf<IndexedKernel<ScatterOp>>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

static bool isIndexed(KernelOp kernel, const CudaTarget&) {
  return llvm::hasNItems(kernel.getBlock(), 2) &&
         llvm::isa<CumulativeSumOp, GatherOp, ScatterOp>(kernel.getBlock().front());
}

/// Rows of a cumulative sum, each of which keeps a thread busy for long, a warp to a block, so that
/// they spread over the multiprocessors.
static ScheduleAttr chooseIndexed(KernelOp kernel, const CudaTarget&, Neighbours) {
  Operation& op = kernel.getBlock().front();
  auto type = llvm::cast<RankedTensorType>(kernel.getResult(0).getType());
  bool isRows = llvm::isa<CumulativeSumOp>(op);
  int64_t threads = isRows ? 32 : 128;
  int64_t count = type.getNumElements() / (isRows ? type.getShape().back() : 1);
  auto tiles = static_cast<int64_t>(llvm::divideCeil(count, threads));
  return printSchedule(kernel.getContext(), op.getName().stripDialect(),
                       IndexedSchedule{tiles, threads});
}

const CudaScheduleRule indexed = {isIndexed, chooseIndexed};

} // namespace tenon::kernels::cuda_rules
