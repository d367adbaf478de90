#include "kernels/cuda/HeldBlockGemv.h"

#include "ir/encoding/BlockFormat.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

const Encoding& encodingOf(const GemmRegion& region) {
  return *getEncoding(region.first().getWeight().getType().getElementType());
}

/// Whether device/group_slices.cuh has slices of integers of 4 bits: of groups of 128 that share a
/// block; of blocks of 64 whose quants begin at a word; of blocks of 32, of ggml's without a
/// minimum.
bool isHeldNibbles(const BlockFormat& format, int64_t blockSize) {
  constexpr uint32_t wordBytes = 4;
  const BlockFormat::Plane& plane = format.planes[0];
  if (plane.bits != 4 || format.planes[1].bits != 0 || !format.levels.empty())
    return false;
  if (format.groupSize == 0 && blockSize == 64)
    return plane.offset == wordBytes;
  return format.groupSize == 128 ||
         (blockSize == 32 && !(format.ggufFileType && format.hasMinimum()));
}

/// Whether device/held_row.cuh and device/group_slices.cuh have slices of an encoding: of
/// super-blocks those with scales of six bits, and of blocks in order those of bytes.
bool isHeld(const Encoding& encoding) {
  const BlockFormat* format = findBlockFormat(encoding.name);
  if (!format)
    return false;
  switch (format->kind) {
  case BlockFormat::QuantKind::E4M3:
    return true;
  case BlockFormat::QuantKind::E2M1:
    return false;
  case BlockFormat::QuantKind::Integer:
    break;
  }
  if (format->hasPlanes())
    return isHeldNibbles(*format, encoding.blockSize);
  return format->hasSixBitScales() || !format->groupScales;
}

/// What the kind asks of a region, whatever the target.
Verdict accepts(const GemmRegion& region) {
  using Shape = HeldRowShape;
  for (const GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms) {
      RankedTensorType weight = gemm.op.getWeight().getType();
      const Encoding* encoding = getEncoding(weight.getElementType());
      Type input = gemm.op.getInput().getType().getElementType();
      if (encoding != &encodingOf(region) || !isHeld(*encoding) || gemm.op.isQuantized() ||
          !(input.isF16() || input.isBF16()))
        return Refusal{"held_block_gemv takes weights all of one encoding of q4_0, q4_k, q5_k, "
                       "q8_0, groups of 4 bits and e4m3, and inputs of 16 bits"};
    }
  if (region.rows != 1 || region.inputs.size() != 1)
    return Refusal{"held_block_gemv takes one input of one row, but the region has " +
                   std::to_string(region.inputs.size()) + " of " + std::to_string(region.rows)};
  if (region.joined() > Shape::mostJoined)
    return Refusal{"held_block_gemv joins at most 2 products, but the region has " +
                   std::to_string(region.joined())};
  Shape shape = Shape::of(region);
  int64_t multiple = shape.unit() * Shape::sliceElements;
  if (shape.depth % multiple != 0 || shape.parts() > Shape::mostParts)
    return Refusal{"held_block_gemv takes depths of multiples of " + std::to_string(multiple) +
                   " elements, at most " + std::to_string(Shape::mostParts) +
                   " parts, but the region has " + std::to_string(shape.depth) + " elements"};
  return Verdict::accept();
}

GemvBlock blockOf(const GemmRegion& region, const HeldBlockGemvSchedule& schedule) {
  HeldRowShape shape = HeldRowShape::of(region);
  GemvBlock block;
  block.tiles = schedule.tiles;
  block.warps = shape.warps();
  block.hasOtherWarps = true;
  block.vector = 8;
  for (int64_t i = 0; i < shape.joined; ++i)
    block.sums.push_back({i, 1});
  block.sumsOfLine = shape.joined;
  int64_t ring = schedule.stages * shape.stageRoom() + shape.inputBytes();
  block.place(region, llvm::alignTo(ring, 128), /*keepsInputs=*/!loadsInput(region));
  return block;
}

} // namespace

bool loadsInput(const GemmRegion& region) {
  return llvm::isa<BlockArgument>(region.inputs.front().value) && !region.isReordered() &&
         region.prologueYields.empty();
}

HeldRowShape HeldRowShape::of(const GemmRegion& region) {
  return {encodingOf(region), region.depths().front(), region.joined()};
}

VerdictOr<HeldBlockGemvKernel> HeldBlockGemvKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readReorderedGemmRegion(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<HeldBlockGemvSchedule> schedule =
      parseSchedule<HeldBlockGemvSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (Verdict verdict = accepts(*region); !verdict)
    return verdict.refusal();
  HeldRowShape shape = HeldRowShape::of(*region);
  if (schedule->threads != shape.threads())
    return Refusal{"expects blocks of " + std::to_string(shape.threads()) + " threads, but got " +
                   std::to_string(schedule->threads)};
  if (schedule->stages % shape.groups() != 0)
    return Refusal{"expects stages in multiples of " + std::to_string(shape.groups()) +
                   ", but got " + std::to_string(schedule->stages)};
  if (int64_t batches = schedule->stages * schedule->batches; schedule->onWay > batches)
    return Refusal{"expects at most " + std::to_string(batches) +
                   " batches on their way, but got " + std::to_string(schedule->onWay)};
  if (region->lines > std::numeric_limits<int32_t>::max() / schedule->tiles)
    return Refusal{"expects fewer than 2^31 lines, but got " + std::to_string(region->lines) +
                   " for each of " + std::to_string(schedule->tiles) + " blocks"};
  GemvBlock block = blockOf(*region, *schedule);
  return HeldBlockGemvKernel{*std::move(region), *schedule, shape, std::move(block)};
}

BlockResources HeldBlockGemvKernel::resources() const {
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = 1;
  resources.registers = BlockResources::mostRegisters;
  resources.bytesAThread = schedule.stages * shape.stageBytes() / schedule.threads;
  resources.dynamicSmemBytes = block.smemBytes;
  return resources;
}

/// Instructions of a warp for 256 elements of 16 lines, what waits and brings included, and for x.
PriceTerms HeldBlockGemvKernel::priceTerms() const {
  constexpr int64_t ofSlice = 210, ofX = 120;
  int64_t tilesOfBlock = llvm::divideCeil(block.linesPerTile, HeldRowShape::lines);
  int64_t slices = shape.parts() * shape.segments();
  PriceTerms terms;
  terms.keepsRingsFull = true;
  terms.warpInstructions =
      schedule.tiles * (tilesOfBlock * shape.joined * slices * ofSlice + slices * ofX);
  return terms;
}

/// The most stages, in whole groups, of blocks of at most `room` bytes.
static int64_t stagesIn(int64_t room, const GemmRegion& region, HeldBlockGemvSchedule schedule) {
  constexpr int64_t alignment = 256; // of what lies after them
  HeldRowShape shape = HeldRowShape::of(region);
  schedule.stages = 0;
  int64_t left = room - alignment - blockOf(region, schedule).smemBytes;
  return left < 0 ? 0 : left / shape.stageRoom() / shape.groups() * shape.groups();
}

/// As many stages as no two blocks of a kernel have room for on a multiprocessor: where they do,
/// some take two and others none (docs/notebook/2026-11-27-one-row-beside-slices-of-x.md). Blocks
/// of few long units have most of their weights on the way at once, for which x waits: they ask for
/// a unit and a half (docs/notebook/2026-11-28-preferences-of-a-part.md).
HeldBlockGemvSchedule chooseHeldBlockGemv(const GemmRegion& region, const CudaTarget& target) {
  HeldRowShape shape = HeldRowShape::of(region);
  HeldBlockGemvSchedule schedule;
  schedule.tiles = std::min(target.sms, region.lines);
  schedule.threads = shape.threads();
  int64_t lines = llvm::divideCeil(region.lines, schedule.tiles);
  int64_t units = llvm::divideCeil(lines, HeldRowShape::lines) * shape.joined * shape.parts();
  auto inGroups = [&](int64_t stages) -> int64_t { return llvm::alignTo(stages, shape.groups()); };
  int64_t moreThanHalf = inGroups(stagesIn(target.smemBytesPerSm / 2, region, schedule) + 1);
  schedule.stages =
      std::min({stagesIn(target.smemBytesPerBlock, region, schedule),
                HeldBlockGemvSchedule::mostStages / shape.groups() * shape.groups(),
                std::max(moreThanHalf, inGroups(std::min(units, target.rowRingStages)))});
  schedule.onWay = std::min<int64_t>(schedule.stages,
                                     llvm::divideNearest(target.rowOnWayBytes, shape.stageBytes()));
  bool isLong = schedule.onWay == 2, isFew = units >= 2 && units <= target.rowFewUnits;
  if (isLong && isFew)
    schedule.batches = 2, schedule.onWay = 3;
  return schedule;
}

bool suitsHeldBlockGemv(const GemmRegion& region, const CudaTarget& target) {
  return target.bulkCopies && accepts(region) &&
         chooseHeldBlockGemv(region, target).stages >= HeldRowShape::of(region).groups();
}

namespace kinds {
extern constexpr KernelKind heldBlockGemv = kindOf<HeldBlockGemvKernel>();
} // namespace kinds

} // namespace tenon::kernels
