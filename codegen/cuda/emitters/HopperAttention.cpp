#include <limits>
#include <numeric>

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/TensorOperands.h"
#include "kernels/cuda/HopperAttention.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// How the tensor map of a cache sees it: positions of all heads, or in pages of one.
struct CacheMatrix {
  explicit CacheMatrix(const KvCache& cache)
      : rows(cache.isPaged() ? cache.places() * cache.heads : cache.places()),
        headsOfRow(cache.isPaged() ? 1 : cache.heads) {}

  int64_t rows, headsOfRow;
};

} // namespace

/// Keys of a copy: a page's at most, as many as divide the keys of a block.
static int64_t boxKeysOf(const KvCache& cache, int64_t keys) {
  return cache.isPaged() ? std::gcd(cache.page, keys) : keys;
}

/// What the device code's arithmetic takes: 32-bit rows of caches and of tensor maps.
static LogicalResult checkExtents(AttentionOp op) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery().getType()); // [M, Hq, D]
  KvCache keys(op.getKey().getType(), op.getBlockTable());
  KvCache values(op.getValue().getType(), op.getBlockTable());
  CacheMatrix matrix(keys);
  if (keys.capacity > most / 2 || matrix.rows > most / 2 || query[0] > most / 2)
    return op.emitOpError("expects at most 2^30 rows of a cache and of queries for the emitter "
                          "hopper_attention, but got ")
           << op.getKey().getType() << " and " << op.getQuery().getType();
  if (query[1] * query[2] > most || matrix.headsOfRow * std::max(keys.size, values.size) > most)
    return op.emitOpError("expects rows of less than 2^31 elements for the emitter "
                          "hopper_attention, but got ")
           << op.getKey().getType() << " and " << op.getQuery().getType();
  return success();
}

/// Of queries [M, Hq · D], keys and values [S · C, Hkv · D], in pages [N · Hkv · P, D]: a box has
/// 64 elements of a head at some positions.
static void addTensorMaps(KernelContext& context, AttentionOp op,
                          const HopperAttentionSchedule& tile) {
  runtime::MatmulType type = elementTypeOf(op.getQuery().getType()).isF16()
                                 ? runtime::MatmulType::F16
                                 : runtime::MatmulType::Bf16;
  auto add = [&](Value operand, int64_t rows, int64_t columns, int64_t boxRows) {
    context.structure.tensorMaps.push_back({llvm::cast<BlockArgument>(operand).getArgNumber(),
                                            static_cast<uint32_t>(boxRows), rows, columns, type});
  };
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery().getType());
  add(op.getQuery(), query[0], query[1] * query[2], tile.positions());
  for (Value operand : {Value(op.getKey()), Value(op.getValue())}) {
    KvCache cache(operand.getType(), op.getBlockTable());
    CacheMatrix matrix(cache);
    add(operand, matrix.rows, matrix.headsOfRow * cache.size, boxKeysOf(cache, tile.keys));
  }
}

/// Attention of many rows of each sequence by warpgroups on sm_90a: a tile has the same positions
/// of
/// `heads_per_tile` query heads that share a key head, 64 rows of the tensor cores for each of
/// `consumers` warpgroups, which take all keys that its rows see, `keys_per_block` at a time, as
/// the copy engine brings them. Blocks take tiles in turn, those of the last rows first. Where each
/// row has a sequence, tiles are of chunks, which blocks find before they begin.
static LogicalResult emitHopperAttention(KernelContext& context) {
  FailureOr<HopperAttentionKernel> kernel = context.read<HopperAttentionKernel>();
  if (failed(kernel))
    return failure();
  AttentionOp op = kernel->op;
  const HopperAttentionSchedule& tile = kernel->schedule;
  if (failed(verifyTensorOperands(op, 16)) || failed(checkExtents(op)))
    return failure();
  if (!context.architecture.hasWarpgroups())
    return context.kernel.emitOpError("expects sm_90a for the emitter hopper_attention, but got ")
           << context.architecture.name;
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery().getType());
  KvCache cache(op.getKey().getType(), op.getBlockTable());
  int64_t valueSize = KvCache(op.getValue().getType(), op.getBlockTable()).size;
  AttentionExtents extents(op);
  PhaseStructure& structure = context.structure;
  structure.headers = {"hopper_attention.cuh"};
  addTensorMaps(context, op, tile);

  CodeWriter& config = structure.declarations;
  config.open("struct Config");
  config.format("using Element = %s;", deviceType(elementTypeOf(op.getQuery().getType())));
  config.format("using Cache = %s;", deviceCache(cache));
  config.format("static constexpr int keySize = %d, valueSize = %d;", query[2], valueSize);
  config.format("static constexpr int keys = %d, heads = %d, consumers = %d;", tile.keys,
                tile.heads, tile.consumers);
  config.format("static constexpr int boxKeys = %d;", boxKeysOf(cache, tile.keys));
  config.format("static constexpr int stages = %d, queryStages = %d;", tile.stages,
                tile.queryStages);
  config.format("static constexpr int rounds = %d;", tile.rounds(extents));
  config.close(";");
  config.line("using Attention = HopperAttention<Config>;");
  config.format("static_assert(sizeof(Attention::Shared) <= %d, \"what the launch brings\");",
                tile.smemBytes(extents));

  CodeWriter& start =
      structure.begin(PhaseKind::Load, {}, {{MemorySpace::Shared, "attention.shared"}});
  start.line("extern __shared__ __align__(1024) unsigned char memory[];");
  int64_t parts = tile.rounds(extents) > 0 ? 1 : extents.sequences;
  start.format("Attention attention(memory, {%d, %d, %d, %d, %s, %d});", parts,
               extents.rows / parts, query[1], cache.heads, op.getCausal() ? "true" : "false",
               std::min<int64_t>(op.getWindow(), std::numeric_limits<int32_t>::max()));
  start.line("attention.start(map0, map1, map2);");

  std::vector<Access> reads = context.arguments(false);
  for (const Access& access : context.arguments(true))
    reads.push_back(access);
  reads.push_back({MemorySpace::Shared, "attention.shared"});
  std::string sequences = context.pointer(op.getSequences());
  std::string positions = context.pointer(op.getPositions());
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.open("auto store = [&](int m, int head, int column, uint4 bits)");
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("*reinterpret_cast<uint4*>(%s + ((long long)m * %d + head) * %d + column) = bits;",
                pointer, query[1], valueSize);
  code.close(";");
  code.format("attention.run(map0, map1, map2, %s, %s, %s, %s, store);",
              cache.isPaged() ? context.pointer(op.getBlockTable()) : "nullptr", sequences,
              positions, scoreScale(op));
  return success();
}

extern constexpr Emitter hopperAttention = {HopperAttentionKernel::name, emitHopperAttention};

} // namespace tenon::codegen::cuda::emitters
