#ifndef TENON_KERNELS_CUDA_GEMVBULKLAYOUT_H
#define TENON_KERNELS_CUDA_GEMVBULKLAYOUT_H

#include "kernels/TypedSchedule.h"
#include "kernels/cuda/BulkRows.h"
#include "kernels/cuda/GemvBlock.h"

namespace tenon::kernels {

/// How blocks of `gemv_bulk` take a region.
struct GemvBulkSchedule {
  int64_t tiles = 0;
  int64_t threads = 0;
  int64_t vector = 0; ///< elements that a lane takes at once, 4 or 8
  int64_t stages = 0; ///< of a warp's ring
  /// Stages that are filled before the kernel waits, where fewer than all; 0: all. The others are
  /// brought after the loads of x, whose way from the L2 cache they would share.
  int64_t early = 0;
  int64_t held = 0;  ///< 1: a warp keeps in registers the part of x of all its segments
  int64_t batch = 1; ///< segments of a stage

  int64_t earlyStages() const { return early == 0 ? stages : early; }

  static constexpr Parameter<GemvBulkSchedule> parameters[] = {
      threadsParameter(&GemvBulkSchedule::threads),
      {"vector", &GemvBulkSchedule::vector, 4, 8},
      {"stages", &GemvBulkSchedule::stages},
      {"early", &GemvBulkSchedule::early, 1, Parameter<GemvBulkSchedule>::largest, /*absent=*/0},
      flagParameter("held", &GemvBulkSchedule::held),
      {"batch", &GemvBulkSchedule::batch, 2, 4, /*absent=*/1}};
};

/// How a block of the emitter `gemv_bulk` divides its work and its shared memory: what the schedule
/// rule, the emitter and the cost model know alike.
///
/// The GEMMs of a line are cut at the chunks of their orders into segments, each what a warp brings
/// and multiplies at once. A block deals the segments of its lines out to its warps in turn. A warp
/// takes a batch of its segments at once where one part of x belongs to all of them.
///
/// Shared memory: a ring of stages a warp; then inputs and sums, one of each segment.
///
/// Example: gate and up of 2,048 elements in chunks of 2,048, 8,192 columns on 132 tiles: lines of
/// 2 segments of 4,096 bytes, at most 63 lines a tile.
struct GemvBulkLayout : GemvBlock {
  /// The GEMM at one place of a group.
  struct Gemm {
    int64_t depth = 0, chunk = 0; ///< elements
    int64_t segments = 0, firstSegment = 0;
    BulkRows matrix;                       ///< of the weight
    int64_t chunkBytes = 0, lastBytes = 0; ///< of its rows' segments
  };
  llvm::SmallVector<Gemm, 2> gemms;
  bool onTensorCores = false;    ///< the sums of segments
  int64_t segments = 0;          ///< of a line
  int64_t batch = 0;             ///< segments of a stage of a ring
  int64_t stages = 0, early = 0; ///< of a ring; those on their way before the kernel waits
  bool held = false;             ///< a warp keeps the part of x of its segments in registers
  int64_t pieceBytes = 0;        ///< from one segment of a stage to the next
  int64_t stageBytes = 0;
  int64_t ringBytes = 0; ///< of a warp
};

/// The order of a GEMM: its attribute, or what a schedule rule would give it.
using GemmOrder = llvm::function_ref<OrderAttr(MatmulOp op)>;

/// Lays out `region` for `schedule` and the orders of its GEMMs, or says why the emitter cannot
/// compute it so.
VerdictOr<GemvBulkLayout> layOutGemvBulk(
    const GemmRegion& region, const GemvBulkSchedule& schedule,
    GemmOrder orderOf = [](MatmulOp op) { return op.getOrderAttr(); });

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_GEMVBULKLAYOUT_H
