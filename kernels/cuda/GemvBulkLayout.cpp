#include "kernels/cuda/GemvBulkLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static const Encoding& encodingOf(Value value) {
  return *getEncoding(llvm::cast<RankedTensorType>(value.getType()).getElementType());
}

/// The segments of a GEMM; whether there are such.
static Verdict cutGemm(MatmulOp op, OrderAttr order, GemvBulkLayout& layout) {
  if (!order)
    return Refusal{"expects an order of each product"};
  const Encoding& encoding = encodingOf(op.getWeight());
  GemvBulkLayout::Gemm gemm;
  gemm.depth = op.getWeight().getType().getShape().back();
  gemm.chunk = order.getChunk() == 0 ? gemm.depth : std::min(order.getChunk(), gemm.depth);
  gemm.segments = llvm::divideCeil(gemm.depth, gemm.chunk);
  gemm.firstSegment = layout.segments;
  bool onTensorCores = order.getTree() == CombineTree::TensorCores;
  if (order.getLanes() != 32 * layout.vector || order.getTree() == CombineTree::Ascending)
    return Refusal{"expects orders of " + std::to_string(32 * layout.vector) +
                   " lanes that halve, or of tensor cores"};
  if (onTensorCores && (!encoding.isBlockQuantized() || encodingOf(op.getInput()).blockBytes != 2))
    return Refusal{"expects weights in blocks and inputs of 16 bits on tensor cores"};
  if (!layout.gemms.empty() && layout.onTensorCores != onTensorCores)
    return Refusal{"expects all products of a line on tensor cores, or none"};
  layout.onTensorCores = onTensorCores;
  bool whole = gemm.segments == 1 || gemm.chunk % order.getLanes() == 0;
  if (!whole || gemm.chunk % encoding.blockSize != 0 || gemm.depth % layout.vector != 0)
    return Refusal{"expects chunks of whole lanes and blocks, but got " +
                   std::to_string(gemm.chunk) + " elements"};
  gemm.matrix =
      BulkRows(encoding, op.getWeight().getType().getNumElements() / gemm.depth, gemm.depth);
  gemm.matrix.skips &= onTensorCores && layout.batch <= 2;
  gemm.chunkBytes = encoding.bytesFor(gemm.chunk);
  gemm.lastBytes = gemm.matrix.rowBytes - (gemm.segments - 1) * gemm.chunkBytes;
  if (!gemm.matrix.skips &&
      (!gemm.matrix.areAligned() || gemm.chunkBytes % BulkRows::copyBytes != 0))
    return Refusal{"expects rows and chunks of multiples of 16 bytes, but got " +
                   std::to_string(gemm.matrix.rowBytes) + " and " +
                   std::to_string(gemm.chunkBytes)};
  layout.segments += gemm.segments;
  layout.pieceBytes = std::max<int64_t>(layout.pieceBytes,
                                        llvm::alignTo(gemm.matrix.mostBytes(gemm.chunkBytes), 128));
  layout.gemms.push_back(gemm);
  return Verdict::accept();
}

/// The segments of a line, which every group has alike.
static Verdict cutGroup(const GemmRegion::Group& group, GemmOrder orderOf, GemvBulkLayout& layout) {
  llvm::SmallVector<GemvBulkLayout::Gemm, 2> before = std::move(layout.gemms);
  layout.gemms.clear();
  layout.segments = 0;
  for (GemmRegion::Gemm gemm : group.gemms)
    if (Verdict verdict = cutGemm(gemm.op, orderOf(gemm.op), layout); !verdict)
      return verdict;
  auto isAlike = [](const auto& pair) {
    return std::get<0>(pair).chunk == std::get<1>(pair).chunk;
  };
  if (!before.empty() && !llvm::all_of(llvm::zip_equal(before, layout.gemms), isAlike))
    return Refusal{"expects the same chunks in each group of products"};
  return Verdict::accept();
}

/// Whether the segments of a warp, as they are dealt out, all have the same part of x.
static bool hasOnePart(const GemmRegion& region, const GemvBulkLayout& layout) {
  auto hasSameInputs = [&](const GemmRegion::Group& group) {
    return llvm::all_of(
        llvm::zip_equal(group.gemms, region.groups.front().gemms),
        [](const auto& pair) { return std::get<0>(pair).input == std::get<1>(pair).input; });
  };
  return layout.warps % layout.segments == 0 && llvm::all_of(region.groups, hasSameInputs);
}

/// Whether a warp's part of x is as the emitter keeps it: on tensor cores 16 bits an element,
/// elsewhere 32 and whole lanes, as many for every warp.
static bool canHold(const GemmRegion& region, const GemvBulkLayout& layout) {
  const int64_t mostHeld = layout.onTensorCores ? 128 : 64; // elements a thread
  const GemvBulkLayout::Gemm& first = layout.gemms.front();
  auto isWhole = [&](const GemvBulkLayout::Gemm& gemm) {
    return gemm.chunk == first.chunk && gemm.depth % gemm.chunk == 0;
  };
  auto fits = [&](const GemvBulkLayout::Gemm& gemm) { return gemm.chunk <= 32 * mostHeld; };
  if (region.rows != 1 || !hasOnePart(region, layout) || !llvm::all_of(layout.gemms, fits))
    return false;
  return layout.onTensorCores ||
         (!encodingOf(region.first().getWeight()).isBlockQuantized() &&
          first.chunk % (32 * layout.vector) == 0 && llvm::all_of(layout.gemms, isWhole));
}

VerdictOr<GemvBulkLayout> layOutGemvBulk(const GemmRegion& region, const GemvBulkSchedule& schedule,
                                         GemmOrder orderOf) {
  constexpr int64_t barrierBytes = 8, mostSums = 64; // that a thread's registers hold
  GemvBulkLayout layout;
  layout.warps = schedule.threads / 32;
  layout.vector = schedule.vector;
  layout.stages = schedule.stages;
  layout.early = schedule.earlyStages();
  layout.held = schedule.held != 0;
  layout.batch = schedule.batch;
  layout.tiles = schedule.tiles;
  if (layout.vector != 4 && layout.vector != 8)
    return Refusal{"expects a vector of 4 or 8 elements, but got " + std::to_string(layout.vector)};
  if (layout.early > layout.stages)
    return Refusal{"expects at most " + std::to_string(layout.stages) +
                   " early segments, but got " + std::to_string(layout.early)};
  if (region.rows * layout.vector > mostSums)
    return Refusal{"expects at most " + std::to_string(mostSums / layout.vector) + " rows"};
  for (const GemmRegion::Group& group : region.groups)
    if (Verdict verdict = cutGroup(group, orderOf, layout); !verdict)
      return verdict.refusal();
  if (layout.held && !canHold(region, layout))
    return Refusal{"expects one row and one whole part of x, at most 64 elements a thread, 128 on "
                   "tensor cores, for all segments of a warp that holds it"};
  bool isBatch = layout.batch == 2 || layout.batch == 4;
  if (layout.batch != 1 && !(isBatch && layout.onTensorCores && hasOnePart(region, layout)))
    return Refusal{"expects batches of 2 or 4 segments that one part of x belongs to, on tensor "
                   "cores, but got " +
                   std::to_string(layout.batch)};
  int64_t most = llvm::divideCeil(region.lines, layout.tiles) * layout.segments * region.rows;
  if (region.lines > std::numeric_limits<int32_t>::max() / layout.tiles ||
      most > std::numeric_limits<int32_t>::max())
    return Refusal{"expects fewer than 2^31 segments"};
  layout.stageBytes = layout.batch * layout.pieceBytes;
  layout.ringBytes = llvm::alignTo(layout.stages * (layout.stageBytes + barrierBytes), 128);
  for (const GemvBulkLayout::Gemm& gemm : layout.gemms)
    layout.sums.push_back({gemm.firstSegment, gemm.segments});
  layout.sumsOfLine = layout.segments;
  layout.place(region, layout.warps * layout.ringBytes);
  return layout;
}

} // namespace tenon::kernels
