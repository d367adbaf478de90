#ifndef TENON_KERNELS_CUDA_NARROWGEMM_H
#define TENON_KERNELS_CUDA_NARROWGEMM_H

#include <cstdint>

#include "kernels/regions/ProductRegion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// Shared memory of a block of `narrow_gemm` with `rows` rows of x, in bytes: for each warp a ring of
/// pieces and its part of the sums of a tile; for each norm that is computed in front, its result.
struct NarrowGemmMemory {
  int64_t rows;

  static constexpr int64_t pieceElements = 64, tileColumns = 16, elementBytes = 2;
  /// A stage of a warp's ring.
  static constexpr int64_t pieceBytes = tileColumns * pieceElements * elementBytes;
  /// Floats from a row of sums to the next, so that threads which store them meet no bank twice.
  static constexpr int64_t sumPitch = 20;

  int64_t rowTiles() const { return llvm::divideCeil(rows, 8); }
  int64_t partBytes() const { return 8 * rowTiles() * sumPitch * 4; }
  /// Elements from a row of a norm's result to the next: 64 bytes off a multiple of 128, so that a
  /// warp's loads meet no bank twice.
  static int64_t inputPitch(int64_t depth) { return llvm::alignTo(depth, 64) + 32; }
  int64_t inputBytes(int64_t depth) const { return rows * inputPitch(depth) * elementBytes; }

  /// Pieces of 8 rows of x that a warp can hold, where two blocks leave a thread 128 registers.
  static constexpr int64_t mostHeldPieces = 10;
  /// Pieces of an input that each of `warps` warps multiplies, where it can hold them from tile to tile:
  /// all inputs are of one depth, and products that are joined have the same one. 0 where it can't.
  static int64_t piecesToHold(const ProductRegion& region, int64_t warps) {
    int64_t depth = region.inputs.front().depth;
    auto joinsInputs = [](const ProductRegion::Group& group) {
      return llvm::any_of(group.products, [&](const ProductRegion::Product& product) {
        return product.input != group.products.front().input;
      });
    };
    if (llvm::any_of(region.groups, joinsInputs) ||
        llvm::any_of(region.inputs, [&](const auto& input) { return input.depth != depth; }))
      return 0;
    int64_t pieces = llvm::divideCeil(depth, warps * pieceElements);
    return pieces * NarrowGemmMemory{region.rows}.rowTiles() <= mostHeldPieces ? pieces : 0;
  }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_NARROWGEMM_H
