#include "codegen/cpu/CacheRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu {

Value emitHolds(VectorBuilder& b, const KvCache& cache, Value sequence, Value position) {
  return arith::AndIOp::create(b, b.isBelow(sequence, cache.sequences),
                               b.isBelow(position, cache.capacity));
}

/// Which of all positions of the cache that is.
static Value emitPlace(VectorBuilder& b, const KvCache& cache, Value sequence, Value position) {
  switch (cache.layout) {
  case StateLayout::Dense:
    return b.add(b.mul(sequence, cache.capacity), position);
  }
  llvm_unreachable("all layouts are handled");
}

Value emitCacheRow(VectorBuilder& b, const KvCache& cache, Value base, Value sequence,
                   Value position) {
  int64_t rowBytes = cache.rowElements() * elementBytes(cache.elementType);
  return b.advance(base, b.mul(emitPlace(b, cache, sequence, position), rowBytes));
}

Value emitCacheHead(VectorBuilder& b, const KvCache& cache, Value base, Value sequence,
                    Value position, Value head) {
  Value row = b.add(b.mul(emitPlace(b, cache, sequence, position), cache.heads), head);
  return b.advance(base, b.mul(row, cache.size * elementBytes(cache.elementType)));
}

} // namespace tenon::codegen::cpu
