#include "kernels/cuda/LibraryGemm.h"

#include <limits>

#include "kernels/Schedules.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<LibraryGemmKernel> LibraryGemmKernel::read(KernelOp kernel) {
  auto op = soleOp<MatmulOp>(kernel);
  if (!op || op.getWeight().getType().getRank() != 2)
    return Refusal{"expects a region of one tenon.matmul of x and a matrix for a library"};
  VerdictOr<LibraryGemmSchedule> schedule =
      parseSchedule<LibraryGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return LibraryGemmKernel{op, *schedule};
}

PriceTerms LibraryGemmKernel::priceTerms() const {
  MatmulExtents extents(op);
  bool isF32 = MatmulOp(op).getInput().getType().getElementType().isF32();
  PriceTerms terms;
  terms.library = {extents.rows, extents.columns, extents.depth,
                   !isF32               ? PriceTerms::Library::Rate::Tensor16
                   : schedule.tf32 != 0 ? PriceTerms::Library::Rate::Tf32
                                        : PriceTerms::Library::Rate::F32};
  return terms;
}

/// Rows from which on libraries compute GEMMs.
static int64_t fewestLibraryRows(const CudaTarget& target) {
  switch (target.libraries.gemms) {
  case LibraryGemms::None:
    return std::numeric_limits<int64_t>::max();
  case LibraryGemms::ManyRows:
    return std::max(target.libraryRows, mostFewRows + 1);
  case LibraryGemms::All:
    return target.libraryRows;
  }
  llvm_unreachable("all values are handled");
}

bool suitsLibrary(KernelOp kernel, const CudaTarget& target) {
  auto op = soleOp<MatmulOp>(kernel);
  if (!op)
    return false;
  MatmulExtents extents(op);
  Type input = op.getInput().getType().getElementType();
  Type weight = op.getWeight().getType().getElementType(), result = op.getType().getElementType();
  return extents.batches == 1 && extents.rows >= fewestLibraryRows(target) && input == weight &&
         (result == input || result.isF32()) && op.getInput() != op.getWeight();
}

/// A workspace of 32 MiB, what NVIDIA recommends for Hopper (cuBLAS documentation,
/// cublasSetWorkspace).
LibraryGemmSchedule chooseLibraryGemm(MatmulOp op, const CudaTarget& target) {
  constexpr int64_t workspaceBytes = 32 << 20;
  bool rounds = target.libraries.tf32 && op.getInput().getType().getElementType().isF32();
  return {.workspaceBytes = workspaceBytes, .tf32 = rounds ? 1 : 0};
}

namespace kinds {
extern constexpr KernelKind libraryGemm = kindOf<LibraryGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
