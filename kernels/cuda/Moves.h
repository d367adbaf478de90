#ifndef TENON_KERNELS_CUDA_MOVES_H
#define TENON_KERNELS_CUDA_MOVES_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"

namespace tenon::kernels {

/// Blocks of threads that each move `vector` elements at once.
struct MoveSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t vector = 0; ///< of at most 16 bytes

  static constexpr Parameter<MoveSchedule> parameters[] = {threadsParameter(&MoveSchedule::threads),
                                                           {"vector", &MoveSchedule::vector}};
};

/// One word a thread.
inline BlockResources resourcesOfMove(int64_t threads) {
  return {.threads = threads, .registers = 40};
}

/// One reshape, transpose, slice or concat (codegen/cuda/emitters/Copy.cpp).
struct CopyKernel {
  static constexpr llvm::StringLiteral name = "copy";

  mlir::Operation* op;
  MoveSchedule schedule;

  static VerdictOr<CopyKernel> read(KernelOp kernel);
  BlockResources resources() const { return resourcesOfMove(schedule.threads); }
  PriceTerms priceTerms() const { return {}; }
};

/// The windows of a convolution (codegen/cuda/emitters/Patches.cpp).
struct PatchesKernel {
  static constexpr llvm::StringLiteral name = "patches";

  PatchesOp op;
  MoveSchedule schedule;

  /// The largest vector of 16 bytes or less of which no window, and no edge of the input, cuts one.
  static int64_t mostVector(PatchesOp op);
  static VerdictOr<PatchesKernel> read(KernelOp kernel);
  BlockResources resources() const { return resourcesOfMove(schedule.threads); }
  PriceTerms priceTerms() const { return {}; }
};

/// A write of rows to a cache, a block a row (codegen/cuda/emitters/KvWrite.cpp).
struct KvWriteKernel {
  static constexpr llvm::StringLiteral name = "kv_write";

  KvWriteOp op;
  MoveSchedule schedule;

  static VerdictOr<KvWriteKernel> read(KernelOp kernel) { return readSole<KvWriteKernel>(kernel); }
  BlockResources resources() const { return resourcesOfMove(schedule.threads); }
  PriceTerms priceTerms() const { return {}; }
};

/// The places at which keys and queries over a ring are rotated, a thread a position
/// (codegen/cuda/emitters/RingPlaces.cpp).
struct RingPlacesKernel {
  static constexpr llvm::StringLiteral name = "ring_places";

  RingPlacesOp op;
  MoveSchedule schedule;

  static VerdictOr<RingPlacesKernel> read(KernelOp kernel) {
    return readSole<RingPlacesKernel>(kernel);
  }
  BlockResources resources() const { return resourcesOfMove(schedule.threads); }
  PriceTerms priceTerms() const { return {}; }
};

/// Which guesses were right, a lane of one warp a row (codegen/cuda/emitters/Accept.cpp).
struct AcceptKernel {
  static constexpr llvm::StringLiteral name = "accept";
  static constexpr int64_t threads = AcceptOp::mostRows;

  AcceptOp op;
  MoveSchedule schedule;

  static VerdictOr<AcceptKernel> read(KernelOp kernel);
  BlockResources resources() const { return resourcesOfMove(schedule.threads); }
  PriceTerms priceTerms() const { return {}; }
};

struct RopeSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t headsPerThread = 1; ///< of a row, for which a thread keeps a sine and a cosine

  static constexpr Parameter<RopeSchedule> parameters[] = {
      threadsParameter(&RopeSchedule::threads),
      {"heads_per_thread", &RopeSchedule::headsPerThread, 1, Parameter<RopeSchedule>::largest,
       /*absent=*/1}};
};

/// Rotary position embedding (codegen/cuda/emitters/Rope.cpp).
struct RopeKernel {
  static constexpr llvm::StringLiteral name = "rope";

  RopeOp op;
  RopeSchedule schedule;

  static VerdictOr<RopeKernel> read(KernelOp kernel) { return readSole<RopeKernel>(kernel); }
  BlockResources resources() const { return resourcesOfMove(schedule.threads); }
  PriceTerms priceTerms() const { return {}; }
};

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_MOVES_H
