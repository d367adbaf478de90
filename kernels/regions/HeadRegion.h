#ifndef TENON_KERNELS_REGIONS_HEADREGION_H
#define TENON_KERNELS_REGIONS_HEADREGION_H

#include "ir/Dialect.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// What stands between the GEMMs and attention of a step, in one region: chains that each take
/// the heads of a tensor [M, H, D] of the region's arguments, and in this order may normalise a
/// head over D, rotate it, take it through a Hadamard transform, and write it to a cache.
///
/// ```mlir
/// %q1 = tenon.rms_norm %q, %g ...      // chain 0: norm, rope, result
/// %q2 = tenon.rope halves %q1, ...
/// %k1 = tenon.rope halves %k, ...      // chain 1: rope, write
/// %s1 = tenon.kv_write %k1, ... into %s
/// ```
struct HeadRegion {
  struct Chain {
    mlir::Value source; ///< argument of the region
    RmsNormOp norm;     ///< these four may be null
    RopeOp rope;
    HadamardOp hadamard;
    KvWriteOp write;
    mlir::Value end; ///< tensor that the chain makes
    bool isYielded = false;
    int64_t rows = 0, heads = 0, size = 0;
  };
  llvm::SmallVector<Chain, 4> chains;
};

/// Heads of a row that a warp takes one after the other, of at most `most`, a power of two: the
/// largest divisor of the chain's heads.
int64_t headsOfWarp(const HeadRegion::Chain& chain, int64_t most);

/// Elements of 16 bytes, or fewer where they do not divide a head.
int64_t vectorOf(const HeadRegion::Chain& chain);

/// Whether a block can take a row of all chains (`head_rows`): they have as many rows, no norm or
/// Hadamard transform, whose sums are a warp's, and no cache of quants, whose scale is one, and
/// vectors of at least two elements divide their heads.
bool isOfWholeRows(const HeadRegion& region);

/// Adds `op` to the chain that it continues, or to a new one. Refuses one that no emitter of heads
/// computes there.
Verdict addToHeadRegion(mlir::Operation& op, HeadRegion& region);

/// Reads the region of `kernel`, or says why it is none of that kind.
VerdictOr<HeadRegion> readHeadRegion(KernelOp kernel);

} // namespace tenon::kernels

#endif // TENON_KERNELS_REGIONS_HEADREGION_H
