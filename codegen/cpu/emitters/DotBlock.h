#ifndef TENON_CODEGEN_CPU_EMITTERS_DOTBLOCK_H
#define TENON_CODEGEN_CPU_EMITTERS_DOTBLOCK_H

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/decode/WeightDecoder.h"
#include "codegen/cpu/emitters/Rows.h"

namespace tenon::codegen::cpu {

/// Blocks of dot products in registers: some rows of x times some rows of W, one accumulator of
/// `order.lanes` each. A step along K loads or decodes a vector of each weight row once and
/// multiplies it into every row of x.
///
/// Parameters: `column_block` rows of W and `row_block` rows of x in a block; `step`, elements of K
/// that the inner loop takes at once, rounded up to whole vectors and blocks; `prefetch_bytes`, if
/// present, how far ahead of its loads each weight row is asked for.
class DotBlock {
public:
  /// For rows of `input` and of `weight`, whose encoding can be decoded.
  DotBlock(KernelContext& context, mlir::RankedTensorType input, mlir::RankedTensorType weight)
      : context(context), b(context.builder), inputType(input), decoder(weight),
        depth(weight.getShape().back()) {}

  /// Reads the parameters and the order of `op`; emits an error where the block cannot be emitted.
  template <typename OpTy> mlir::LogicalResult read(OpTy op) {
    mlir::FailureOr<OrderAttr> scheduled = orderOf(op);
    return failed(scheduled) ? mlir::failure() : read(op, *scheduled);
  }

  int64_t columnBlock() const { return columns; }
  int64_t rowBlock() const { return rows; }
  /// Bytes of a row of W.
  int64_t weightRowBytes() const { return decoder.rowBytes(); }

  /// Takes the memory that blocks need; once, before they are emitted.
  void prepare();
  /// The dot products of the rows at `inputRows` and `weightRows`, row-major [rows, columns].
  llvm::SmallVector<mlir::Value> emit(llvm::ArrayRef<mlir::Value> inputRows,
                                      llvm::ArrayRef<mlir::Value> weightRows);

private:
  /// Elements of K that the inner loop takes at once: a few blocks of the largest encoding.
  static constexpr int64_t mostStep = 1024;

  mlir::LogicalResult read(mlir::Operation* op, OrderAttr scheduled);
  mlir::LogicalResult checkUnrolled(mlir::Operation* op);
  llvm::SmallVector<mlir::Value> emitChunk(mlir::Value start, int64_t length);
  void emitStep(mlir::Value element, int64_t count,
                llvm::SmallVectorImpl<mlir::Value>& accumulators);
  bool usesUnits() const;
  void prefetchRow(mlir::Value weight, int64_t bytes);
  llvm::SmallVector<mlir::Value> emitUnits(mlir::Value element, mlir::ValueRange accumulators);

  KernelContext& context;
  VectorBuilder& b;
  mlir::RankedTensorType inputType;
  RowDecoder decoder;
  OrderAttr order;
  int64_t depth;
  int64_t columns = 0, rows = 0, prefetchBytes = 0;
  int64_t step = 0;                                  ///< as rounded up
  mlir::Value preparedScales;                        ///< of a block of each weight row
  llvm::ArrayRef<mlir::Value> inputRows, weightRows; ///< of the block being emitted
};

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_EMITTERS_DOTBLOCK_H
