#include "kernels/cuda/HopperTile.h"

#include <cmath>

#include "kernels/cuda/ScheduleKind.h"

using namespace mlir;

namespace tenon::kernels {

bool HopperTile::isPossible() const {
  constexpr int64_t mostColumns = 256, mostSums = 256, unit = 16, swizzledRows = 8;
  auto isOneOrTwo = [](int64_t value) { return value == 1 || value == 2; };
  if (!isOneOrTwo(blocks) || !isOneOrTwo(clusterA) || !isOneOrTwo(clusterB) ||
      !isOneOrTwo(products))
    return false;
  return columns >= unit && columns <= mostColumns && columns % unit == 0 &&
         blocks * columns <= mostSums && boxOfX() % swizzledRows == 0 &&
         boxOfW() % swizzledRows == 0 && boxOfX() <= mostColumns && boxOfW() <= mostColumns &&
         (products == 1 || (weightRows ? blocks == 2 : columns % (2 * unit) == 0));
}

std::optional<HopperTile> HopperTile::of(KernelOp kernel) {
  using kinds::sizeParameter;
  constexpr int64_t mostStages = 32;
  HopperTile tile = {sizeParameter(kernel, "blocks"),
                     sizeParameter(kernel, "columns"),
                     sizeParameter(kernel, "ping_pong") != 0,
                     sizeParameter(kernel, "weight_rows") != 0,
                     sizeParameter(kernel, "cluster_a"),
                     sizeParameter(kernel, "cluster_b"),
                     static_cast<int64_t>(llvm::range_size(kernel.getBlock().getOps<MatmulOp>())),
                     sizeParameter(kernel, "stages")};
  bool isTile = tile.isPossible() && tile.stages >= 2 && tile.stages <= mostStages;
  return isTile ? std::optional(tile) : std::nullopt;
}

int64_t HopperTile::band(int64_t m, int64_t n, int64_t clusters) const {
  int64_t rowUnits = llvm::divideCeil(rowTiles(m, n), clusterA);
  int64_t columnUnits = llvm::divideCeil(columnTiles(m, n), clusterB);
  double area = static_cast<double>(clusters) * static_cast<double>(columns * clusterB);
  int64_t square = std::lround(std::sqrt(area / static_cast<double>(rows() * clusterA)));
  int64_t least =
      llvm::divideCeil(clusters, columnUnits); // fewer would leave clusters without work
  return std::clamp<int64_t>(std::max(square, least), 1, rowUnits);
}

namespace kinds {

/// What ptxas gives every thread of three warpgroups at entry, and as much of two and a warp as fits.
static bool fillHopperGemm(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t atEntry = 168;
  std::optional<HopperTile> tile = HopperTile::of(kernel);
  auto op = findOp<MatmulOp>(kernel);
  if (!tile || !op)
    return false;
  resources.threads = tile->threads();
  resources.registers = atEntry;
  resources.blocksPerSm = 1;
  resources.tensorCores = true;
  resources.dynamicSmemBytes =
      tile->smemBytes(getEncoding(op.getType().getElementType())->blockBytes);
  resources.bytesAThread = (tile->stages - 1) * tile->stageBytes() / resources.threads;
  return true;
}

const ScheduleKind hopperGemm = {"hopper_gemm", fillHopperGemm, /*fixedThreads=*/384};

} // namespace kinds
} // namespace tenon::kernels
