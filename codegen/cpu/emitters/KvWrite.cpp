#include "kernels/cpu/KvWrite.h"
#include "codegen/cpu/CacheRows.h"
#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/emitters/Rows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tenon::kernels::cpu;

namespace tenon::codegen::cpu::emitters {

/// Stores rows in a cache. A tile is `bytes_per_tile` bytes of every row of values: of two rows for
/// the same place the last one stays, whatever thread works on it. Rows that are encoded, or whose
/// heads lie apart in a page, are one tile.
static LogicalResult emitKvWrite(KernelContext& context, Value tile) {
  FailureOr<KvWriteKernel> kernel = context.read<KvWriteKernel>();
  if (failed(kernel))
    return failure();
  KvWriteOp op = kernel->op;
  int64_t perTile = kernel->schedule.bytesPerTile;
  auto values = llvm::cast<RankedTensorType>(op.getValues().getType());
  KvCache cache(op.getState().getType(), op.getBlockTable());
  int64_t rows = values.getShape().front();
  Type elementType = values.getElementType();
  int64_t rowBytes = *getStorageBytes(values) / rows;
  if (failed(context.expectTiles(llvm::divideCeil(rowBytes, perTile))))
    return failure();
  bool writesHeads = cache.isQuantized() || cache.isPaged();
  if (writesHeads && perTile < rowBytes)
    return op.emitOpError("expects bytes_per_tile of a whole row, ")
           << rowBytes << ", to write its heads, but got " << perTile;
  VectorBuilder& b = context.builder;
  bool oneSequence = op.getSequences().getType().getNumElements() == 1;
  Value first = b.mul(tile, perTile);
  Value end = b.min(b.add(first, perTile), b.i64(rowBytes));
  b.loop(b.i64(0), b.i64(rows), 1, [&](Value row) {
    Value sequence = b.loadIndex(context.pointer(op.getSequences()), oneSequence ? b.i64(0) : row);
    Value position = b.loadIndex(context.pointer(op.getPositions()), row);
    b.branch(emitHolds(b, cache, sequence, position), [&] {
      Value source = b.advance(context.pointer(op.getValues()), b.mul(row, rowBytes));
      Value place = emitPlace(b, cache, position), base = context.pointer(op.getState());
      auto writeHeads = [&](CacheAddress address) {
        b.loop(b.i64(0), b.i64(cache.heads), 1, [&](Value head) {
          Value values = b.advance(source, b.mul(head, rowBytes / cache.heads));
          Value target = emitCacheHead(b, cache, address, sequence, place, head);
          if (cache.isQuantized())
            storeQuantizedHead(b, cache, elementType, values, target);
          else
            b.copy(target, values, b.i64(cache.headBytes()));
        });
      };
      if (cache.isPaged()) {
        Value blockTable = context.pointer(op.getBlockTable());
        b.branch(emitHasPage(b, cache, blockTable, sequence, place),
                 [&] { writeHeads({base, blockTable}); });
      } else if (cache.isQuantized()) {
        writeHeads({base, Value()});
      } else {
        Value target = emitCacheRow(b, cache, base, sequence, place);
        b.copy(b.advance(target, first), b.advance(source, first), b.sub(end, first));
      }
    });
  });
  return success();
}

extern constexpr Emitter kvWrite = {KvWriteKernel::name, emitKvWrite};

} // namespace tenon::codegen::cpu::emitters
