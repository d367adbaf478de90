#ifndef TENON_CODEGEN_CUDA_EMITTERS_ROWS_H
#define TENON_CODEGEN_CUDA_EMITTERS_ROWS_H

#include "codegen/cuda/RegionPrinter.h"

namespace tenon::codegen::cuda {

/// The frame of a kernel whose hero reduces rows: a group of threads, a warp or a whole block,
/// takes a row in vectors; the row, computed by the region's prologue, stays in registers where it
/// fits and is computed again for each pass where it does not.
///
/// Parameters: `threads`; `group`, the threads that share a row, 32 or `threads`; `vector`. The hero's
/// order halves either group · vector lanes of one chunk, of which thread t holds vector · t …; or
/// the lanes of each chunk of 32 · vector elements, one a lane, so that a group of any size follows it.
class RowEmission {
public:
  /// `hero` is an operation of the region on rows of `input`.
  RowEmission(KernelContext& context, mlir::Operation* hero, mlir::Value input);

  /// Reads the schedule; `order` may be null for a hero without one.
  mlir::LogicalResult readSchedule(OrderAttr order);

  /// Loads those of `operands` that are vectors of the row's length into registers at the start,
  /// constant ones before the kernel waits for the one before, so that the last pass need not wait
  /// for them. Must follow `readSchedule`.
  void preload(mlir::ValueRange operands);
  /// Starts the kernel: the row, its first column, the passes' loads. Must follow `readSchedule`.
  mlir::LogicalResult begin();
  /// Prints a loop over the thread's vectors; `body` prints on elements `x[j]`, j a loop variable
  /// in [0, vector), of which those with `column + j < length` exist.
  mlir::LogicalResult forVectors(llvm::function_ref<void()> body);
  /// Prints a sum over the row of `term`, an expression of `x[j]`, in the hero's order, into the
  /// new variable `name`.
  mlir::LogicalResult sum(const std::string& name, const std::string& term);
  /// Prints the largest or smallest of the row, NaN if any is, into the new variable `name`.
  mlir::LogicalResult extremum(const std::string& name, bool largest);
  /// The hero's result at an element: an expression of `x[j]` and of the operands' elements.
  using ResultExpression = llvm::function_ref<std::string(llvm::ArrayRef<std::string> elements)>;
  /// Prints the last pass, `result` from the row and from the vectors `operands`; the epilogue and
  /// the stores follow.
  mlir::LogicalResult finish(mlir::ValueRange operands, ResultExpression result);

  KernelContext& context;
  CodeWriter* code = nullptr;
  int64_t length = 0, rows = 0;
  int64_t group = 0, vector = 0;

  /// Starts the phase of the stores.
  void beginStore();

private:
  void printPlace();
  RowPosition position() const;
  mlir::LogicalResult printInput();
  std::string sharedBuffer(int64_t floats);
  mlir::LogicalResult sumChunks(const std::string& name, const std::string& term);
  mlir::LogicalResult printEpilogue(mlir::ValueRange operands, ResultExpression result);

  mlir::Operation* hero;
  mlir::Value input;
  llvm::ArrayRef<int64_t> shape;
  int64_t iterations = 0; ///< vectors of a thread
  bool cached = false;
  bool inChunks = false; ///< the order's, of a warp's vectors
  bool placed = false;   ///< `row` and `thread` are printed
  llvm::DenseMap<mlir::Value, std::string> preloaded;
  int buffers = 0;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_ROWS_H
