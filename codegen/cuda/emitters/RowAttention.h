#ifndef TENON_CODEGEN_CUDA_EMITTERS_ROWATTENTION_H
#define TENON_CODEGEN_CUDA_EMITTERS_ROWATTENTION_H

#include "codegen/cuda/Emitter.h"

namespace tenon::codegen::cuda {

/// What the emitters of attention of single rows share: a block takes `heads_per_tile` query heads
/// of a row that share a key head, a unit, and one of at most `splits` parts of the row's keys; the
/// number and size of the parts depend on these keys alone. Tiles are numbered by row, head, part,
/// or by part, row, head.
struct RowAttention {
  RowAttention(KernelContext& context, AttentionOp op);

  /// Takes what the schedule says. Emits an error where the operands do not fit it.
  mlir::LogicalResult read(int64_t headsPerTile, int64_t mostSplits);
  /// `part`, `unit`, `row`, `firstHead`, `keyHead`, `range`, `empty`, `cut`; blocks without keys
  /// return, but for the first one of a row. `begin` and `end` of the part. Parts have `leastKeys`
  /// keys or more, in steps of `step`. With `byPart` tiles are numbered by part, so that those of
  /// parts that few rows have are the last to start.
  void printRange(CodeWriter& code, const std::string& leastKeys, const std::string& step,
                  bool byPart = false);
  /// The access to what `printRange` reads.
  std::vector<Access> rangeReads();
  /// The first key or value of the row's sequence and key head, expressions of pointers. Of caches
  /// that are not paged.
  std::string keyPointer(const std::string& base);
  std::string valuePointer(const std::string& base);
  /// The braces of a `HeadRows` of the row's sequence and key head in the cache that `base` points
  /// to; `first` is its first row where the cache is not paged.
  std::string headRows(const std::string& base, const std::string& first);
  /// Where element `index` of the unit's results goes, of the results that `destination` points to.
  std::string resultPointer(const std::string& destination, const std::string& index);
  /// Which of the sequences is that of row `row`.
  std::string sequenceOf(const std::string& row);

  KernelContext& context;
  AttentionOp op;
  llvm::ArrayRef<int64_t> query; ///< [views · M, Hq, D]
  KvCache keyCache, valueCache;
  int64_t sharing; ///< query heads of a key head
  int64_t heads = 0, splits = 0, units = 0;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_ROWATTENTION_H
