#ifndef TENON_CODEGEN_CUDA_EMITTERS_CHOICEPRINTER_H
#define TENON_CODEGEN_CUDA_EMITTERS_CHOICEPRINTER_H

#include "codegen/cuda/Emitter.h"
#include "kernels/regions/ChoiceRegion.h"

namespace tenon::codegen::cuda {

/// The choice of experts of one row by the first warp of a block (`device/expert_choice.cuh`).
class ChoicePrinter {
public:
  ChoicePrinter(KernelContext& context, kernels::ChoiceRegion region)
      : context(context), region(region) {}

  /// Refuses other orders of its reductions than the warp's.
  mlir::LogicalResult check();
  /// Prints the choice of `row`, an expression, as `choice`, by the threads of the warp.
  void print(CodeWriter& code, const std::string& row);
  /// Prints the stores of what the kernel yields of it, by the threads of the warp.
  void printStores(CodeWriter& code, const std::string& row);
  /// Prints that the first warp of a block asks for the scores of the row of `pair`.
  void printScoresOfPair(CodeWriter& code);
  /// Prints its choice as `chosen`, which all threads may read. The first of the `tiles` of a row
  /// stores what others read of it.
  void printOfPair(CodeWriter& code, int64_t tiles);

private:
  void printLoad(CodeWriter& code, const std::string& row);

  KernelContext& context;
  kernels::ChoiceRegion region;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_CHOICEPRINTER_H
