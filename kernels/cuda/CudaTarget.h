#ifndef TENON_KERNELS_CUDA_CUDATARGET_H
#define TENON_KERNELS_CUDA_CUDATARGET_H

#include "ir/Attributes.h"
#include "kernels/cuda/WarpgroupFit.h"
#include "support/Verdict.h"

namespace tenon::kernels {

/// The most rows that kernels for few rows take, which read each weight once.
inline constexpr int64_t mostFewRows = 16;

/// Which GEMMs a GPU's libraries may compute.
enum class LibraryGemms {
  None,
  ManyRows, ///< those of more than `mostFewRows`
  All,      ///< from the target's `library_rows` on
};

/// What a GPU's libraries may do.
struct LibraryUse {
  LibraryGemms gemms = LibraryGemms::None;
  bool tf32 = false; ///< round the factors of f32 GEMMs to TF32
};

/// What rules ask of a CUDA target.
struct CudaTarget {
  /// Reads the facts, what kinds of kernels are tuned with and, of a GPU with warpgroups, the fit.
  /// Refuses a target that lacks a fact or a constant of the fit.
  static VerdictOr<CudaTarget> read(TargetAttr target, LibraryUse libraries);

  /// Clusters of so many blocks, each of a whole multiprocessor, that run at once. A cluster is one
  /// graphics processing cluster's, which leaves clusters of more than two some multiprocessors too
  /// few: how many, the fit says, without which there are none.
  int64_t clustersAtOnce(int64_t blocks) const;

  int64_t sms;               ///< streaming multiprocessors
  bool bulkCopies;           ///< cp.async.bulk: sm_90 and later
  bool warpgroups;           ///< wgmma: sm_90a
  int64_t smemBytesPerSm;    ///< shared memory of a multiprocessor
  int64_t registersPerSm;    ///< of 32 bits
  int64_t smemBytesPerBlock; ///< shared memory that a block may have
  LibraryUse libraries;      ///< cuBLASLt
  WarpgroupFit warpgroupFit;
  // What kinds of kernels are tuned with; each kind's `tuning` says how it was measured.
  int64_t libraryRows;     ///< from which on cuBLASLt computes a GEMM
  int64_t bulkRingBytes;   ///< of a block whose warps bring weights by bulk copies
  int64_t bulkEarlyBytes;  ///< of those, on their way before it waits
  int64_t quantsRingBytes; ///< the same two of quantised blocks on tensor cores
  int64_t quantsEarlyBytes;
  int64_t gemvWarps;           ///< that keep the memory busy while they load into registers
  int64_t narrowBlocksPerSm;   ///< of narrow_gemm
  int64_t decodeBlocksPerSm;   ///< of decode attention
  int64_t decodeRingBytes;     ///< of keys and values, of a block of decode attention
  int64_t decodeRingElements;  ///< of a head, from which on its keys and values go through it
  int64_t decodePartKeys;      ///< of a part of a row, where decode attention has many rows
  int64_t decodeMostParts;     ///< of such a row
  int64_t decodeFullStages;    ///< of the ring of a block that fills its multiprocessor
  int64_t decodeEarlyStages;   ///< the same of blocks that ask for old keys early, at most
  int64_t prefillTilesPerSm;   ///< from which on prefill attention takes 128 rows a block
  int64_t elementVectorsPerSm; ///< from which on elementwise kernels take 256 threads a block
  int64_t rowRingStages;       ///< of held_block_gemv, unless more fill half a multiprocessor
  int64_t rowOnWayBytes;       ///< of its weights, that memory is asked for at once
  int64_t rowFewUnits;         ///< of one of its blocks, up to which it asks for half a unit less
  int64_t heldBlockStages;     ///< of held_block_gemm, at most
  int64_t heldBlockTiles;      ///< of a block of up to 8 rows, at least
  int64_t heldBlockManyTiles;  ///< the same of more rows
  int64_t heldBlockEarly;      ///< stages on their way before it waits, of up to 8 rows
  int64_t heldBlockManyEarly;  ///< the same of more rows
  int64_t pairWarps;           ///< of expert_slices, of blocks that take one pair's columns
};

/// A number that a kind of kernels is tuned with: what was measured to be best on an H200. A target
/// on which another was measured to be better states it as a property of that name.
struct Tuning {
  llvm::StringLiteral name;
  int64_t CudaTarget::* member;
  int64_t value;
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_CUDATARGET_H
