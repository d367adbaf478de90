#include <limits>
#include <utility>

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/ScoreOperands.h"
#include "codegen/cuda/emitters/TensorOperands.h"
#include "ir/AttentionRows.h"
#include "kernels/cuda/TensorPrefillAttention.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// `keys` and `values` of the block's `sequence` and key head; a sequence outside the cache has
/// rows of sequence 0, of which none is read.
static void printCacheRows(KernelContext& context, CodeWriter& code, AttentionOp op,
                           const std::string& sequence, const KvCache& keys,
                           const KvCache& values) {
  int64_t sharing = shapeOf(op.getQuery().getType())[1] / keys.heads;
  std::string type = deviceType(keys.elementType);
  if (keys.isPaged())
    code.format("const int* const blocks = Cache::blocksOf(%s, Cache::holds(%s, 0) ? %s : 0);",
                context.pointer(op.getBlockTable()), sequence, sequence);
  else
    code.format("const long long cache = Cache::headRow(%s, 0, head / %d);", sequence, sharing);
  auto print = [&](const char* name, Value operand, const KvCache& cache) {
    if (cache.isPaged())
      code.format("const PagedRows<Cache, %s> %s = {%s, blocks, head / %d, %d, 0};", type, name,
                  context.pointer(operand), sharing, cache.size);
    else
      code.format("const StridedRows<%s> %s = {%s + cache * %d, %d};", type, name,
                  context.pointer(operand), cache.size, cache.rowElements());
  };
  print("keys", op.getKey(), keys);
  print("values", op.getValue(), values);
}

/// `first` and `count`, the rows of the block; of several sequences also `part`, which one they are
/// of.
static void printRows(CodeWriter& code, const AttentionRows& of, int64_t blocks, int64_t heads) {
  if (of.sequences == 1) {
    code.format("const int first = (%d - static_cast<int>(tile / %d)) * Kernel::rows;", blocks - 1,
                heads);
    code.format("const int count = min(Kernel::rows, %d - first);", of.rows);
    return;
  }
  code.format("const int part = static_cast<int>(tile / %d %% %d);", heads, of.sequences);
  code.format("const int ofPart = (%d - static_cast<int>(tile / %d)) * Kernel::rows;", blocks - 1,
              heads * of.sequences);
  code.format("const int first = part * %d + ofPart;", of.rows);
  code.format("const int count = min(Kernel::rows, %d - ofPart);", of.rows);
}

/// Attention of many rows of each sequence: a block takes a query head of `threads` / 2 ·
/// `row_tiles` rows and all keys that they see. Blocks with the most keys, those of the last rows,
/// come first.
static LogicalResult emitTensorPrefill(KernelContext& context) {
  FailureOr<TensorPrefillKernel> kernel = context.read<TensorPrefillKernel>();
  if (failed(kernel) || failed(verifyTensorOperands(kernel->op, 16)))
    return failure();
  AttentionOp op = kernel->op;
  int64_t rowTiles = kernel->schedule.rowTiles;
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery().getType()); // [M, Hq, D]
  KvCache keys(op.getKey().getType(), op.getBlockTable());
  KvCache values(op.getValue().getType(), op.getBlockTable());
  if (keys.capacity > std::numeric_limits<int32_t>::max() / 2 ||
      keys.sequences > std::numeric_limits<int32_t>::max())
    return op.emitOpError("expects a cache of at most 2^30 positions and 2^31 - 1 sequences, but "
                          "got ")
           << keys.capacity << " and " << keys.sequences;
  PhaseStructure& structure = context.structure;
  int64_t warps = structure.threads / 32, rows = warps * rowTiles * 16;
  AttentionRows of(op);
  int64_t blocks = llvm::divideCeil(of.rows, rows);
  if (failed(context.expectTiles(blocks * of.sequences * query[1])))
    return failure();
  structure.headers = {"tensor_attention.cuh"};
  CodeWriter& config = structure.declarations;
  config.open("struct Config");
  config.format("using Element = %s;", deviceType(elementTypeOf(op.getQuery().getType())));
  config.format("static constexpr int keySize = %d, valueSize = %d;", query[2], values.size);
  config.format("static constexpr int warps = %d, tiles = %d, keys = %d;", warps, rowTiles,
                kernel->schedule.keysPerBlock);
  config.close(";");
  config.line("using Kernel = PrefillAttention<Config>;");
  CodeWriter& code = structure.begin(PhaseKind::MainLoop, context.arguments(false),
                                     {{MemorySpace::Shared, "kernel"}});
  for (const Access& access : context.arguments(true))
    structure.phases.back().reads.push_back(access);
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Kernel kernel(*reinterpret_cast<Kernel::Shared*>(memory));");
  code.format("const int head = static_cast<int>(tile %% %d);", query[1]);
  printRows(code, of, blocks, query[1]);
  std::string sequence = absl::StrFormat("%s[%s]", context.pointer(op.getSequences()),
                                         of.sequences == 1 ? "0" : "part");
  code.format("using Cache = %s;", deviceCache(keys));
  code.format("kernel.findRanges<Cache>(%s, %s + first, count, %s, %d);", sequence,
              context.pointer(op.getPositions()), op.getCausal() ? "true" : "false",
              std::min<int64_t>(op.getWindow(), std::numeric_limits<int32_t>::max()));
  printCacheRows(context, code, op, sequence, keys, values);
  ScoreOperands scores(context, op);
  std::string scale = scoreScale(op);
  scores.printAdded(code, "first + item", "head");
  scores.printDenominator(code, "head", /*inPowersOfTwo=*/true);
  if (scores.addToScores())
    code.format("const auto scale = addScores(%s, added);", std::exchange(scale, "scale"));
  code.format("kernel.attend({%s + ((long long)first * %d + head) * %d, %d}, count, keys, values, "
              "%s);",
              context.pointer(op.getQuery()), query[1], query[2], query[1] * query[2], scale);
  if (scores.areEmpty())
    code.line("kernel.finish();");
  else
    code.format("kernel.finish(%s.factor(), denominator);", scale);
  CodeWriter& store =
      structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "kernel"}}, context.results());
  store.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  int64_t vectors = values.size / 8; // of a row's results
  store.openFormat("for (int i = lane; i < %d; i += 32)", rowTiles * 16 * vectors);
  store.format("const int row = warp * %d + i / %d, d = i %% %d * 8;", rowTiles * 16, vectors,
               vectors);
  store.open("if (row < count)");
  store.line("const uint4 bits = *reinterpret_cast<const uint4*>(&kernel.shared.query[row][d]);");
  for (const std::string& pointer : context.destinations(op.getResult()))
    store.format("*reinterpret_cast<uint4*>(%s + ((long long)(first + row) * %d + head) * %d + d) "
                 "= bits;",
                 pointer, query[1], values.size);
  store.close();
  store.close();
  return success();
}

extern constexpr Emitter tensorPrefillAttention = {TensorPrefillKernel::name, emitTensorPrefill};

} // namespace tenon::codegen::cuda::emitters
