#include "kernels/cuda/NarrowGemm.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

constexpr int64_t warps = 8;

/// Rows of W of a tile: 16, what tensor cores take, or fewer, as many for every block, where that
/// would leave multiprocessors waiting for more than rings hold. Measured on an H200, 2026-11-21: both
/// projections of pythia-2.8b's block, 160 tiles of 16 rows of 12,800 elements on 132
/// multiprocessors, in decode of 4 rows 20.0 µs, tiles of 10 19.2 and 19.9 in two runs. With 16 rows,
/// which are read once a tile, 23.5 and 24.3: at most 8 rows.
int64_t linesFor(const ProductRegion& region, int64_t stages, const CudaTarget& target) {
  constexpr int64_t most = NarrowGemmMemory::tileColumns, mostRows = 8;
  if (region.rows > mostRows)
    return most;
  int64_t tileBytes = 0, tiles = region.tiles(most);
  for (int64_t depth : region.depths())
    tileBytes += most * depth * NarrowGemmMemory::elementBytes;
  int64_t ringBytes = target.narrowBlocksPerSm * warps * stages * NarrowGemmMemory::pieceBytes;
  int64_t idle = llvm::alignTo(tiles, target.sms) - tiles; // tiles that multiprocessors lack
  if (idle * tileBytes <= target.sms * ringBytes)
    return most;
  int64_t workers = target.narrowBlocksPerSm * target.sms;
  int64_t places = llvm::alignTo(tiles, workers);
  int64_t lines = llvm::divideCeil(region.lines, places);
  return region.tiles(lines) <= places ? lines : most;
}

/// Stages of the rings beside the norms' results, where as many blocks as the target
/// wants fit on a multiprocessor, each with 1 KiB of the system's. 0 or 1: too few. At most 5: two such
/// blocks leave room for no third, which would take another multiprocessor's work while blocks of the
/// kernel before leave (H200, 2026-11-21, decode of llama-3.1-8b bf16 with 4 rows, 4 stages and 5:
/// 4.232 and 4.182 ms). More than 8 rows of x, read once a tile, need the first-level cache more: at
/// most 4 (products alone of a layer of pythia-2.8b with 16 rows: 47.1 and 49.3 µs).
int64_t stagesFor(const ProductRegion& region, const CudaTarget& target) {
  constexpr int64_t reservedBytes = 1024;
  NarrowGemmMemory memory = {region.rows};
  const int64_t mostStages = memory.rowTiles() == 1 ? 5 : 4;
  int64_t left =
      target.smemBytesPerSm / target.narrowBlocksPerSm - reservedBytes - warps * memory.partBytes();
  for (const ProductRegion::Input& input : region.inputs)
    left -= input.norm ? memory.inputBytes(input.depth) : 0;
  return std::clamp<int64_t>(left / (warps * memory.pieceBytes), 0, mostStages);
}

} // namespace

static bool isInMemory(Value value) { return llvm::isa<BlockArgument>(value); }

bool readsMemory(const ProductRegion::Input& input) {
  if (!input.norm)
    return isInMemory(input.value);
  return input.norm->getResult(0) == input.value &&
         llvm::all_of(input.norm->getOperands(), isInMemory);
}

bool suitsTensorCores(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  Type type = weight.getElementType();
  return op.getInput().getType().getElementType() == type && (type.isF16() || type.isBF16()) &&
         weight.getNumElements() == weight.getShape().end()[-2] * weight.getShape().back() &&
         weight.getShape().back() % 8 == 0;
}

std::string refuseNarrowGemm(const ProductRegion& region, const CudaTarget& target) {
  constexpr int64_t mostRows = 16, mostJoined = 4;
  if (region.rows < 2 || region.rows > mostRows)
    return "the emitter of products on tensor cores takes 2 to 16 rows";
  for (const ProductRegion::Group& group : region.groups)
    for (const ProductRegion::Product& product : group.products)
      if (!suitsTensorCores(product.op))
        return "the emitter of products on tensor cores takes factors of one 16-bit type and "
               "depths of multiples of 8";
  if (region.joined() > mostJoined)
    return "the emitter of products on tensor cores joins at most 4";
  if (!llvm::all_of(region.inputs, readsMemory))
    return "the emitter of products on tensor cores reads its inputs from memory, or makes norms "
           "of "
           "what it reads";
  if (!region.prologueYields.empty())
    return "the emitter of products on tensor cores stores results of products alone";
  constexpr int64_t leastStages = 2;
  if (stagesFor(region, target) < leastStages)
    return "the inputs do not fit into shared memory beside the weights";
  return "";
}

static ScheduleAttr makeNarrow(const ProductRegion& region, int64_t stages,
                               const CudaTarget& target) {
  int64_t lines = linesFor(region, stages, target), tiles = region.tiles(lines);
  return makeSchedule(region.first().getContext(), "narrow_gemm",
                      std::min<int64_t>(tiles, target.narrowBlocksPerSm * target.sms),
                      {{"threads", 32 * warps},
                       {"stages", stages},
                       {"tile_lines", lines},
                       {"held_pieces", NarrowGemmMemory::piecesToHold(region, warps)},
                       {"blocks_per_sm", target.narrowBlocksPerSm}});
}

ScheduleAttr scheduleFewRows(MatmulOp op, const CudaTarget& target) {
  ProductRegion region = regionOfProduct(op);
  if (!suitsHeldGemm(region, target))
    return scheduleNarrowGemm(op, target);
  op.removeOrderAttr(); // tensor cores have none
  return scheduleHeldGemm(region, target);
}

ScheduleAttr scheduleNarrowGemm(MatmulOp op, const CudaTarget& target) {
  op.removeOrderAttr(); // tensor cores have none
  ProductRegion region = regionOfProduct(op);
  return makeNarrow(region, std::max<int64_t>(1, stagesFor(region, target)), target);
}

ScheduleAttr scheduleNarrowGemm(const ProductRegion& region, const CudaTarget& target) {
  return makeNarrow(region, stagesFor(region, target), target);
}

} // namespace tenon::kernels
