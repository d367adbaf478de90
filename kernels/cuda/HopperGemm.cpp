#include "kernels/cuda/HopperGemm.h"

#include "kernels/cuda/NarrowGemm.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

constexpr int64_t elementBytes = 2;

/// y [m, n] of a region, an n for each group, the sum over `depth`.
struct Extents {
  int64_t m;
  llvm::SmallVector<int64_t, 4> widths;
  int64_t depth, resultBytes;
};

Extents extentsOf(const ProductRegion& region) {
  RankedTensorType result = region.first().getType();
  return {region.rows, widthsOf(region), region.inputs.front().depth,
          getEncoding(result.getElementType())->blockBytes};
}

/// Clusters of so many blocks that run at once. A cluster is one graphics processing cluster's,
/// which leaves clusters of four some multiprocessors too few.
int64_t clustersAtOnce(int64_t cluster, const CudaTarget& target) {
  int64_t sms = cluster <= 2 ? target.sms : target.sms * target.warpgroupFit.clusterPercent / 100;
  return sms / cluster;
}

/// Cycles of a kernel on a Hopper GPU. What a stage of K takes is the longest of three: the tensor
/// cores; the way into a multiprocessor, which tiles smaller than 128 x 128 wait for; and the L2
/// cache. Of tiles that the first two make equal, those that read less of the L2 cache count as
/// better. The constants are the fit's.
double cyclesOf(const HopperTile& tile, const Extents& extents, const CudaTarget& target) {
  const WarpgroupFit& fit = target.warpgroupFit;
  constexpr double rowBytes = HopperTile::depth * elementBytes;
  auto rows = static_cast<double>(tile.rows()), columns = static_cast<double>(tile.columns);
  int64_t units = tile.units(extents.m, extents.widths);
  int64_t clusters = std::min(units, clustersAtOnce(tile.cluster(), target));
  auto busy = static_cast<double>(clusters * tile.cluster()) / static_cast<double>(target.sms);
  double l2 =
      busy * rowBytes *
      (rows / static_cast<double>(tile.clusterB) + columns / static_cast<double>(tile.clusterA)) /
      static_cast<double>(fit.l2ReadBytes);
  double ofStage =
      std::max({rows * columns / static_cast<double>(fit.tensorElements),
                rowBytes * (rows + columns) / static_cast<double>(fit.smReadBytes), l2}) +
      static_cast<double>(fit.l2TiePercent) / 100.0 * l2;
  auto waves = static_cast<double>(llvm::divideCeil(units, clusters));
  auto steps = static_cast<double>(llvm::divideCeil(extents.depth, HopperTile::depth));
  double store = static_cast<double>(fit.storeCycles) +
                 rows * columns / static_cast<double>(tile.products) *
                     static_cast<double>(extents.resultBytes) / static_cast<double>(fit.storeBytes);
  double weights = 0;
  for (int64_t width : extents.widths)
    weights += static_cast<double>(width * tile.products * extents.depth * elementBytes);
  return std::max(waves * steps * ofStage, weights / static_cast<double>(fit.dramBytes)) +
         (tile.pingPong ? 1 : waves) * store;
}

/// As many stages as shared memory holds, up to 12; false where there are not three.
bool addStages(HopperTile& tile, const Extents& extents, const CudaTarget& target) {
  constexpr int64_t fewest = 3, most = 12;
  for (tile.stages = most; tile.stages >= fewest; --tile.stages)
    if (tile.smemBytes(extents.resultBytes) <= target.smemBytesPerBlock)
      return true;
  return false;
}

/// Calls `consider` with the tiles that may suit.
template <typename Consider>
void forTiles(const Extents& extents, int64_t products, Consider consider) {
  constexpr int64_t unit = 16, mostColumns = 256, fewestColumns = 64;
  auto inClusters = [&](HopperTile tile) {
    for (tile.clusterA = 1; tile.clusterA <= 2; ++tile.clusterA)
      for (tile.clusterB = 1; tile.clusterB <= 2; ++tile.clusterB)
        if (tile.isPossible())
          consider(tile);
  };
  for (int64_t columns = mostColumns; columns >= fewestColumns; columns -= unit)
    for (bool pingPong : {false, true})
      for (int64_t blocks : {1, 2})
        inClusters({blocks, columns, pingPong, /*weightRows=*/false, 1, 1, products});
  // Weights as rows of A: the rows of x in one to four tiles.
  for (int64_t tiles = 1; tiles <= 4; ++tiles)
    for (bool pingPong : {false, true})
      for (int64_t blocks : {1, 2})
        inClusters({blocks,
                    static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(extents.m, tiles), unit)),
                    pingPong, /*weightRows=*/true, 1, 1, products});
}

} // namespace

llvm::SmallVector<int64_t, 4> widthsOf(const ProductRegion& region) {
  return llvm::map_to_vector<4>(region.groups,
                                [](const ProductRegion::Group& group) { return group.columns; });
}

VerdictOr<HopperGemmKernel> HopperGemmKernel::read(KernelOp kernel) {
  VerdictOr<ProductRegion> region = readProducts(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<HopperGemmSchedule> schedule =
      parseSchedule<HopperGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (region->joined() > 2 || !region->prologueYields.empty())
    return Refusal{"expects groups of one product, or of two that one epilogue joins, for the "
                   "emitter hopper_gemm"};
  HopperTile tile = schedule->tileOf(region->joined());
  if (!tile.isPossible())
    return Refusal{"expects a tile that warpgroups can have, but got " +
                   typed::print(kernel.getScheduleAttr())};
  return HopperGemmKernel{*std::move(region), *schedule, tile};
}

/// What ptxas gives every thread of three warpgroups at entry, and as much of two and a warp as
/// fits.
BlockResources HopperGemmKernel::resources() const {
  constexpr int64_t atEntry = 168;
  BlockResources resources;
  resources.threads = tile.threads();
  resources.registers = atEntry;
  resources.blocksPerSm = 1;
  resources.tensorCores = true;
  resources.dynamicSmemBytes = tile.smemBytes(extentsOf(region).resultBytes);
  resources.bytesAThread = (tile.stages - 1) * tile.stageBytes() / resources.threads;
  return resources;
}

PriceTerms HopperGemmKernel::priceTerms() const {
  Extents extents = extentsOf(region);
  PriceTerms terms;
  terms.warpgroups = {tile.units(extents.m, extents.widths) * tile.cluster(), tile.rows(),
                      tile.columns};
  return terms;
}

bool suitsHopperGemm(const ProductRegion& region, const CudaTarget& target) {
  constexpr int64_t fewestRows = 17, leastDepth = 256, fewestColumns = 128;
  constexpr size_t mostProducts = 7; // and x: what a kernel takes of tensor maps
  if (!target.warpgroups || region.rows < fewestRows || region.joined() > 2 ||
      region.groups.size() * region.joined() > mostProducts || region.inputs.size() != 1 ||
      !region.prologueYields.empty() || !llvm::isa<BlockArgument>(region.inputs.front().value) ||
      region.inputs.front().depth < leastDepth)
    return false;
  Type result = region.first().getType().getElementType();
  return llvm::all_of(region.groups, [&](const ProductRegion::Group& group) {
    return group.columns >= fewestColumns &&
           llvm::all_of(group.products,
                        [&](const ProductRegion::Product& product) {
                          MatmulOp op = product.op;
                          return suitsTensorCores(op) && op.getType().getElementType() == result;
                        }) &&
           llvm::none_of(group.yields,
                         [](Value value) { return value.getDefiningOp<ArgmaxOp>() != nullptr; });
  });
}

HopperGemmSchedule chooseHopperGemm(const ProductRegion& region, const CudaTarget& target) {
  Extents extents = extentsOf(region);
  std::optional<HopperTile> best;
  double least = 0;
  forTiles(extents, region.joined(), [&](HopperTile tile) {
    if (!addStages(tile, extents, target))
      return;
    double cycles = cyclesOf(tile, extents, target);
    if (!best || cycles < least)
      best = tile, least = cycles;
  });
  assert(best && "a tile of 128 x 64 fits every Hopper GPU");
  int64_t clusters =
      std::min(best->units(extents.m, extents.widths), clustersAtOnce(best->cluster(), target));
  return {clusters * best->cluster(), best->blocks,   best->columns,  best->pingPong ? 1 : 0,
          best->weightRows ? 1 : 0,   best->clusterA, best->clusterB, best->stages};
}

namespace kinds {
extern const KernelKind hopperGemm = kindOf<HopperGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
