#ifndef TENON_CODEGEN_CUDA_EMITTERS_ROWS_H
#define TENON_CODEGEN_CUDA_EMITTERS_ROWS_H

#include <functional>

#include "codegen/cuda/RegionPrinter.h"
#include "llvm/ADT/MapVector.h"

namespace tenon::codegen::cuda {

/// An operation on rows of one input that a kernel computes once it has their sums.
struct RowHero {
  mlir::Operation* op;
  llvm::SmallVector<mlir::Value, 2> operands; ///< what it scales and shifts the row by
  /// Its result at an element: an expression of `x[j]` and of the operands' elements.
  std::function<std::string(llvm::ArrayRef<std::string> elements)> result;
};

/// The frame of a kernel whose hero reduces rows: a group of threads, whole warps, takes a row in
/// vectors; the row, computed by the region's prologue, stays in registers where it fits and is
/// computed again for each pass where it does not.
///
/// Parameters: `threads`; `group`, the threads that share a row; `vector`; `rows`, which a group
/// takes together, so that it reads once what they are scaled and shifted by. What a thread takes
/// of a row follows from the hero's order:
///
/// | order | group | thread t takes vectors |
/// |---|---|---|
/// | one chunk, group · vector lanes | 32, or all threads, a power of two | t, t + group … |
/// | chunks of 32 · vector lanes, each once | whole warps | t, t + group … |
/// | chunks of 32 · vector lanes, one a warp, in registers | whole warps | of its warp's chunk, t % 32, t % 32 + 32 … |
///
/// Lanes of one chunk are halved by the group; those of one of several by a warp, and all threads
/// add the chunks' sums.
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
  /// Stores the row where it is a result and in registers, so that it leaves while the passes wait.
  /// Must follow `begin`.
  mlir::LogicalResult storeInput();
  /// Prints on elements `x[j]` of a vector, j a loop variable in [0, vector), of which those with
  /// `column + j < length` exist; `exists` is an `if` that the first does, empty where all do.
  using PrintVector = llvm::function_ref<mlir::LogicalResult(const std::string& exists)>;
  /// Prints a loop over the thread's vectors around `body`.
  mlir::LogicalResult forVectors(PrintVector body);
  /// Prints a sum over the row of `term`, an expression of `x[j]`, in the hero's order, into the
  /// new variable `name`.
  mlir::LogicalResult sum(const std::string& name, const std::string& term);
  /// Prints `expression` of `x[j]` into new variables of the thread where they fit, after a sum;
  /// an expression of it that the passes after may use.
  std::string keep(const std::string& name, const std::string& expression);
  /// Prints a statement on the sums of a row, of which the passes after may use what it defines.
  void state(const std::string& statement);
  /// Prints the largest or smallest of the row, NaN if any is, into the new variable `name`.
  mlir::LogicalResult extremum(const std::string& name, bool largest);
  /// Prints the last pass, the results of `heroes`; the epilogue and the stores follow.
  mlir::LogicalResult finish(llvm::ArrayRef<RowHero> heroes);

  KernelContext& context;
  CodeWriter* code = nullptr;
  int64_t length = 0, rows = 0;
  int64_t group = 0, vector = 0;

  /// Starts the phase of the stores.
  void beginStore();

private:
  void printPlace();
  mlir::LogicalResult readOrder(OrderAttr order);
  RowPosition position() const;
  bool isWhole() const;
  bool isAligned() const { return length % vector == 0; }
  std::string openVector();
  mlir::LogicalResult printInput();
  void addTerms(const std::string& sums, const std::string& term, const std::string& exists);
  std::string sharedBuffer(int64_t floats);
  mlir::LogicalResult sumChunks(const std::string& name, const std::string& term);
  void openRows();
  void closeRows();
  /// The thread's vector `i` of the row as it lies in registers.
  std::string keptVector() const { return taken > 1 ? "row_x[r][i]" : "row_x[i]"; }
  bool isVectorInMemory(mlir::Value operand) const;
  void printSharedOperands(llvm::ArrayRef<RowHero> heroes);
  mlir::LogicalResult printHero(RegionPrinter& printer, const RowHero& hero,
                                const std::string& name, const std::string& exact);
  mlir::LogicalResult printEpilogue(llvm::ArrayRef<RowHero> heroes);

  mlir::Operation* hero;
  mlir::Value input;
  llvm::ArrayRef<int64_t> shape;
  int64_t iterations = 0; ///< vectors of a thread
  int64_t taken = 1;      ///< rows of a group
  bool preloads = false;
  bool cached = false;
  int64_t chunkVectors = 0; ///< of a thread in a chunk; 0: the row is one chunk
  bool placed = false;      ///< `row` and `thread` are printed
  llvm::MapVector<mlir::Value, std::string> preloaded, sharedOperands;
  std::vector<std::string> statements; ///< of a row, where a group takes several
  llvm::SmallPtrSet<mlir::Value, 4> stored;
  int buffers = 0;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_ROWS_H
