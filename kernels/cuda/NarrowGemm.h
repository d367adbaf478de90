#ifndef TENON_KERNELS_CUDA_NARROWGEMM_H
#define TENON_KERNELS_CUDA_NARROWGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/GemmRegion.h"
#include "llvm/Support/MathExtras.h"

namespace tenon::kernels {

/// Shared memory of a block of `narrow_gemm` with `rows` rows of x, in bytes: for each warp a ring
/// of pieces and its part of the sums of a tile; for each norm that is computed in front, its
/// result.
struct NarrowGemmMemory {
  int64_t rows;

  static constexpr int64_t pieceElements = 64, tileColumns = 16, elementBytes = 2;
  /// A stage of a warp's ring.
  static constexpr int64_t pieceBytes = tileColumns * pieceElements * elementBytes;
  /// Floats from a row of sums to the next, so that threads which store them meet no bank twice.
  static constexpr int64_t sumPitch = 20;

  int64_t rowTiles() const { return llvm::divideCeil(rows, 8); }
  int64_t partBytes() const { return 8 * rowTiles() * sumPitch * 4; }
  /// Elements from a row of a norm's result to the next: 64 bytes off a multiple of 128, so that a
  /// warp's loads meet no bank twice.
  static int64_t inputPitch(int64_t depth) { return llvm::alignTo(depth, 64) + 32; }
  int64_t inputBytes(int64_t depth) const { return rows * inputPitch(depth) * elementBytes; }

  /// Pieces of 8 rows of x that a warp can hold, where two blocks leave a thread 128 registers.
  static constexpr int64_t mostHeldPieces = 10;
  /// Pieces of an input that each of `warps` warps multiplies, where it can hold them from tile to
  /// tile: all inputs are of one depth, and GEMMs that are joined have the same one. 0 where it
  /// can't.
  static int64_t piecesToHold(const GemmRegion& region, int64_t warps);
};

/// How blocks of `narrow_gemm` take a region. `tiles` are blocks that take such rows of W in turn,
/// any number of them.
struct NarrowGemmSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t stages = 0;    ///< of a warp's ring
  int64_t tileLines = 0; ///< rows of W of a tile
  /// Pieces of an input that a warp holds from tile to tile: 0, or all (`piecesToHold`).
  int64_t heldPieces = 0;
  int64_t blocksPerSm = 0; ///< that registers leave room for

  static constexpr Parameter<NarrowGemmSchedule> parameters[] = {
      threadsParameter(&NarrowGemmSchedule::threads),
      {"stages", &NarrowGemmSchedule::stages, 1, 8},
      {"tile_lines", &NarrowGemmSchedule::tileLines, 1, NarrowGemmMemory::tileColumns},
      {"held_pieces", &NarrowGemmSchedule::heldPieces, 1, NarrowGemmMemory::mostHeldPieces,
       /*absent=*/0},
      {"blocks_per_sm", &NarrowGemmSchedule::blocksPerSm, 1, 32}};
};

/// GEMMs of 2 to 16 rows of x on tensor cores, whose weights come through rings of a block's
/// warps (codegen/cuda/emitters/NarrowGemm.cpp).
struct NarrowGemmKernel {
  static constexpr llvm::StringLiteral name = "narrow_gemm";
  static constexpr Tuning tuning[] = {
      // Two blocks leave the first-level cache room for x: in decode of pythia-2.8b with 4 rows its
      // QKV with up takes 25.8 µs, its output and down projections 20.4; with x in shared memory,
      // too, 25.4 and 22.1 (2026-11-21).
      {"narrow_blocks_per_sm", &CudaTarget::narrowBlocksPerSm, 2}};
  static constexpr int64_t mostRows = 16, mostJoined = 4;

  GemmRegion region;
  NarrowGemmSchedule schedule;

  static VerdictOr<NarrowGemmKernel> read(KernelOp kernel);
  int64_t warps() const { return schedule.threads / 32; }
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether tensor cores compute a region of GEMMs with 2 to 16 rows.
Verdict acceptsNarrowGemm(const GemmRegion& region, const CudaTarget& target);
/// The schedule that does, of an accepted region or of one of its GEMMs alone.
NarrowGemmSchedule chooseNarrowGemm(const GemmRegion& region, const CudaTarget& target);

/// Whether tensor cores can multiply the factors as they are: one 16-bit type, one batch, rows of
/// multiples of 16 bytes.
bool suitsTensorCores(MatmulOp op);
/// Whether an input lies in memory, or is the norm of one that does.
bool readsMemory(const GemmRegion::Input& input);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_NARROWGEMM_H
