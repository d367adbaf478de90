#include "kernels/cuda/HopperTile.h"

#include <algorithm>
#include <cmath>

namespace tenon::kernels {

bool HopperTile::isPossible() const {
  constexpr int64_t mostColumns = 256, mostSums = 384, unit = 16, swizzledRows = 8;
  constexpr int64_t mostBlocks = 8; // of a cluster that every GPU runs
  auto isOneOrTwo = [](int64_t value) { return value == 1 || value == 2; };
  if (!isOneOrTwo(blocks) || !isOneOrTwo(clusterA) || !isOneOrTwo(clusterB) || !isOneOrTwo(gemms) ||
      split < 1 || split > warps() || cluster() > mostBlocks)
    return false;
  if (pieces > 0 && (!weightRows || clusterB > 1))
    return false;
  return columns >= unit && columns <= mostColumns && columns % unit == 0 &&
         blocks * columns <= mostSums && boxOfX() % swizzledRows == 0 &&
         boxOfW() % swizzledRows == 0 && boxOfX() <= mostColumns && boxOfW() <= mostColumns &&
         (gemms == 1 || (weightRows ? blocks == 2 : columns % (2 * unit) == 0));
}

int64_t HopperTile::weightTiles(llvm::ArrayRef<int64_t> widths) const {
  int64_t tiles = 0;
  for (int64_t width : widths)
    tiles += llvm::divideCeil(width * gemms, rowsOfW());
  return tiles;
}

int64_t HopperTile::band(int64_t m, llvm::ArrayRef<int64_t> widths, int64_t clusters) const {
  int64_t rowUnits = llvm::divideCeil(rowTiles(m, widths), clusterA);
  int64_t columnUnits = llvm::divideCeil(columnTiles(m, widths), clusterB);
  double area = static_cast<double>(clusters) * static_cast<double>(columns * clusterB);
  int64_t square = std::lround(std::sqrt(area / static_cast<double>(rows() * clusterA)));
  int64_t least =
      llvm::divideCeil(clusters, columnUnits); // fewer would leave clusters without work
  return std::clamp<int64_t>(std::max(square, least), 1, rowUnits);
}

} // namespace tenon::kernels
