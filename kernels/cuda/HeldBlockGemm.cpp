#include "kernels/cuda/HeldBlockGemm.h"

#include "ir/encoding/BlockFormat.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

const Encoding& encodingOf(const GemmRegion& region) {
  return *getEncoding(region.first().getWeight().getType().getElementType());
}

/// Whether device/held_blocks.cuh has lines of an encoding.
bool isHeld(const Encoding& encoding) {
  const BlockFormat* format = findBlockFormat(encoding.name);
  return format && format->hasSixBitScales();
}

/// What the kind asks of a region, whatever the target.
Verdict accepts(const GemmRegion& region) {
  using Shape = HeldBlockShape;
  for (const GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms) {
      const Encoding* encoding = getEncoding(gemm.op.getWeight().getType().getElementType());
      if (encoding != &encodingOf(region) || !isHeld(*encoding) || gemm.op.isQuantized() ||
          !gemm.op.getInput().getType().getElementType().isF16())
        return Refusal{"held_block_gemm takes weights of q4_k, or all of q5_k, and inputs of f16"};
      if (MatmulExtents(gemm.op).batches != 1)
        return Refusal{"held_block_gemm takes one batch"};
    }
  if (region.rows < 2 || region.rows > Shape::mostRows)
    return Refusal{"held_block_gemm takes 2 to 16 rows, but the region has " +
                   std::to_string(region.rows)};
  if (region.joined() > Shape::mostJoined)
    return Refusal{"held_block_gemm joins at most 2 products, but the region has " +
                   std::to_string(region.joined())};
  if (region.inputs.size() != 1 || !llvm::isa<BlockArgument>(region.inputs.front().value) ||
      !region.prologueYields.empty())
    return Refusal{"held_block_gemm reads one input from memory, and stores results of products"};
  HeldBlockShape shape = HeldBlockShape::of(region);
  constexpr int64_t warpsOfRowTile = 4; // four threads add up to 32 elements of a tile each round
  if (shape.cluster() > Shape::mostCluster || shape.warps() < warpsOfRowTile * shape.rowTiles())
    return Refusal{"held_block_gemm takes depths of 1024 (of more than 8 rows 2048) to 32768 "
                   "elements, but the region has " +
                   std::to_string(shape.depth)};
  return Verdict::accept();
}

} // namespace

HeldBlockShape HeldBlockShape::of(const GemmRegion& region) {
  return {encodingOf(region), region.rows, region.depths().front(), region.joined()};
}

VerdictOr<HeldBlockGemmKernel> HeldBlockGemmKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readGemms(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<HeldBlockGemmSchedule> schedule =
      parseSchedule<HeldBlockGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (Verdict verdict = accepts(*region); !verdict)
    return verdict.refusal();
  HeldBlockShape shape = HeldBlockShape::of(*region);
  if (schedule->threads != 32 * shape.warps() || schedule->clusterBlocks != shape.cluster() ||
      schedule->tiles % shape.cluster() != 0)
    return Refusal{"expects clusters of " + std::to_string(shape.cluster()) + " blocks of " +
                   std::to_string(32 * shape.warps()) + " threads, but got " +
                   std::to_string(schedule->tiles) + " blocks in clusters of " +
                   std::to_string(schedule->clusterBlocks) + " of " +
                   std::to_string(schedule->threads) + " threads"};
  if (schedule->early > schedule->stages)
    return Refusal{"expects at most " + std::to_string(schedule->stages) +
                   " early stages, but got " + std::to_string(schedule->early)};
  return HeldBlockGemmKernel{*std::move(region), *schedule, shape};
}

BlockResources HeldBlockGemmKernel::resources() const {
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = shape.blocksPerSm();
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread = schedule.stages * shape.stageBytes() / schedule.threads;
  resources.dynamicSmemBytes = shape.bytes(schedule.stages, tilesOfWorker());
  return resources;
}

/// Slots of the schedulers at the rate at which `block_gemm` fills them, which the cost model
/// knows, for 256 elements of 16 lines and for x of a warp: what Q4_K with 8 and 16 rows took on an
/// H200 (docs/notebook/2026-11-26-blocks-with-held-x.md). Warps issue 418 and 514 instructions, for
/// x about 600 and 1,000, and wait less for each.
PriceTerms HeldBlockGemmKernel::priceTerms() const {
  constexpr int64_t ofBlock = 118, ofRowTile = 95, ofX = 600;
  int64_t rowTiles = shape.rowTiles();
  PriceTerms terms;
  terms.warpInstructions =
      tiles() * shape.joined * shape.pieces() * (ofBlock + ofRowTile * rowTiles) +
      schedule.tiles * shape.warps() * ofX * rowTiles;
  return terms;
}

/// Blocks, or clusters of them, that run at once.
static int64_t workersAtOnce(const HeldBlockShape& shape, const CudaTarget& target) {
  return target.clustersAtOnce(shape.cluster()) * shape.blocksPerSm();
}

/// As many clusters as have equal numbers of tiles.
static int64_t workersFor(const GemmRegion& region, const CudaTarget& target) {
  int64_t tiles = region.tiles(HeldBlockShape::lines);
  int64_t rounds = llvm::divideCeil(tiles, workersAtOnce(HeldBlockShape::of(region), target));
  return llvm::divideCeil(tiles, rounds);
}

/// Stages that fit beside the other blocks of a multiprocessor, at most as many as the target is
/// tuned to.
static int64_t stagesFor(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t reservedBytes = 1024;
  HeldBlockShape shape = HeldBlockShape::of(region);
  int64_t tiles = llvm::divideCeil(region.tiles(HeldBlockShape::lines), workersFor(region, target));
  int64_t room = std::min(target.smemBytesPerBlock,
                          target.smemBytesPerSm / shape.blocksPerSm() - reservedBytes);
  return std::min({(room - shape.bytes(/*stages=*/0, tiles)) / shape.stageBytes(),
                   target.heldBlockStages, HeldBlockGemmSchedule::mostStages});
}

/// Tiles that a block has at least.
static int64_t leastTiles(const HeldBlockShape& shape, const CudaTarget& target) {
  return shape.rowTiles() > 1 && shape.cluster() == 1 ? target.heldBlockManyTiles
                                                      : target.heldBlockTiles;
}

bool suitsHeldBlockGemm(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t leastStages = 3;
  if (!target.bulkCopies || !accepts(region))
    return false;
  HeldBlockShape shape = HeldBlockShape::of(region);
  int64_t workers = workersAtOnce(shape, target);
  return workers > 0 && stagesFor(region, target) >= leastStages &&
         region.tiles(HeldBlockShape::lines) > (leastTiles(shape, target) - 1) * workers;
}

HeldBlockGemmSchedule chooseHeldBlockGemm(const GemmRegion& region, const CudaTarget& target) {
  HeldBlockShape shape = HeldBlockShape::of(region);
  HeldBlockGemmSchedule schedule;
  schedule.tiles = workersFor(region, target) * shape.cluster();
  schedule.threads = 32 * shape.warps();
  schedule.stages = stagesFor(region, target);
  schedule.early = shape.rowTiles() > 1 ? target.heldBlockManyEarly : target.heldBlockEarly;
  schedule.clusterBlocks = shape.cluster();
  return schedule;
}

namespace kinds {
extern constexpr KernelKind heldBlockGemm = kindOf<HeldBlockGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
