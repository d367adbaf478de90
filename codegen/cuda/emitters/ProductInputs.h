#ifndef TENON_CODEGEN_CUDA_EMITTERS_PRODUCTINPUTS_H
#define TENON_CODEGEN_CUDA_EMITTERS_PRODUCTINPUTS_H

#include "codegen/cuda/RegionPrinter.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "ir/ProductLayout.h"

namespace tenon::codegen::cuda {

/// Makes the inputs of a region's products in shared memory, each whole in every block: elementwise
/// operations, and norms whose sums every warp adds by itself in the order of the norm's own kernel.
///
/// 1. What norms take is loaded and stored (a barrier).
/// 2. Each warp adds up the row: mean, squares. Norms of one value that differ in weights alone
///    share the sums.
/// 3. Each thread norms its own elements and stores them (a barrier).
///
/// Without a norm, step 1 stores the inputs themselves. Input i is the array `input<i>` of the inputs'
/// element type, `paddedDepth` elements a row.
class ProductInputs {
public:
  ProductInputs(KernelContext& context, ProductRegion& region, const ProductLayout& layout);

  /// Emits an error where a norm's order is none that a warp can follow.
  mlir::LogicalResult check();
  /// Starts phases that load what norms take beside their input: constants are on their way before
  /// the kernel waits.
  void preload();
  /// Prints steps 1 to 3 with the results that the prologue makes, which the first tile stores.
  mlir::LogicalResult print(CodeWriter& code);

  /// Where elements from `k` on of row `m` lie in an input. Vectors of 16 bytes of each lane stand
  /// together, so that a warp's loads meet no bank twice.
  std::string place(unsigned input, const std::string& m, const std::string& k) const;

private:
  /// Norms that share their sums.
  struct SharedSums {
    NormTerms norm;
    unsigned source;
    llvm::SmallVector<unsigned, 2> inputs;
  };
  /// A value that step 1 stores.
  struct Staged {
    mlir::Value value;
    std::string target; ///< expression of its elements at `m` and `k`
    unsigned input;     ///< one of the inputs that it makes
  };

  mlir::Operation* normOf(mlir::Value value) const;
  int64_t vectors(int64_t depth) const;
  mlir::LogicalResult forVectors(CodeWriter& code, unsigned input,
                                 llvm::function_ref<mlir::LogicalResult(RegionPrinter&)> body);
  mlir::LogicalResult storeYields(CodeWriter& code, RegionPrinter& printer, unsigned input,
                                  mlir::Operation* norm);
  mlir::LogicalResult stage(CodeWriter& code, llvm::ArrayRef<Staged> values);
  void printSum(CodeWriter& code, const SharedSums& sums, const std::string& name,
                const std::string& term);
  mlir::LogicalResult applyNorms(CodeWriter& code, const SharedSums& sums);
  mlir::LogicalResult applyNorm(CodeWriter& code, unsigned index);
  void printPadding(CodeWriter& code, unsigned input);

  KernelContext& context;
  ProductRegion& region;
  const ProductLayout& layout;
  std::string type; ///< of the inputs' elements
  std::vector<SharedSums> sums;
  llvm::DenseMap<mlir::Value, std::string> preloaded; ///< arrays [vectors][inputVector]
  llvm::SmallPtrSet<mlir::Value, 4> stored;           ///< of the prologue's results
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_PRODUCTINPUTS_H
