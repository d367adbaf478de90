#ifndef TENON_KERNELS_CUDA_HOPPERATTENTION_H
#define TENON_KERNELS_CUDA_HOPPERATTENTION_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/AttentionExtents.h"

namespace tenon::kernels {

/// How blocks of `hopper_attention` divide attention of many rows
/// (codegen/cuda/device/hopper_attention.cuh). A tile of rows has 64 of the tensor cores for each
/// of `consumers` warpgroups: the same positions of `heads` query heads that share a key head.
/// `tiles` are blocks that take them in turn. Of rows that have a sequence each, a tile has those of
/// one chunk.
struct HopperAttentionSchedule {
  int64_t tiles = 0;
  int64_t consumers = 0;   ///< warpgroups that multiply
  int64_t heads = 0;       ///< query heads of a tile, a power of two
  int64_t keys = 0;        ///< at a time, a multiple of 16
  int64_t stages = 0;      ///< of keys, and of values
  int64_t queryStages = 0; ///< 2: for the next tile's queries, too

  static constexpr Parameter<HopperAttentionSchedule> parameters[] = {
      {"consumers", &HopperAttentionSchedule::consumers, 2, 3},
      {"heads_per_tile", &HopperAttentionSchedule::heads, 1, 16},
      {"keys_per_block", &HopperAttentionSchedule::keys, 16, 256},
      {"stages", &HopperAttentionSchedule::stages, 2, 16},
      {"query_stages", &HopperAttentionSchedule::queryStages, 1, 2}};

  int64_t rows() const { return 64 * consumers; }
  int64_t positions() const { return rows() / heads; }
  int64_t threads() const { return 128 * (consumers + 1); }
  /// Whether warpgroups can have it: whole instructions, whole swizzled rows in each box.
  bool isPossible() const;
  /// Tiles of all rows and heads; of chunks, whose lengths are not known, as few as there may be.
  int64_t units(const AttentionExtents& extents) const;
  /// The same, but of chunks as many as there may be.
  int64_t mostUnits(const AttentionExtents& extents) const;
  /// Of chunks the tiles that a block may have; else 0.
  int64_t rounds(const AttentionExtents& extents) const;
  /// Bytes of keys and values of a stage: planes of 64 elements of each.
  int64_t stageBytes(int64_t keySize, int64_t valueSize) const;
  /// Shared memory of a block: queries, keys and values, which keys each row sees, barriers; which
  /// tiles it has where those are of chunks.
  int64_t smemBytes(const AttentionExtents& extents) const;
};

/// Attention of many rows of each sequence, or of chunks of any lengths, by warpgroups of sm_90a
/// (codegen/cuda/emitters/HopperAttention.cpp).
struct HopperAttentionKernel {
  static constexpr llvm::StringLiteral name = "hopper_attention";

  AttentionOp op;
  HopperAttentionSchedule schedule;

  static VerdictOr<HopperAttentionKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// The schedule for operands that tensor cores take; nothing where the target has no warpgroups, or
/// not the shared memory of a block, or attention has bias, slopes or sinks.
std::optional<HopperAttentionSchedule> chooseHopperAttention(AttentionOp op,
                                                             const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HOPPERATTENTION_H
