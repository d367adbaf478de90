#include "kernels/cuda/NarrowGemm.h"

#include "kernels/regions/MatmulExtents.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

constexpr int64_t blockWarps = 8;

/// Rows of W of a tile: 16, what tensor cores take, or fewer, as many for every block, where that
/// would leave multiprocessors waiting for more than rings hold. Measured on an H200, 2026-11-21:
/// both projections of pythia-2.8b's block, 160 tiles of 16 rows of 12,800 elements on 132
/// multiprocessors, in decode of 4 rows 20.0 µs, tiles of 10 19.2 and 19.9 in two runs. With 16
/// rows, which are read once a tile, 23.5 and 24.3: at most 8 rows.
int64_t linesFor(const GemmRegion& region, int64_t stages, const CudaTarget& target) {
  constexpr int64_t most = NarrowGemmMemory::tileColumns, mostRows = 8;
  if (region.rows > mostRows)
    return most;
  int64_t tileBytes = 0, tiles = region.tiles(most);
  for (int64_t depth : region.depths())
    tileBytes += most * depth * NarrowGemmMemory::elementBytes;
  int64_t ringBytes = target.narrowBlocksPerSm * blockWarps * stages * NarrowGemmMemory::pieceBytes;
  int64_t idle = llvm::alignTo(tiles, target.sms) - tiles; // tiles that multiprocessors lack
  if (idle * tileBytes <= target.sms * ringBytes)
    return most;
  int64_t workers = target.narrowBlocksPerSm * target.sms;
  int64_t places = llvm::alignTo(tiles, workers);
  int64_t lines = llvm::divideCeil(region.lines, places);
  return region.tiles(lines) <= places ? lines : most;
}

/// Stages of the rings beside the norms' results, where as many blocks as the target wants fit on a
/// multiprocessor, each with 1 KiB of the system's. 0 or 1: too few. At most 5: two such blocks
/// leave room for no third, which would take another multiprocessor's work while blocks of the
/// kernel before leave (H200, 2026-11-21, decode of llama-3.1-8b bf16 with 4 rows, 4 stages and 5:
/// 4.232 and 4.182 ms). More than 8 rows of x, read once a tile, need the first-level cache more:
/// at most 4 (GEMMs alone of a layer of pythia-2.8b with 16 rows: 47.1 and 49.3 µs).
int64_t stagesFor(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t reservedBytes = 1024;
  NarrowGemmMemory memory = {region.rows};
  const int64_t mostStages = memory.rowTiles() == 1 ? 5 : 4;
  int64_t left = target.smemBytesPerSm / target.narrowBlocksPerSm - reservedBytes -
                 blockWarps * memory.partBytes();
  for (const GemmRegion::Input& input : region.inputs)
    left -= input.norm ? memory.inputBytes(input.depth) : 0;
  return std::clamp<int64_t>(left / (blockWarps * memory.pieceBytes), 0, mostStages);
}

} // namespace

int64_t NarrowGemmMemory::piecesToHold(const GemmRegion& region, int64_t warps) {
  int64_t depth = region.inputs.front().depth;
  auto joinsInputs = [](const GemmRegion::Group& group) {
    return llvm::any_of(group.gemms, [&](const GemmRegion::Gemm& gemm) {
      return gemm.input != group.gemms.front().input;
    });
  };
  if (llvm::any_of(region.groups, joinsInputs) ||
      llvm::any_of(region.inputs, [&](const auto& input) { return input.depth != depth; }))
    return 0;
  int64_t pieces = llvm::divideCeil(depth, warps * pieceElements);
  return pieces * NarrowGemmMemory{region.rows}.rowTiles() <= mostHeldPieces ? pieces : 0;
}

VerdictOr<NarrowGemmKernel> NarrowGemmKernel::read(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readGemms(kernel);
  if (!region)
    return region.refusal();
  VerdictOr<NarrowGemmSchedule> schedule =
      parseSchedule<NarrowGemmSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  NarrowGemmKernel found = {*std::move(region), *schedule};
  if (found.region.rows > mostRows)
    return Refusal{"expects at most 16 rows, but got " + std::to_string(found.region.rows)};
  if (found.region.joined() > mostJoined)
    return Refusal{"expects at most 4 products in a group, but got " +
                   std::to_string(found.region.joined())};
  int64_t held = NarrowGemmMemory::piecesToHold(found.region, found.warps());
  if (schedule->heldPieces != 0 && schedule->heldPieces != held)
    return Refusal{"expects held_pieces of 0 or " + std::to_string(held) + ", but got " +
                   std::to_string(schedule->heldPieces)};
  if (schedule->threads < 16 * found.region.rows)
    return Refusal{"expects a thread for each of " + std::to_string(16 * found.region.rows) +
                   " elements of a tile, but got " + std::to_string(schedule->threads)};
  return found;
}

/// Rings of pieces of 16 rows of W, sums of each warp's part of the depth, norms in front.
BlockResources NarrowGemmKernel::resources() const {
  constexpr int64_t wordBytes = 16;
  NarrowGemmMemory memory = {region.rows};
  BlockResources resources;
  resources.threads = schedule.threads;
  resources.blocksPerSm = schedule.blocksPerSm;
  resources.registers = BlockResources::mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread = schedule.stages * 4 * wordBytes;
  resources.dynamicSmemBytes = warps() * (memory.pieceBytes * schedule.stages + memory.partBytes());
  for (const GemmRegion::Input& input : region.inputs)
    if (!llvm::isa<BlockArgument>(input.value))
      resources.dynamicSmemBytes = tenon::detail::saturatingSum(
          {resources.dynamicSmemBytes, memory.inputBytes(input.depth)});
  return resources;
}

/// A warp normalises whole rows.
PriceTerms NarrowGemmKernel::priceTerms() const {
  PriceTerms terms;
  terms.prologue = PriceTerms::Prologue::Warps;
  terms.rows = region.rows;
  terms.rowsOfWarp = llvm::divideCeil(region.rows, warps());
  return terms;
}

static bool isInMemory(Value value) { return llvm::isa<BlockArgument>(value); }

bool readsMemory(const GemmRegion::Input& input) {
  if (!input.norm)
    return isInMemory(input.value);
  return input.norm->getResult(0) == input.value &&
         llvm::all_of(input.norm->getOperands(), isInMemory);
}

bool suitsTensorCores(MatmulOp op) {
  MatmulExtents extents(op);
  Type type = op.getWeight().getType().getElementType();
  return op.getInput().getType().getElementType() == type && (type.isF16() || type.isBF16()) &&
         extents.batches == 1 && extents.depth % 8 == 0;
}

Verdict acceptsNarrowGemm(const GemmRegion& region, const CudaTarget& target) {
  constexpr int64_t mostRows = NarrowGemmKernel::mostRows;
  if (region.rows < 2 || region.rows > mostRows)
    return Refusal{"narrow_gemm takes 2 to 16 rows, but the region has " +
                   std::to_string(region.rows)};
  for (const GemmRegion::Group& group : region.groups)
    for (const GemmRegion::Gemm& gemm : group.gemms)
      if (!suitsTensorCores(gemm.op))
        return Refusal{"narrow_gemm takes factors of one 16-bit type and depths of multiples of 8"};
  if (region.joined() > NarrowGemmKernel::mostJoined)
    return Refusal{"narrow_gemm joins at most 4"};
  if (!llvm::all_of(region.inputs, readsMemory))
    return Refusal{"narrow_gemm reads its inputs from memory, or makes norms of what it reads"};
  if (!region.prologueYields.empty())
    return Refusal{"narrow_gemm stores results of products alone"};
  constexpr int64_t leastStages = 2;
  if (stagesFor(region, target) < leastStages)
    return Refusal{"the inputs do not fit into shared memory beside the weights"};
  return Verdict::accept();
}

NarrowGemmSchedule chooseNarrowGemm(const GemmRegion& region, const CudaTarget& target) {
  NarrowGemmSchedule schedule;
  schedule.threads = 32 * blockWarps;
  schedule.stages = std::max<int64_t>(1, stagesFor(region, target));
  schedule.tileLines = linesFor(region, schedule.stages, target);
  schedule.heldPieces = NarrowGemmMemory::piecesToHold(region, blockWarps);
  schedule.blocksPerSm = target.narrowBlocksPerSm;
  schedule.tiles =
      std::min<int64_t>(region.tiles(schedule.tileLines), target.narrowBlocksPerSm * target.sms);
  return schedule;
}

namespace kinds {
extern constexpr KernelKind narrowGemm = kindOf<NarrowGemmKernel>();
} // namespace kinds

} // namespace tenon::kernels
