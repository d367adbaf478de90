#include "kernels/cuda/ProductLayout.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static const Encoding& encodingOf(Value value) {
  return *getEncoding(llvm::cast<RankedTensorType>(value.getType()).getElementType());
}

int64_t ProductLayout::paddedDepth(int64_t depth) const {
  return llvm::alignTo(depth, 32 * vector);
}

int64_t ProductLayout::chunkSums(int64_t depth) {
  constexpr int64_t leastChunk = 64, floatsOfWord = 4;
  return llvm::alignTo(llvm::divideCeil(depth, leastChunk), floatsOfWord);
}

/// The segments of a product; whether there are such.
static Verdict cutProduct(MatmulOp op, OrderAttr order, ProductLayout& layout) {
  if (!order)
    return Refusal{"expects an order of each product"};
  const Encoding& encoding = encodingOf(op.getWeight());
  ProductLayout::Product product;
  product.depth = op.getWeight().getType().getShape().back();
  product.chunk = order.getChunk() == 0 ? product.depth : std::min(order.getChunk(), product.depth);
  product.segments = llvm::divideCeil(product.depth, product.chunk);
  product.firstSegment = layout.segments;
  bool onTensorCores = order.getTree() == CombineTree::TensorCores;
  if (order.getLanes() != 32 * layout.vector || order.getTree() == CombineTree::Ascending)
    return Refusal{"expects orders of " + std::to_string(32 * layout.vector) +
                   " lanes that halve, or of tensor cores"};
  if (onTensorCores && (!encoding.isBlockQuantized() || encodingOf(op.getInput()).blockBytes != 2))
    return Refusal{"expects weights in blocks and inputs of 16 bits on tensor cores"};
  if (!layout.products.empty() && layout.onTensorCores != onTensorCores)
    return Refusal{"expects all products of a line on tensor cores, or none"};
  layout.onTensorCores = onTensorCores;
  bool whole = product.segments == 1 || product.chunk % order.getLanes() == 0;
  if (!whole || product.chunk % encoding.blockSize != 0 || product.depth % layout.vector != 0)
    return Refusal{"expects chunks of whole lanes and blocks, but got " +
                   std::to_string(product.chunk) + " elements"};
  product.matrix =
      BulkRows(encoding, op.getWeight().getType().getNumElements() / product.depth, product.depth);
  product.matrix.skips &= onTensorCores && layout.batch <= 2;
  product.chunkBytes = encoding.bytesFor(product.chunk);
  product.lastBytes = product.matrix.rowBytes - (product.segments - 1) * product.chunkBytes;
  if (!product.matrix.skips &&
      (!product.matrix.areAligned() || product.chunkBytes % BulkRows::copyBytes != 0))
    return Refusal{"expects rows and chunks of multiples of 16 bytes, but got " +
                   std::to_string(product.matrix.rowBytes) + " and " +
                   std::to_string(product.chunkBytes)};
  layout.segments += product.segments;
  layout.pieceBytes = std::max<int64_t>(
      layout.pieceBytes, llvm::alignTo(product.matrix.mostBytes(product.chunkBytes), 128));
  layout.products.push_back(product);
  return Verdict::accept();
}

/// The segments of a line, which every group has alike.
static Verdict cutGroup(const ProductRegion::Group& group, ProductOrder orderOf,
                        ProductLayout& layout) {
  llvm::SmallVector<ProductLayout::Product, 2> before = std::move(layout.products);
  layout.products.clear();
  layout.segments = 0;
  for (ProductRegion::Product product : group.products)
    if (Verdict verdict = cutProduct(product.op, orderOf(product.op), layout); !verdict)
      return verdict;
  auto isAlike = [](const auto& pair) {
    return std::get<0>(pair).chunk == std::get<1>(pair).chunk;
  };
  if (!before.empty() && !llvm::all_of(llvm::zip_equal(before, layout.products), isAlike))
    return Refusal{"expects the same chunks in each group of products"};
  return Verdict::accept();
}

/// Whether the segments of a warp, as they are dealt out, all have the same part of x.
static bool hasOnePart(const ProductRegion& region, const ProductLayout& layout) {
  auto hasSameInputs = [&](const ProductRegion::Group& group) {
    return llvm::all_of(
        llvm::zip_equal(group.products, region.groups.front().products),
        [](const auto& pair) { return std::get<0>(pair).input == std::get<1>(pair).input; });
  };
  return layout.warps % layout.segments == 0 && llvm::all_of(region.groups, hasSameInputs);
}

/// Whether a warp's part of x is as the emitter keeps it: on tensor cores 16 bits an element,
/// elsewhere 32 and whole lanes, as many for every warp.
static bool canHold(const ProductRegion& region, const ProductLayout& layout) {
  const int64_t mostHeld = layout.onTensorCores ? 128 : 64; // elements a thread
  const ProductLayout::Product& first = layout.products.front();
  auto isWhole = [&](const ProductLayout::Product& product) {
    return product.chunk == first.chunk && product.depth % product.chunk == 0;
  };
  auto fits = [&](const ProductLayout::Product& product) { return product.chunk <= 32 * mostHeld; };
  if (region.rows != 1 || !hasOnePart(region, layout) || !llvm::all_of(layout.products, fits))
    return false;
  return layout.onTensorCores ||
         (!encodingOf(region.first().getWeight()).isBlockQuantized() &&
          first.chunk % (32 * layout.vector) == 0 && llvm::all_of(layout.products, isWhole));
}

/// Places the inputs behind the rings, and behind them the sums of norms' chunks, a mean's and the
/// squares', and what products give.
static void placeBuffers(const ProductRegion& region, ProductLayout& layout) {
  constexpr int64_t floatBytes = 4, sumsOfNorm = 2;
  int64_t offset = layout.warps * layout.ringBytes, normSums = 0;
  for (const ProductRegion::Input& input : region.inputs) {
    layout.inputOffsets.push_back(offset);
    offset += llvm::alignTo(
        region.rows * layout.paddedDepth(input.depth) * encodingOf(input.value).blockBytes, 16);
    if (input.norm)
      normSums += sumsOfNorm * region.rows * ProductLayout::chunkSums(input.depth);
  }
  layout.resultsOffset = offset;
  int64_t results = layout.linesPerTile * layout.segments * region.rows;
  layout.smemBytes = layout.resultsOffset + std::max(normSums, results) * floatBytes;
}

VerdictOr<ProductLayout> layOutProducts(const ProductRegion& region,
                                        const GemvBulkSchedule& schedule, ProductOrder orderOf) {
  constexpr int64_t barrierBytes = 8, mostSums = 64; // that a thread's registers hold
  ProductLayout layout;
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
  for (const ProductRegion::Group& group : region.groups)
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
  layout.linesPerTile = llvm::divideCeil(region.lines, layout.tiles);
  int64_t most = layout.linesPerTile * layout.segments * region.rows;
  if (region.lines > std::numeric_limits<int32_t>::max() / layout.tiles ||
      most > std::numeric_limits<int32_t>::max())
    return Refusal{"expects fewer than 2^31 segments"};
  layout.inputVector =
      std::min<int64_t>(layout.vector, 16 / encodingOf(region.inputs.front().value).blockBytes);
  layout.stageBytes = layout.batch * layout.pieceBytes;
  layout.ringBytes = llvm::alignTo(layout.stages * (layout.stageBytes + barrierBytes), 128);
  placeBuffers(region, layout);
  return layout;
}

} // namespace tenon::kernels
