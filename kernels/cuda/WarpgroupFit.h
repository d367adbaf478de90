#ifndef TENON_KERNELS_CUDA_WARPGROUPFIT_H
#define TENON_KERNELS_CUDA_WARPGROUPFIT_H

#include "ir/Attributes.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// What the time of hopper_gemm's tiles follows from, by which it chooses one and is priced: of the
/// target's fit; all 0 of a GPU without warpgroups.
struct WarpgroupFit {
  /// Refuses a target that lacks a constant.
  static VerdictOr<WarpgroupFit> read(TargetAttr target);

  int64_t tensorElements; ///< of a tile, a cycle of the tensor cores
  int64_t smReadBytes;    ///< a cycle, into a multiprocessor
  int64_t l2ReadBytes;    ///< a cycle, of the L2 cache, where all multiprocessors read
  int64_t dramBytes;      ///< a cycle
  int64_t l2TiePercent;   ///< of the time of the L2 cache, what counts where others take longer
  /// Of the time of memory, what the tensor cores take at least where power is the limit; of the
  /// time of the L2 cache, what its reads take from them there.
  int64_t powerStagesPercent, powerL2Percent;
  int64_t stageCycles;     ///< that a stage of K takes at least
  int64_t unhiddenPercent; ///< of the shorter of memory and stages, what the longer does not hide
  int64_t storeBytes;      ///< a cycle, of a tile's results
  int64_t storeCycles;     ///< of a tile's results, whatever their size
  int64_t exchangeCycles;  ///< for sums of parts of K to come together
  int64_t ofThreePercent;  ///< of the multiprocessors, those that clusters of three get
  int64_t ofFourPercent;   ///< and of four
  /// Of a multiprocessor's slots, those in which it issues instructions that make factors of
  /// quantised weights; of the shorter of them and the tensor cores, what the longer does not hide.
  int64_t decodeIssuePercent, decodeUnhiddenPercent;
};

/// A tile's stages of K, 64 elements of 16 bits each.
struct WarpgroupStages {
  int64_t count;
  int64_t rows, columns;    ///< of A and of B
  double l2Rows;            ///< of both, that a block reads itself; its cluster sends it the others
  int64_t instructions = 0; ///< of warps, to make factors of quantised weights
};

/// Cycles of the stages of a tile on each of `blocks` multiprocessors of `sms`. What a stage takes
/// is the longest of four: the tensor cores beside the instructions that make factors of quantised
/// weights; the way into a multiprocessor, which tiles smaller than 128 x 128 wait for; the L2
/// cache; and its barriers beside the start of its GEMMs. Of
/// tiles that the first two make equal, those that read less of the L2 cache count as better.
double cyclesOf(const WarpgroupStages& stages, int64_t blocks, int64_t sms,
                const WarpgroupFit& fit);

/// The time of stages beside that of memory, which brings their weights: they hide each other, but
/// for a part of the shorter.
double overlap(double stages, double memory, const WarpgroupFit& fit);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_WARPGROUPFIT_H
