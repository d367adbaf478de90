#include "kernels/cuda/BlockGemm.h"

#include "ir/encoding/BlockFormat.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

constexpr int64_t blockWarps = 8, blocksPerSm = 2, leastStages = 2, floatBytes = 4;
constexpr int64_t mostJoinedRows = 8; // of joined GEMMs, or of GEMMs with 32 lines a warp

const Encoding& encodingOf(const GemmRegion& region) {
  return *getEncoding(region.first().getWeight().getType().getElementType());
}

/// What the kind asks of a GEMM, whatever the target.
Verdict accepts(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  const Encoding& encoding = *getEncoding(weight.getElementType());
  Type input = op.getInput().getType().getElementType();
  int64_t depth = weight.getShape().back();
  if (!encoding.isBlockQuantized() || op.isQuantized() || !(input.isF16() || input.isBF16()))
    return Refusal{"block_gemm takes block-quantised weights and inputs of 16 bits"};
  if (MatmulExtents(op).batches != 1)
    return Refusal{"block_gemm takes one batch"};
  if (encoding.bytesFor(depth) % 16 != 0)
    return Refusal{"block_gemm takes rows of weights of multiples of 16 bytes"};
  return Verdict::accept();
}

/// The same of a region.
Verdict accepts(const GemmRegion& region) {
  const Encoding& encoding = encodingOf(region);
  if (region.rows < 2 || region.rows > BlockGemmKernel::mostRows)
    return Refusal{"block_gemm takes 2 to 128 rows, but the region has " +
                   std::to_string(region.rows)};
  for (const GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms) {
      if (Verdict verdict = accepts(gemm.op); !verdict)
        return verdict;
      if (getEncoding(gemm.op.getWeight().getType().getElementType()) != &encoding)
        return Refusal{"block_gemm takes weights of one encoding"};
    }
  int64_t mostJoined = region.rows > mostJoinedRows ? 1 : BlockGemmKernel::mostJoined;
  if (region.joined() > mostJoined) // sums stand in registers beside x
    return Refusal{"block_gemm joins at most " + std::to_string(mostJoined) + " of " +
                   std::to_string(region.rows) + " rows"};
  if (!llvm::all_of(region.inputs, [](const GemmRegion::Input& input) {
        return llvm::isa<BlockArgument>(input.value);
      }))
    return Refusal{"block_gemm reads its inputs from memory"};
  if (!region.prologueYields.empty())
    return Refusal{"block_gemm stores results of products alone"};
  return Verdict::accept();
}

/// Stages of a warp's ring: what a multiprocessor needs on its way, as far as shared memory has
/// room beside what the first-level cache keeps of x; 0 where not even one fits.
int64_t stagesFor(const BlockGemmMemory& memory, const CudaTarget& target) {
  constexpr int64_t reservedBytes = 1024, ringBytes = 64 << 10, mostStages = 4;
  int64_t room = target.smemBytesPerSm / blocksPerSm - reservedBytes;
  int64_t left = (room - blockWarps * memory.warpBytes(/*stages=*/0)) / blockWarps;
  int64_t wanted = llvm::divideCeil(ringBytes, blockWarps * memory.stageBytes());
  return std::min({left / memory.stageBytes(), std::max<int64_t>(wanted, 2), mostStages});
}

/// Lines that a warp can have of a tile: sums stand in registers beside x.
int64_t mostWarpLines(const GemmRegion& region, int64_t rows, const CudaTarget& target) {
  constexpr int64_t most = BlockGemmSchedule::mostWarpLines;
  bool fits = rows <= mostJoinedRows && region.joined() == 1 &&
              stagesFor({encodingOf(region), rows, most}, target) >= leastStages;
  return fits ? most : BlockGemmMemory::unitLines;
}

/// The fewest warps, a power of two, that share out the lines of a tile where each has at most
/// `ofWarp`.
int64_t lineWarpsFor(int64_t lines, int64_t ofWarp) {
  return static_cast<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(lines, ofWarp)));
}

/// Lines of a tile of which each warp has at most `ofWarp`: most of those with which no block has a
/// seventh more instructions than it has to, since a tile brings x once; of as many rounds of tiles
/// then the fewest, so that all blocks have as many. A warp computes 16 lines at once. `lineWarps`:
/// of another schedule that adds alike, or 0.
int64_t linesFor(const GemmRegion& region, int64_t rows, int64_t ofWarp, int64_t lineWarps,
                 const CudaTarget& target) {
  constexpr int64_t fewest = 8, unit = BlockGemmMemory::unitLines;
  int64_t workers = blocksPerSm * target.sms;
  int64_t parts = llvm::divideCeil(region.rows, rows);
  int64_t most = ofWarp * (lineWarps > 0 ? lineWarps : BlockGemmSchedule::mostLineWarps);
  auto rounds = [&](int64_t lines) -> int64_t {
    return llvm::divideCeil(region.tiles(lines) * parts, workers);
  };
  auto work = [&](int64_t lines) -> int64_t {
    int64_t warps = lineWarps > 0 ? lineWarps : lineWarpsFor(lines, ofWarp);
    return rounds(lines) * warps * llvm::divideCeil(lines, warps * unit);
  };
  int64_t least = std::numeric_limits<int64_t>::max(), found = fewest;
  for (int64_t lines = fewest; lines <= most; ++lines)
    least = std::min(least, work(lines));
  for (int64_t lines = fewest; lines <= most; ++lines)
    if (7 * work(lines) <= 8 * least)
      found = lines;
  while (found > fewest && rounds(found - 1) == rounds(found))
    --found;
  return found;
}

} // namespace

int64_t BlockGemmMemory::chunks() const {
  constexpr int64_t wide =
      9; // of groups of 128 that share a block: their quants, then their scales
  if (encoding.blockSize > pieceElements)
    return wide;
  int64_t bytes = encoding.bytesFor(pieceElements);
  // A piece may begin after the first of 16 bytes.
  return bytes % 16 == 0 ? bytes / 16 : llvm::divideCeil(bytes + 14, 16);
}

int64_t BlockGemmMemory::sums() const {
  const BlockFormat* format = findBlockFormat(encoding.name);
  return format && format->scaledElements() == 16 ? 16 : 8;
}

int64_t BlockGemmMemory::factorBytes() const {
  return units() * unitLines * sums() * 2 * floatBytes;
}

int64_t BlockGemmMemory::partBytes() const {
  constexpr int64_t pitch = 20; // floats from a row of sums to the next
  return 8 * rowTiles() * pitch * floatBytes;
}

const Encoding& BlockGemmKernel::encoding() const { return encodingOf(region); }

VerdictOr<BlockGemmKernel> BlockGemmKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readGemms(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<BlockGemmSchedule> schedule =
      parseSchedule<BlockGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  if (Verdict verdict = accepts(*region); !verdict)
    return verdict.refusal();
  if (schedule->threads < BlockGemmMemory::unitLines * schedule->tileRows)
    return Refusal{"expects a thread for each of " +
                   std::to_string(BlockGemmMemory::unitLines * schedule->tileRows) +
                   " elements of a tile, but got " + std::to_string(schedule->threads)};
  int64_t most = schedule->lineWarps * BlockGemmSchedule::mostWarpLines;
  if (schedule->threads / 32 % schedule->lineWarps != 0 || schedule->tileLines > most)
    return Refusal{
        "expects line_warps that divide the warps and have at most 32 lines each, but got " +
        std::to_string(schedule->lineWarps)};
  return BlockGemmKernel{*std::move(region), *schedule};
}

/// Rings, factors and sums of the warps.
BlockResources BlockGemmKernel::resources() const {
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = schedule.blocksPerSm;
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread = schedule.stages * memory().stageBytes() / 32;
  resources.dynamicSmemBytes = warps() * memory().warpBytes(schedule.stages);
  return resources;
}

/// Instructions of a warp for each group of 32 elements of 16 lines, counted in what ptxas makes of
/// Q4_K with 8 and 16 rows: those that make factors of quants, and for each 8 rows of x those that
/// bring x and those that multiply and scale.
PriceTerms BlockGemmKernel::priceTerms() const {
  constexpr int64_t ofUnit = 26, ofInput = 14, ofGemm = 13, group = 32;
  int64_t units = memory().units() * schedule.lineWarps, rowTiles = memory().rowTiles();
  int64_t groups = 0;
  for (int64_t depth : region.depths())
    groups += depth / group;
  PriceTerms terms;
  terms.warpInstructions =
      region.tiles(schedule.tileLines) * rowParts() * groups *
      (units * (ofUnit + rowTiles * ofGemm) + schedule.lineWarps * rowTiles * ofInput);
  return terms;
}

/// Whether the rings of warps that take 16 lines each fit.
static bool fits(const Encoding& encoding, int64_t rows, const CudaTarget& target) {
  BlockGemmMemory memory = {encoding, std::min(rows, BlockGemmSchedule::mostRows),
                            BlockGemmMemory::unitLines};
  return stagesFor(memory, target) >= leastStages;
}

bool suitsBlockGemm(MatmulOp op, const CudaTarget& target) {
  RankedTensorType weight = op.getWeight().getType();
  int64_t rows = op.getInput().getType().getNumElements() / weight.getShape().back();
  return accepts(op) && rows <= BlockGemmKernel::mostRows &&
         fits(*getEncoding(weight.getElementType()), rows, target);
}

Verdict acceptsBlockGemm(const GemmRegion& region, const CudaTarget& target) {
  if (Verdict verdict = accepts(region); !verdict)
    return verdict;
  if (!fits(encodingOf(region), region.rows, target))
    return Refusal{"the rings of block_gemm do not fit into shared memory"};
  return Verdict::accept();
}

BlockGemmSchedule chooseBlockGemm(const GemmRegion& region, const CudaTarget& target,
                                  const BlockGemmSchedule* whole) {
  BlockGemmSchedule schedule;
  schedule.threads = 32 * blockWarps;
  schedule.tileRows = std::min(region.rows, BlockGemmSchedule::mostRows);
  int64_t ofWarp = mostWarpLines(region, schedule.tileRows, target);
  schedule.tileLines =
      linesFor(region, schedule.tileRows, ofWarp, whole ? whole->lineWarps : 0, target);
  schedule.lineWarps = whole ? whole->lineWarps : lineWarpsFor(schedule.tileLines, ofWarp);
  BlockGemmMemory memory = {
      encodingOf(region), schedule.tileRows,
      static_cast<int64_t>(llvm::divideCeil(schedule.tileLines, schedule.lineWarps))};
  schedule.stages = std::max<int64_t>(1, stagesFor(memory, target));
  schedule.blocksPerSm = blocksPerSm;
  int64_t parts = llvm::divideCeil(region.rows, schedule.tileRows);
  schedule.tiles = std::min(region.tiles(schedule.tileLines) * parts, blocksPerSm * target.sms);
  return schedule;
}

namespace kinds {
extern constexpr KernelKind blockGemm = kindOf<BlockGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
