#ifndef TENON_CODEGEN_CUDA_EMITTERS_GEMMTILES_H
#define TENON_CODEGEN_CUDA_EMITTERS_GEMMTILES_H

#include "codegen/cuda/emitters/NormTerms.h"
#include "kernels/regions/GemmRegion.h"

namespace tenon::codegen::cuda {

/// A region's GEMMs on tensor cores as tiles of `lines` rows of W, those of each group one after
/// the other, which blocks take in turn.
struct GemmTiles {
  kernels::GemmRegion& region;
  int64_t lines = 0;

  /// The first tile of a group; the number of tiles after the last.
  int64_t first(size_t group) const { return region.firstTile(group, lines); }
  /// `if (index < 480)` in front of what is done in tiles of a group; nothing for the last.
  std::string condition(size_t group) const;
  /// The same after what is done in tiles of the groups before: `else if (index < 480)`.
  std::string branch(size_t group) const;
  /// Prints the lambda `seek`, which moves a cursor of type `cursor` to the rows of W of its tile
  /// and GEMM; with `depths`, of how many elements.
  void printSeek(CodeWriter& code, KernelContext& context, const std::string& cursor,
                 bool depths) const;
  /// Prints what a tile of a group makes of the element of row m of x and row inTile of W in the
  /// tile, where
  /// `exists` and the column does: `result(index)` is an array with the GEMM `index`, rounded.
  mlir::LogicalResult printResults(CodeWriter& code, KernelContext& context, size_t number,
                                   const std::string& exists,
                                   llvm::function_ref<std::string(size_t index)> result) const;
  /// The weights of all GEMMs.
  std::vector<Access> weights(KernelContext& context) const;
  /// What tensor cores ask of GEMMs: factors of one 16-bit type, one batch, at most 16 rows, a
  /// depth of a multiple of 8, no order.
  mlir::LogicalResult check(llvm::StringRef emitter) const;
};

/// What an input of a region is made of: a value in memory, or the norm of one.
struct GemmSource {
  mlir::Value memory;
  std::optional<NormTerms> norm;

  /// Nothing where it is made of anything else.
  static std::optional<GemmSource> of(const kernels::GemmRegion::Input& input);
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_GEMMTILES_H
