#include "kernels/cuda/BlockGemm.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/Gemm.h"
#include "kernels/cuda/Gemv.h"
#include "kernels/cuda/GemvBulk.h"
#include "kernels/cuda/HeldBlockGemm.h"
#include "kernels/cuda/HeldBlockGemv.h"
#include "kernels/cuda/HeldGemm.h"
#include "kernels/cuda/HopperGemm.h"
#include "kernels/cuda/LibraryGemm.h"
#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/TensorGemm.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels::cuda_rules {

static bool isHero(Operation& op) { return llvm::isa<MatmulOp>(op); }

static bool matches(KernelOp kernel, const CudaTarget&) {
  return bool(acceptsForm(forms::cudaMatmul, kernel));
}

/// The kind for one GEMM, by its rows and what can multiply its factors. With an epilogue
/// warpgroups come before a library.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours neighbours) {
  MLIRContext* context = kernel.getContext();
  auto op = llvm::cast<MatmulOp>(*llvm::find_if(kernel.getBlock(), isHero));
  int64_t rows = MatmulExtents(op).rows;
  op.removeOrderAttr(); // tensor cores have none
  VerdictOr<GemmRegion> whole = readGemms(kernel);
  bool suitsWarpgroups = whole && suitsHopperGemm(*whole, target);
  bool prefersLibrary = soleOp<MatmulOp>(kernel) || !suitsWarpgroups;
  if (prefersLibrary && allowsLibrary(op, target) && readLibraryGemm(kernel))
    return printSchedule(context, LibraryGemmKernel::name, chooseLibraryGemm(op, target));
  if (suitsWarpgroups) {
    HopperGemmSchedule schedule = chooseHopperGemm(*whole, target);
    setHopperGemmOrder(op, schedule);
    return printSchedule(context, HopperGemmKernel::name, schedule);
  }
  if (whole && suitsHeldBlockGemm(*whole, target))
    return printSchedule(context, HeldBlockGemmKernel::name, chooseHeldBlockGemm(*whole, target));
  if (whole && acceptsBlockGemm(*whole, target))
    return printSchedule(context, BlockGemmKernel::name, chooseBlockGemm(*whole, target));
  // What stands beside the GEMM may be none of what the emitters of these two compute.
  if (readGemmRegion(kernel)) {
    constexpr int64_t leastDepth = 1024; // of shorter rows gemv's sums are closer
    GemmRegion alone = regionOfGemm(op);
    bool suitsBulk = suitsBulkCopies(op, target);
    if ((suitsBulk || MatmulExtents(op).depth >= leastDepth) && suitsHeldBlockGemv(alone, target))
      return printSchedule(context, HeldBlockGemvKernel::name, chooseHeldBlockGemv(alone, target));
    if (suitsBulk) {
      op.setOrderAttr(orderForBulkCopies(op));
      return printSchedule(context, GemvBulkKernel::name,
                           *chooseGemvBulk(alone, target, neighbours));
    }
  }
  if (suitsTensorCores(op) && rows > mostFewRows)
    return printSchedule(context, TensorGemmKernel::name, chooseTensorGemm(op, target));
  if (suitsTensorCores(op) && rows > 1) {
    GemmRegion region = regionOfGemm(op);
    return suitsHeldGemm(region, target)
               ? printSchedule(context, HeldGemmKernel::name, chooseHeldGemm(region, target))
               : printSchedule(context, NarrowGemmKernel::name, chooseNarrowGemm(region, target));
  }
  if (rows <= mostFewRows)
    return printSchedule(context, GemvKernel::name, chooseGemv(op, target));
  return printSchedule(context, GemmKernel::name, chooseGemm(op, target));
}

const CudaScheduleRule matmul = {matches, choose, &forms::cudaMatmul, nullptr, gemmAlternatives};

} // namespace tenon::kernels::cuda_rules
