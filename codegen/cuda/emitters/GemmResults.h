#ifndef TENON_CODEGEN_CUDA_EMITTERS_GEMMRESULTS_H
#define TENON_CODEGEN_CUDA_EMITTERS_GEMMRESULTS_H

#include "codegen/cuda/RegionPrinter.h"
#include "kernels/cuda/GemvBlock.h"

namespace tenon::codegen::cuda {

/// What stands after the GEMMs of a region: a thread takes a line and a row of x, adds the sums
/// of each GEMM's segments in ascending order and goes on element by element.
class GemmResults {
public:
  GemmResults(KernelContext& context, kernels::GemmRegion& region,
              const kernels::GemvBlock& layout);

  /// Starts a phase that loads those operands of the epilogues that are constant, before the kernel
  /// waits, or else prints the loads of the others to `code`: a thread has one line at most, so
  /// that the end of the kernel need not wait for them. They are widened in the epilogue, or else
  /// the inputs' loads after would wait for them. Does nothing where a thread has more.
  mlir::LogicalResult preloadConstants();
  mlir::LogicalResult preloadOthers(CodeWriter& code);

  /// Prints the epilogues and the stores, from `sums`, the segments' sums of each line and row.
  mlir::LogicalResult print(CodeWriter& code);

private:
  bool hasOneLine() const;
  std::string nameOf(const kernels::GemmRegion::Group& group, mlir::BlockArgument argument) const;
  llvm::SetVector<mlir::BlockArgument> operandsOf(const kernels::GemmRegion::Group& group);
  mlir::LogicalResult preload(CodeWriter& code, bool constant);
  void printLine(CodeWriter& code, const std::string& index);
  mlir::LogicalResult forGroup(CodeWriter& code, kernels::GemmRegion::Group& group,
                               llvm::function_ref<mlir::LogicalResult(RegionPrinter&)> body);
  void printSum(CodeWriter& code, kernels::GemmRegion::Group& group, unsigned index);

  KernelContext& context;
  kernels::GemmRegion& region;
  const kernels::GemvBlock& layout;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_GEMMRESULTS_H
