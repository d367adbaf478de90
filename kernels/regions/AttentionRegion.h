#ifndef TENON_KERNELS_REGIONS_ATTENTIONREGION_H
#define TENON_KERNELS_REGIONS_ATTENTIONREGION_H

#include "kernels/regions/HeadRegion.h"

namespace tenon::kernels {

/// Attention with what stands before it in one region: the queries' norm and rope, and the keys and
/// values of the call's own rows on their way into the caches that the attention reads.
///
/// ```mlir
/// %q1 = tenon.rope halves %q, %p, ...            // query: norm, rope; either may be missing
/// %k1 = tenon.rope halves %k, %p, ...            // key: norm, rope, write
/// %s1 = tenon.kv_write %k1, %s, %p into %s0
/// %t1 = tenon.kv_write %v, %s, %p into %t0       // value: write
/// %y = tenon.attention %q1, %s1, %t1, %s, %p ... // reads what the writes have written
/// ```
/// Both caches are written in the region, or neither is.
struct AttentionRegion {
  AttentionOp attention;
  HeadRegion::Chain query;
  HeadRegion::Chain key, value; ///< with a write; empty where the caches are arguments

  bool writesCache() { return bool(key.write); }
  /// The ropes that turn heads by different angles, one of each.
  llvm::SmallVector<RopeOp, 3> distinctRopes();
};

/// Whether two ropes turn a pair of the same row by the same angle.
bool haveEqualTurns(RopeOp a, RopeOp b);

/// Reads the region of `kernel`, or says why it is none of that kind.
VerdictOr<AttentionRegion> readAttentionRegion(KernelOp kernel);

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_ATTENTIONREGION_H
