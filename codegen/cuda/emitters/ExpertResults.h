#ifndef TENON_CODEGEN_CUDA_EMITTERS_EXPERTRESULTS_H
#define TENON_CODEGEN_CUDA_EMITTERS_EXPERTRESULTS_H

#include "codegen/cuda/RegionPrinter.h"
#include "kernels/regions/ExpertRegion.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::codegen::cuda {

/// What stands after the GEMMs with experts of a tile: `perTile` columns from `firstColumn` on,
/// of a `pair` with expert `id` or, beside a weighted sum, of a `row`, or of `pairsAtOnce` of the
/// pairs `listed`.
class ExpertResults {
public:
  ExpertResults(KernelContext& context, kernels::ExpertRegion& region, int64_t perTile,
                int64_t pairsAtOnce)
      : context(context), region(region), perTile(perTile), pairsAtOnce(pairsAtOnce) {}

  /// Loads what stands beside the GEMMs, so that it is there when they are: weights of a sum,
  /// and operands of the element, biases of its expert among them, where a thread has one. The
  /// weights of the GEMMs may follow it: it waits for nothing that it loads, but a table in blocks.
  mlir::LogicalResult preload(CodeWriter& code);
  /// Leaves the weights of a sum to the block, once the weights of the GEMMs are on their way.
  void keep(CodeWriter& code);
  /// Prints the sum, the operations on elements and the stores, from `parts`, the GEMMs' sums.
  mlir::LogicalResult print(CodeWriter& code);

private:
  /// Whether a thread has one element of a tile, at most.
  bool hasOneElement() const;
  llvm::SetVector<mlir::Value> operandsAfter();
  std::string nameOf(mlir::Value operand);
  std::string idOf(EmbeddingOp op);
  void defineChosen(RegionPrinter& printer);
  void defineEarly(CodeWriter& code, RegionPrinter& printer);
  void openElements(CodeWriter& code, int64_t count);
  mlir::LogicalResult storeYields(RegionPrinter& printer);
  mlir::LogicalResult printStore(CodeWriter& code);
  mlir::LogicalResult printSum(CodeWriter& code);

  KernelContext& context;
  kernels::ExpertRegion& region;
  int64_t perTile, pairsAtOnce;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_EXPERTRESULTS_H
