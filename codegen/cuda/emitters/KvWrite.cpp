#include "codegen/cuda/Emitter.h"
#include "kernels/cuda/Moves.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Which place of its sequence the position in that expression has.
static std::string placeOf(const KvCache& cache, const std::string& position) {
  return cache.isRing() ? "Cache::place(" + position + ")" : position;
}

static void printCopy(KernelContext& context, CodeWriter& code, KvWriteOp op, int64_t vector) {
  KvCache cache(op.getState().getType());
  int64_t rowElements = cache.rowElements();
  code.format("using Bits = Word<%d>::type;", vector * elementBytes(cache.elementType));
  code.format("const Bits* source = reinterpret_cast<const Bits*>(%s + (long long)row * %d);",
              context.pointer(op.getValues()), rowElements);
  code.format("Bits* target = reinterpret_cast<Bits*>(%s + Cache::row(sequence, %s) * %d);",
              context.pointer(op.getState()), placeOf(cache, "position"), rowElements);
  code.format("for (int i = threadIdx.x; i < %d; i += %d)", rowElements / vector,
              context.structure.threads);
  code.line("  target[i] = source[i];");
}

/// Heads of a row, which lie apart in a page.
static void printHeadCopies(KernelContext& context, CodeWriter& code, KvWriteOp op,
                            int64_t vector) {
  KvCache cache(op.getState().getType());
  int64_t vectors = cache.size / vector; // of a head
  code.format("using Bits = Word<%d>::type;", vector * elementBytes(cache.elementType));
  code.format("const Bits* source = reinterpret_cast<const Bits*>(%s + (long long)row * %d);",
              context.pointer(op.getValues()), cache.rowElements());
  code.format("Bits* target = reinterpret_cast<Bits*>(%s);", context.pointer(op.getState()));
  code.format("for (int i = threadIdx.x; i < %d; i += %d)", cache.heads * vectors,
              context.structure.threads);
  code.format("  target[Cache::headRow(blocks, position, i / %d) * %d + i %% %d] = source[i];",
              vectors, vectors, vectors);
}

/// Each warp encodes a head.
static void printEncoding(KernelContext& context, CodeWriter& code, KvWriteOp op) {
  KvCache cache(op.getState().getType());
  code.openFormat("for (int head = threadIdx.x / 32; head < %d; head += %d)", cache.heads,
                  context.structure.threads / 32);
  std::string place =
      cache.isPaged() ? "blocks, position" : "sequence, " + placeOf(cache, "position");
  code.format("CacheElements<%s>::store(%s + Cache::headRow(%s, head) * %d, "
              "%s + ((long long)row * %d + head) * %d);",
              deviceType(cache.elementType), context.pointer(op.getState()), place,
              cache.headBytes(), context.pointer(op.getValues()), cache.heads, cache.size);
  code.close();
}

/// A block copies one row to its place, or encodes it there, unless a later row goes to the same
/// place: then that one stays. Parameters: `threads`; `vector`, elements of at most 16 bytes that
/// divide a row, in pages a head, 1 where it is encoded.
static LogicalResult emitKvWrite(KernelContext& context) {
  FailureOr<KvWriteKernel> kernel = context.read<KvWriteKernel>();
  if (failed(kernel))
    return failure();
  KvWriteOp op = kernel->op;
  int64_t vector = kernel->schedule.vector;
  KvCache cache(op.getState().getType(), op.getBlockTable());
  int64_t whole = cache.isPaged() ? cache.size : cache.rowElements();
  int64_t rows = op.getValues().getType().getShape()[0];
  int64_t bytes = vector * elementBytes(op.getValues().getType().getElementType());
  if (cache.isQuantized() && vector != 1)
    return context.kernel.emitOpError("expects a vector of 1 for rows that are encoded, but got ")
           << vector;
  if (!cache.isQuantized() &&
      (whole % vector != 0 || (bytes != 2 && bytes != 4 && bytes != 8 && bytes != 16)))
    return context.kernel.emitOpError("expects a vector of 2, 4, 8 or 16 bytes that divides a ")
           << (cache.isPaged() ? "head" : "row") << ", but got " << vector;
  if (failed(context.expectTiles(rows)))
    return failure();
  context.structure.headers = {"kv_cache.cuh",
                               cache.isQuantized() ? "cache_heads.cuh" : "memory.cuh"};
  std::string sequences = context.pointer(op.getSequences());
  std::string positions = context.pointer(op.getPositions());
  bool shared = op.getSequences().getType().getNumElements() == 1;
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  std::vector<Access> writes = context.results();
  writes.push_back(context.writeAccess(op.getState()));
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, writes);
  code.line("const int row = static_cast<int>(tile);");
  code.format("const int sequence = %s[%s], position = %s[row];", sequences, shared ? "0" : "row",
              positions);
  code.format("using Cache = %s;", deviceCache(cache));
  code.line("bool stays = Cache::holds(sequence, position);");
  if (rows > 1) {
    code.line("bool overwritten = false;");
    code.format("for (int later = row + 1 + threadIdx.x; later < %d; later += %d)", rows,
                context.structure.threads);
    code.format("  overwritten |= %s%s == %s;", shared ? "" : sequences + "[later] == sequence && ",
                placeOf(cache, positions + "[later]"), placeOf(cache, "position"));
    code.line("stays &= !__syncthreads_or(overwritten);");
  }
  if (cache.isPaged()) {
    code.line("if (!stays)");
    code.line("  return;");
    code.format("const int* const blocks = Cache::blocksOf(%s, sequence);",
                context.pointer(op.getBlockTable()));
    code.line("stays = Cache::hasPage(blocks, position);");
  }
  code.open("if (stays)");
  if (cache.isQuantized())
    printEncoding(context, code, op);
  else if (cache.isPaged())
    printHeadCopies(context, code, op, vector);
  else
    printCopy(context, code, op, vector);
  code.close();
  return success();
}

extern constexpr Emitter kvWrite = {KvWriteKernel::name, emitKvWrite};

} // namespace tenon::codegen::cuda::emitters
