#ifndef TENON_CODEGEN_CUDA_EMITTERS_PRODUCTTILES_H
#define TENON_CODEGEN_CUDA_EMITTERS_PRODUCTTILES_H

#include "codegen/cuda/emitters/NormTerms.h"
#include "kernels/regions/ProductRegion.h"

namespace tenon::codegen::cuda {

/// A region's products on tensor cores as tiles of `lines` rows of W, those of each group one after
/// the other, which blocks take in turn.
struct ProductTiles {
  kernels::ProductRegion& region;
  int64_t lines = 0;

  /// The first tile of a group; the number of tiles behind the last.
  int64_t first(size_t group) const { return region.firstTile(group, lines); }
  /// `if (index < 480)` in front of what is done in tiles of a group; nothing for the last.
  std::string condition(size_t group) const;
  /// The same behind what is done in tiles of the groups before: `else if (index < 480)`.
  std::string branch(size_t group) const;
  /// Prints the lambda `seek`, which moves a cursor of type `cursor` to the rows of W of its tile
  /// and product; with `depths`, of how many elements.
  void printSeek(CodeWriter& code, KernelContext& context, const std::string& cursor,
                 bool depths) const;
  /// Prints what a tile of a group makes of the element of row m of x and row inTile of W in the
  /// tile, where
  /// `exists` and the column does: `result(index)` is an array with the product `index`, rounded.
  mlir::LogicalResult printResults(CodeWriter& code, KernelContext& context, size_t number,
                                   const std::string& exists,
                                   llvm::function_ref<std::string(size_t index)> result) const;
  /// The weights of all products.
  std::vector<Access> weights(KernelContext& context) const;
  /// What tensor cores ask of products: factors of one 16-bit type, one batch, at most 16 rows, a
  /// depth of a multiple of 8, no order.
  mlir::LogicalResult check(llvm::StringRef emitter) const;
};

/// What an input of a region is made of: a value in memory, or the norm of one.
struct ProductSource {
  mlir::Value memory;
  std::optional<NormTerms> norm;

  /// Nothing where it is made of anything else.
  static std::optional<ProductSource> of(const kernels::ProductRegion::Input& input);
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_EMITTERS_PRODUCTTILES_H
