#ifndef TENON_CODEGEN_CPU_EMITTERS_DOTBLOCK_H
#define TENON_CODEGEN_CPU_EMITTERS_DOTBLOCK_H

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"
#include "kernels/cpu/Matmul.h"

namespace tenon::codegen::cpu {

/// Blocks of dot products in registers: some rows of x times some rows of W, one accumulator of
/// `order.lanes` each. A step along K loads or decodes a vector of each weight row once and
/// multiplies it into every row of x.
/// The step of the schedule is rounded up to whole vectors and blocks.
class DotBlock {
public:
  /// For rows of `input` and of `weight`.
  DotBlock(KernelContext& context, const kernels::cpu::DotBlockSchedule& schedule,
           mlir::RankedTensorType input, mlir::RankedTensorType weight)
      : b(context.builder), schedule(schedule), inputType(input), decoder(weight),
        depth(weight.getShape().back()) {}

  /// Reads the order of `op`; emits an error where the block cannot be emitted.
  template <typename OpTy> mlir::LogicalResult read(OpTy op) {
    mlir::FailureOr<OrderAttr> scheduled = orderOf(op);
    return failed(scheduled) ? mlir::failure() : read(op, *scheduled);
  }

  /// Bytes of a row of W.
  int64_t weightRowBytes() const { return decoder.rowBytes(); }

  /// Takes the memory that blocks need; once, before they are emitted.
  void prepare();
  /// The dot products of the rows at `inputRows` and `weightRows`, row-major [rows, columns].
  llvm::SmallVector<mlir::Value> emit(llvm::ArrayRef<mlir::Value> inputRows,
                                      llvm::ArrayRef<mlir::Value> weightRows);

private:
  mlir::LogicalResult read(mlir::Operation* op, OrderAttr scheduled);
  mlir::LogicalResult checkUnrolled(mlir::Operation* op);
  llvm::SmallVector<mlir::Value> emitChunk(mlir::Value start, int64_t length);
  void emitStep(mlir::Value element, int64_t count,
                llvm::SmallVectorImpl<mlir::Value>& accumulators);
  bool usesUnits() const;
  void prefetchRow(mlir::Value weight, int64_t bytes);
  llvm::SmallVector<mlir::Value> emitUnits(mlir::Value element, mlir::ValueRange accumulators);

  VectorBuilder& b;
  kernels::cpu::DotBlockSchedule schedule;
  mlir::RankedTensorType inputType;
  RowDecoder decoder;
  OrderAttr order;
  int64_t depth;
  int64_t step = 0;                                  ///< as rounded up
  mlir::Value preparedScales;                        ///< of a block of each weight row
  llvm::ArrayRef<mlir::Value> inputRows, weightRows; ///< of the block being emitted
};

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_EMITTERS_DOTBLOCK_H
