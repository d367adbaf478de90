#include "kernels/cuda/HopperGemm.h"

#include "ir/encoding/BlockFormat.h"
#include "kernels/cuda/NarrowGemm.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

constexpr int64_t elementBytes = 2;

const Encoding& encodingOf(MatmulOp op) {
  return *getEncoding(op.getWeight().getType().getElementType());
}

const Encoding& inputEncodingOf(MatmulOp op) {
  return *getEncoding(op.getInput().getType().getElementType());
}

/// y [m, n] of a region, an n for each group, the sum over `depth`, with weights of `encoding`.
struct Extents {
  int64_t m;
  llvm::SmallVector<int64_t, 4> widths;
  int64_t depth, resultBytes;
  const Encoding &encoding, &input; ///< of the weights, of x
  size_t residuals;                 ///< tensors like y that an epilogue loads, of one group at most
  int64_t searchBytes;              ///< of shared memory, that a search for largest elements takes
};

/// How many tensors of `type` elementwise operations make `values` of.
size_t countResiduals(llvm::SmallVector<Value> values, Type type) {
  llvm::SmallPtrSet<Value, 16> seen;
  size_t count = 0;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (llvm::isa<BlockArgument>(value))
      count += value.getType() == type ? 1 : 0;
    else if (Operation* op = value.getDefiningOp(); llvm::isa<ElementwiseOpInterface, ArgmaxOp>(op))
      llvm::append_range(values, op->getOperands());
  }
  return count;
}

size_t mostResiduals(const GemmRegion& region) {
  size_t most = 0;
  for (const GemmRegion::Group& group : region.groups) {
    MatmulOp op = group.gemms.front().op;
    most = std::max(most, countResiduals(llvm::to_vector(group.yields), op.getType()));
  }
  return most;
}

Extents extentsOf(const GemmRegion& region) {
  RankedTensorType result = region.first().getType();
  return {region.rows,
          widthsOf(region),
          region.inputs.front().depth,
          getEncoding(result.getElementType())->blockBytes,
          encodingOf(region.first()),
          inputEncodingOf(region.first()),
          mostResiduals(region),
          searchSmemBytes(region.first()->getParentOfType<KernelOp>(), HopperTile::smemUnit)};
}

/// What a line of a piece of quantised W takes: its 16-byte chunks, of which there are an odd
/// number so that lines lie in different banks; factors in shared memory, none where values come
/// from the general decoder; instructions of a thread for one of its elements, counted in what
/// ptxas makes of Q4_K, and of E4M3 for those without factors. F16 values are made in arithmetic of
/// 16 bits.
struct QuantisedLines {
  int64_t pitch, factorBytes, instructions;
};

QuantisedLines quantisedLines(const Encoding& encoding, const Encoding& input) {
  constexpr int64_t smallBlock = 32;
  constexpr int64_t chunk = 16, lastOffset = 14;
  constexpr int64_t groups = 8, pair = 8, quadruple = 16; // of 32 elements; bytes of factors
  int64_t bytes = encoding.bytesFor(HopperTile::pieceDepth);
  int64_t chunks = llvm::divideCeil(bytes % chunk == 0 ? bytes : bytes + lastOffset, chunk);
  int64_t pitch = chunk * (chunks | 1);
  bool inHalves = input.name == "f16";
  int64_t instructions = inHalves ? 4 : 5;
  const BlockFormat* format = findBlockFormat(encoding.name);
  bool isOfGgml = format && format->ggufFileType && format->levels.empty() &&
                  format->kind == BlockFormat::QuantKind::Integer;
  if (isOfGgml && encoding.blockSize == smallBlock)
    return {pitch, groups * pair, instructions};
  if (isOfGgml && format->hasSixBitScales())
    return {pitch, groups * (inHalves ? quadruple : pair), instructions};
  if (isOfGgml && format->groupScales && format->groupScales->bits == 8)
    return {pitch, 2 * groups * pair, instructions};
  return {pitch, pair, 16};
}

void setWeights(HopperTile& tile, const Encoding& encoding, const Encoding& input) {
  QuantisedLines lines = quantisedLines(encoding, input);
  tile.linePitch = lines.pitch;
  tile.factorBytes = lines.factorBytes;
}

WarpgroupStages stagesOf(const HopperTile& tile, const Extents& extents) {
  double ofWeights = 1;
  int64_t instructions = 0;
  if (tile.pieces > 0) {
    constexpr int64_t lanes = 32;
    auto bytes = static_cast<double>(extents.encoding.bytesFor(HopperTile::pieceDepth));
    ofWeights = bytes / static_cast<double>(elementBytes * HopperTile::pieceDepth);
    instructions = tile.rows() * HopperTile::depth / lanes *
                   quantisedLines(extents.encoding, extents.input).instructions;
  }
  return {tile.partDepth(extents.depth) / HopperTile::depth, tile.rows(), tile.columns,
          ofWeights * static_cast<double>(tile.rows()) / static_cast<double>(tile.clusterB) +
              static_cast<double>(tile.columns) / static_cast<double>(tile.clusterA),
          instructions};
}

/// Cycles of a kernel on a Hopper GPU, by the constants of the fit.
double cyclesOf(const HopperTile& tile, const Extents& extents, const CudaTarget& target) {
  const WarpgroupFit& fit = target.warpgroupFit;
  int64_t units = tile.units(extents.m, extents.widths);
  int64_t clusters = std::min(units, target.clustersAtOnce(tile.cluster()));
  auto waves = static_cast<double>(llvm::divideCeil(units, clusters));
  auto storeBytes = static_cast<double>(fit.storeBytes);
  double store = static_cast<double>(fit.storeCycles) +
                 static_cast<double>(tile.rows() * tile.columns * extents.resultBytes) /
                     static_cast<double>(tile.gemms * tile.split) / storeBytes;
  if (tile.split > 1)
    store += static_cast<double>(fit.exchangeCycles) +
             static_cast<double>(tile.exchangeBytes()) / storeBytes;
  double weights = 0;
  for (int64_t width : extents.widths)
    weights += static_cast<double>(width * tile.gemms * extents.encoding.bytesFor(extents.depth));
  WarpgroupStages ofTile = stagesOf(tile, extents);
  double stages = waves * cyclesOf(ofTile, clusters * tile.cluster(), target.sms, fit);
  double memory = weights / static_cast<double>(fit.dramBytes);
  // docs/notebook/2026-11-27-gemm-at-the-power-limit.md
  if (stages > static_cast<double>(fit.powerStagesPercent) / 100.0 * memory) {
    double busy = static_cast<double>(clusters * tile.cluster()) / static_cast<double>(target.sms);
    double bytes =
        static_cast<double>(ofTile.count * HopperTile::depth * elementBytes) * ofTile.l2Rows * busy;
    stages += waves * static_cast<double>(fit.powerL2Percent) / 100.0 * bytes /
              static_cast<double>(fit.l2ReadBytes);
  }
  return overlap(stages, memory, fit) + (tile.pingPong ? 1 : waves) * store;
}

/// As many stages as shared memory holds, up to 12; false where there are not three. Of quantised W
/// up to four pieces first, and at least two.
bool addStages(HopperTile& tile, const Extents& extents, const CudaTarget& target) {
  constexpr int64_t fewest = 3, most = 12, fewestPieces = 2, mostPieces = 4;
  auto fits = [&] {
    for (tile.stages = most; tile.stages >= fewest; --tile.stages)
      if (tile.smemBytes(extents.resultBytes) + extents.searchBytes <= target.smemBytesPerBlock)
        return true;
    return false;
  };
  if (!extents.encoding.isBlockQuantized())
    return fits();
  for (tile.pieces = mostPieces; tile.pieces >= fewestPieces; --tile.pieces)
    if (fits())
      return true;
  return false;
}

/// Calls `consider` with the tiles that may suit.
template <typename Consider>
void forTiles(const Extents& extents, int64_t gemms, const CudaTarget& target, Consider consider) {
  constexpr int64_t unit = 16, mostColumns = 256, fewestColumns = 64;
  constexpr int64_t mostSplit = 4;
  bool quantised = extents.encoding.isBlockQuantized();
  // One round of tiles, each part long enough to be worth its exchange.
  auto isSplitWell = [&](const HopperTile& tile) {
    constexpr int64_t leastDepth = 512;
    constexpr int64_t mostBlocks = 4; // of a cluster of which it is known how many run at once
    return tile.cluster() <= mostBlocks && tile.fillsParts(extents.depth) &&
           tile.partDepth(extents.depth) >= leastDepth &&
           tile.units(extents.m, extents.widths) <= target.clustersAtOnce(tile.cluster());
  };
  // More than 128 sums a thread were measured with x as A; beside them registers hold the runs of
  // one residual, two spilled 80 bytes (docs/notebook/2026-11-27-gemm-at-the-power-limit.md).
  auto hasRegisters = [&](const HopperTile& tile) {
    constexpr int64_t narrow = 256;
    return tile.blocks * tile.columns <= narrow || (!tile.weightRows && extents.residuals <= 1);
  };
  auto inClusters = [&](HopperTile tile) {
    if (!hasRegisters(tile))
      return;
    if (quantised) {
      // Warpgroups that take turns would leave each other's slots for instructions empty.
      if (tile.pingPong)
        return;
      tile.pieces = 1;
      setWeights(tile, extents.encoding, extents.input);
    }
    for (tile.clusterA = 1; tile.clusterA <= 2; ++tile.clusterA)
      for (tile.clusterB = 1; tile.clusterB <= 2; ++tile.clusterB)
        for (tile.split = 1; tile.split <= mostSplit; ++tile.split)
          if (tile.isPossible() && (tile.split == 1 || isSplitWell(tile)))
            consider(tile);
  };
  for (int64_t columns = quantised ? 0 : mostColumns; columns >= fewestColumns; columns -= unit)
    for (bool pingPong : {false, true})
      for (int64_t blocks : {1, 2})
        inClusters({blocks, columns, pingPong, /*weightRows=*/false, 1, 1, 1, gemms});
  // Weights as rows of A: the rows of x in one to four tiles, or in up to three more than it takes.
  int64_t fewestTiles = quantised ? llvm::divideCeil(extents.m, mostColumns / gemms) : 1;
  for (int64_t tiles = fewestTiles; tiles <= fewestTiles + 3; ++tiles)
    for (bool pingPong : {false, true})
      for (int64_t blocks : {1, 2})
        inClusters({blocks,
                    static_cast<int64_t>(llvm::alignTo(llvm::divideCeil(extents.m, tiles), unit)),
                    pingPong, /*weightRows=*/true, 1, 1, 1, gemms});
}

} // namespace

HopperTile HopperGemmSchedule::tileOf(int64_t gemms, const Encoding& encoding,
                                      const Encoding& input) const {
  HopperTile tile = {blocks,   columns, pingPong != 0, weightRows != 0, clusterA,
                     clusterB, split,   gemms,         stages,          pieces};
  if (pieces > 0)
    setWeights(tile, encoding, input);
  return tile;
}

llvm::SmallVector<int64_t, 4> widthsOf(const GemmRegion& region) {
  return llvm::map_to_vector<4>(region.groups,
                                [](const GemmRegion::Group& group) { return group.columns; });
}

/// Whether warpgroups make factors of the GEMM's weights, whole pieces of lines of whole chunks.
static bool suitsPieces(MatmulOp op, const Encoding& encoding) {
  constexpr int64_t chunk = 16;
  Type input = op.getInput().getType().getElementType();
  int64_t depth = MatmulExtents(op).depth;
  return &encodingOf(op) == &encoding && !op.isQuantized() && (input.isF16() || input.isBF16()) &&
         MatmulExtents(op).batches == 1 && depth % HopperTile::pieceDepth == 0 &&
         HopperTile::pieceDepth % encoding.blockSize == 0 && encoding.bytesFor(depth) % chunk == 0;
}

VerdictOr<HopperGemmKernel> HopperGemmKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readGemms(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<HopperGemmSchedule> schedule =
      parseSchedule<HopperGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (region->joined() > 2 || !region->prologueYields.empty())
    return Refusal{"expects groups of one product, or of two that one epilogue joins, for the "
                   "emitter hopper_gemm"};
  const Encoding& encoding = encodingOf(region->first());
  HopperTile tile = schedule->tileOf(region->joined(), encoding, inputEncodingOf(region->first()));
  if (!tile.isPossible() || (tile.pieces > 0) != encoding.isBlockQuantized())
    return Refusal{"expects a tile that warpgroups can have, but got " +
                   typed::print(kernel.getScheduleAttr())};
  for (const GemmRegion::Group& group : region->groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      if (tile.pieces > 0 && !suitsPieces(gemm.op, encoding))
        return Refusal{"expects inputs of 16 bits and weights of one block format whose lines are "
                       "whole pieces of 256 elements and whole runs of 16 bytes, but got " +
                       detail::formatType(gemm.op.getWeight().getType())};
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
  resources.dynamicSmemUnit = HopperTile::smemUnit;
  resources.bytesAThread = (tile.stages - 1) * tile.stageBytes() / resources.threads;
  return resources;
}

PriceTerms HopperGemmKernel::priceTerms() const {
  Extents extents = extentsOf(region);
  PriceTerms terms;
  WarpgroupStages stages = stagesOf(tile, extents);
  terms.warpgroups = {tile.units(extents.m, extents.widths) * tile.cluster(),
                      tile.rows(),
                      tile.columns,
                      stages.count,
                      stages.l2Rows,
                      tile.exchangeBytes(),
                      stages.instructions};
  return terms;
}

/// The tile that should be fastest, of those that split K as `like` does, where it is given.
static std::optional<HopperTile> findTile(const Extents& extents, int64_t gemms,
                                          const CudaTarget& target,
                                          const HopperGemmSchedule* like = nullptr) {
  std::optional<HopperTile> best;
  double least = 0;
  forTiles(extents, gemms, target, [&](HopperTile tile) {
    if ((like && tile.split != like->split) || !addStages(tile, extents, target))
      return;
    double cycles = cyclesOf(tile, extents, target);
    if (!best || cycles < least)
      best = tile, least = cycles;
  });
  return best;
}

bool suitsHopperGemm(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t fewestRows = 17, leastDepth = 256, fewestColumns = 128;
  constexpr size_t mostGemms = 7; // and x: what a kernel takes of tensor maps
  if (!target.warpgroups || region.rows < fewestRows || region.joined() > 2 ||
      region.groups.size() * region.joined() > mostGemms || region.inputs.size() != 1 ||
      !region.prologueYields.empty() || !llvm::isa<BlockArgument>(region.inputs.front().value) ||
      region.inputs.front().depth < leastDepth)
    return false;
  Type result = region.first().getType().getElementType();
  const Encoding& encoding = encodingOf(region.first());
  bool suit = llvm::all_of(region.groups, [&](const GemmRegion::Group& group) {
    return group.columns >= fewestColumns &&
           llvm::all_of(group.gemms, [&](const GemmRegion::Gemm& gemm) {
             MatmulOp op = gemm.op;
             bool suits =
                 encoding.isBlockQuantized() ? suitsPieces(op, encoding) : suitsTensorCores(op);
             return suits && op.getType().getElementType() == result;
           });
  });
  // A tile of 128 x 64 of 16 bits fits every Hopper GPU, pieces of some block formats do not.
  return suit && (!encoding.isBlockQuantized() ||
                  findTile(extentsOf(region), region.joined(), target).has_value());
}

static HopperGemmSchedule scheduleOf(const HopperTile& tile, const Extents& extents,
                                     const CudaTarget& target) {
  int64_t units = tile.units(extents.m, extents.widths);
  int64_t clusters =
      tile.split > 1 ? units : std::min(units, target.clustersAtOnce(tile.cluster()));
  return {clusters * tile.cluster(),
          tile.blocks,
          tile.columns,
          tile.pingPong ? 1 : 0,
          tile.weightRows ? 1 : 0,
          tile.clusterA,
          tile.clusterB,
          tile.split,
          tile.stages,
          tile.pieces};
}

HopperGemmSchedule chooseHopperGemm(const GemmRegion& region, const CudaTarget& target,
                                    const HopperGemmSchedule* like) {
  Extents extents = extentsOf(region);
  std::optional<HopperTile> best = findTile(extents, region.joined(), target, like);
  assert(best && "a region that suits has a tile, and a part of it one of the same split");
  return scheduleOf(*best, extents, target);
}

OrderAttr orderForHopperGemm(MLIRContext* context, int64_t split, int64_t depth, bool quantised) {
  constexpr int64_t lanes = 16; // elements that an instruction adds
  HopperTile tile = {};
  tile.split = split;
  tile.pieces = quantised ? 1 : 0;
  return split == 1
             ? OrderAttr()
             : OrderAttr::get(context, tile.partDepth(depth), lanes, CombineTree::TensorCores);
}

void setHopperGemmOrder(MatmulOp op, const HopperGemmSchedule& schedule) {
  op.removeOrderAttr();
  if (OrderAttr order = orderForHopperGemm(op.getContext(), schedule.split, MatmulExtents(op).depth,
                                           schedule.pieces > 0))
    op.setOrderAttr(order);
}

llvm::SmallVector<ScheduleAttr> hopperGemmAlternatives(KernelOp kernel, const CudaTarget& target) {
  constexpr size_t most = 8;
  VerdictOr<HopperGemmKernel> found = HopperGemmKernel::read(kernel);
  if (!found)
    return {};
  Extents extents = extentsOf(found->region);
  std::vector<HopperTile> tiles;
  std::vector<std::pair<double, size_t>> order; // cycles, index of a tile
  forTiles(extents, found->region.joined(), target, [&](HopperTile tile) {
    if (tile.split != found->tile.split || !addStages(tile, extents, target))
      return;
    order.emplace_back(cyclesOf(tile, extents, target), tiles.size());
    tiles.push_back(tile);
  });
  llvm::sort(order);
  llvm::SmallVector<ScheduleAttr> schedules;
  for (auto [cycles, index] : order) {
    ScheduleAttr schedule = printSchedule(kernel->getContext(), HopperGemmKernel::name,
                                          scheduleOf(tiles[index], extents, target));
    if (schedule != kernel.getScheduleAttr() && schedules.size() < most)
      schedules.push_back(schedule);
  }
  return schedules;
}

namespace kinds {
extern constexpr KernelKind hopperGemm = kindOf<HopperGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
