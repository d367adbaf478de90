#ifndef TENON_KERNELS_CUDA_TENSORDECODEATTENTION_H
#define TENON_KERNELS_CUDA_TENSORDECODEATTENTION_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/AttentionRegion.h"

namespace tenon::kernels {

/// How blocks of `tensor_decode_attention` take rows of attention.
struct TensorDecodeSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t headsPerTile = 0; ///< query heads of a row that share a head of the caches
  int64_t splits = 0;       ///< parts of a row's keys, at most
  int64_t leastKeys = 0;    ///< of a part; 0: a step of each of the block's warps
  int64_t blocksPerSm = 0;  ///< that registers leave room for
  /// `splits`, where the blocks of a row are a cluster, which combines them; 0: memory does.
  int64_t clusterBlocks = 0;
  int64_t released = 0; ///< 1: blocks arrive in their cluster with a release
  /// Of a warp's ring of keys and values; 0: those go straight into registers.
  int64_t stages = 0;
  int64_t sets = 1;     ///< of those registers, a step of keys each
  int64_t runBytes = 0; ///< of memory that loads ask for at a time, 256 or 0: no matter
  int64_t early = 0;    ///< 1: old keys are asked for before the wait for what writes the caches

  static constexpr int64_t mostHeads = 8, mostSplits = 64;
  static constexpr Parameter<TensorDecodeSchedule> parameters[] = {
      threadsParameter(&TensorDecodeSchedule::threads),
      {"heads_per_tile", &TensorDecodeSchedule::headsPerTile, 1, mostHeads},
      {"splits", &TensorDecodeSchedule::splits, 1, mostSplits},
      {"least_keys", &TensorDecodeSchedule::leastKeys, 1, Parameter<TensorDecodeSchedule>::largest,
       /*absent=*/0},
      {"blocks_per_sm", &TensorDecodeSchedule::blocksPerSm, 1, 32},
      {"cluster_blocks", &TensorDecodeSchedule::clusterBlocks, 1, 16, /*absent=*/0},
      flagParameter("released", &TensorDecodeSchedule::released),
      {"stages", &TensorDecodeSchedule::stages, 1, 16, /*absent=*/0},
      {"sets", &TensorDecodeSchedule::sets, 1, 2, /*absent=*/1},
      flagParameter("early", &TensorDecodeSchedule::early),
      {"run_bytes", &TensorDecodeSchedule::runBytes, 1, Parameter<TensorDecodeSchedule>::largest,
       /*absent=*/0}};
};

/// Attention of single rows on tensor cores, with norm, rope and cache writes where the region has
/// them (codegen/cuda/emitters/TensorDecodeAttention.cpp).
struct TensorDecodeKernel {
  static constexpr llvm::StringLiteral name = "tensor_decode_attention";
  /// Rows whose keys and values the kernel makes: a block has room for those of all rows, which may
  /// be of its row's sequence.
  static constexpr int64_t mostMadeRows = 64;
  static constexpr Tuning tuning[] = {
      // An earlier decode attention, two blocks and three, 512, 4,096 and 32,768 keys of 8 heads of
      // 128: 7.3, 10.9, 37.6 µs and 7.3, 11.3, 43.5 (2026-11-20).
      {"decode_blocks_per_sm", &CudaTarget::decodeBlocksPerSm, 2},
      // Bytes of ring, and elements of a head from which on it is used, where more than four
      // multiprocessors fall to a row's key head. Between two GEMMs (graph, dependent launch,
      // bf16, 8 key heads), 512 and 8,192 keys: heads of 128 through the ring, four warps, 5.1 and
      // 13.2 µs, straight into registers, eight warps, 6.7 and 17.7; heads of 64 4.1 and 9.3 µs,
      // 3.6 and 9.9 (2026-11-21).
      {"decode_ring_bytes", &CudaTarget::decodeRingBytes, 64 << 10},
      {"decode_ring_elements", &CudaTarget::decodeRingElements, 128},
      // Keys of a part, and parts of a row at most, where units are so many that each has a block.
      // 32 rows of Llama-3.1-8B at positions from 0 to 8,190 took 166.1 µs a layer in one block a
      // unit, 142.1 in parts of 2,048 keys and 131.5 in parts of 1,024, up to 8; as many keys at
      // equal positions 123.9 in one block and 130.2 in parts (2026-11-28,
      // docs/notebook/2026-11-28-sequences.md).
      {"decode_part_keys", &CudaTarget::decodePartKeys, 1024},
      {"decode_most_parts", &CudaTarget::decodeMostParts, 8},
      // Steps of a warp on their way behind the one in registers, where a block of wide heads fills
      // its multiprocessor: steps of 8 layers of llama-3.1-8b with 16 rows at 512 take 0.675 ms in
      // Q4_K, 1.208 in bf16 and 1.195 in Q8_0, without 0.682, 1.214 and 1.202 (H200, 2026-11-29).
      {"decode_full_stages", &CudaTarget::decodeFullStages, 1},
      // The same at most where blocks ask for old keys early: with 32 rows of llama-3.1-8b in bf16
      // three layers took 0.657 ms with two, 0.660 with one and 0.669 with three (H200,
      // 2026-11-29).
      {"decode_early_stages", &CudaTarget::decodeEarlyStages, 2}};

  AttentionRegion region;
  TensorDecodeSchedule schedule;

  static VerdictOr<TensorDecodeKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

TensorDecodeSchedule chooseTensorDecode(AttentionOp op, const CudaTarget& target);

/// Whether attention behind a kernel that writes its caches is `tensor_decode_attention` and asks
/// for old keys before it waits for that one.
bool asksEarly(AttentionOp op, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_TENSORDECODEATTENTION_H
