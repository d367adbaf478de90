#ifndef TENON_KERNELS_CUDA_BULKROWS_H
#define TENON_KERNELS_CUDA_BULKROWS_H

#include "ir/encoding/Encoding.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// The rows of a matrix of weights as bulk copies bring them, which take multiples of 16 bytes from
/// multiples of 16.
///
/// Example: rows of 2,880 elements in q8_0 have 3,060 bytes. A copy brings such a row with up to 12
/// bytes before it and up to 12 after it, and who reads it skips those before.
struct BulkRows {
  static constexpr int64_t copyBytes = 16;

  int64_t rowBytes = 0;
  bool skips = false; ///< rows lie between multiples of 16 bytes, at addresses that suit quants

  BulkRows() = default;
  /// Of a matrix, or one of several that follow one another, of `rows` rows of `depth` elements.
  BulkRows(const Encoding& encoding, int64_t rows, int64_t depth)
      : rowBytes(encoding.bytesFor(depth)),
        skips(rowBytes % copyBytes != 0 && rowBytes % quantsAlignment(encoding) == 0 &&
              rows * rowBytes % copyBytes == 0) {}

  bool areAligned() const { return rowBytes % copyBytes == 0; }
  /// What copies of `bytes` from the start of a block on take at most.
  int64_t mostBytes(int64_t bytes) const {
    return skips ? llvm::alignTo(bytes + copyBytes - 1, copyBytes) : bytes;
  }

  /// What the addresses of rows are multiples of where tensor cores multiply their quants
  /// (codegen/cuda/device/quants.cuh).
  static int64_t quantsAlignment(const Encoding& encoding) {
    constexpr int64_t smallBlock = 64, wordBytes = 4;
    if (encoding.blockBytes % 2 != 0)
      return 1;
    return encoding.ggufType >= 0 && encoding.blockSize <= smallBlock ? wordBytes : copyBytes;
  }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_BULKROWS_H
