#ifndef TENON_KERNELS_CUDA_HOPPERGEMM_H
#define TENON_KERNELS_CUDA_HOPPERGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/cuda/HopperTile.h"
#include "kernels/regions/GemmRegion.h"

namespace tenon::kernels {

/// How blocks of `hopper_gemm` take a region; `HopperTile` says what the parameters mean. `tiles`
/// are blocks that take tiles of y in turn, whole clusters of them; where K is split, one for each
/// part of each tile.
struct HopperGemmSchedule {
  int64_t tiles = 0;
  int64_t blocks = 0;
  int64_t columns = 0;
  int64_t pingPong = 0;   ///< 1: warpgroups take tiles in turn
  int64_t weightRows = 0; ///< 1: A is W
  int64_t clusterA = 0;
  int64_t clusterB = 0;
  int64_t split = 1;
  int64_t stages = 0;
  int64_t pieces = 0; ///< of quantised W on their way

  static constexpr Parameter<HopperGemmSchedule> parameters[] = {
      {"blocks", &HopperGemmSchedule::blocks},
      {"columns", &HopperGemmSchedule::columns},
      flagParameter("ping_pong", &HopperGemmSchedule::pingPong),
      flagParameter("weight_rows", &HopperGemmSchedule::weightRows),
      {"cluster_a", &HopperGemmSchedule::clusterA},
      {"cluster_b", &HopperGemmSchedule::clusterB},
      {"split", &HopperGemmSchedule::split, 2, 8, /*absent=*/1},
      {"stages", &HopperGemmSchedule::stages, 2, 32},
      {"pieces", &HopperGemmSchedule::pieces, 2, 32, /*absent=*/0}};

  /// The tile of groups of so many GEMMs with weights of `encoding` and x of `input`.
  HopperTile tileOf(int64_t gemms, const Encoding& encoding, const Encoding& input) const;
};

/// Groups of GEMMs of many rows of one x, of one GEMM or two that one epilogue joins, by
/// warpgroups of sm_90a (codegen/cuda/emitters/HopperGemm.cpp). Block-quantised weights are rounded
/// to the type of x in registers.
struct HopperGemmKernel {
  static constexpr llvm::StringLiteral name = "hopper_gemm";

  GemmRegion region;
  HopperGemmSchedule schedule;
  HopperTile tile;

  static VerdictOr<HopperGemmKernel> read(KernelOp kernel);
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Columns of each group's y.
llvm::SmallVector<int64_t, 4> widthsOf(const GemmRegion& region);

/// Whether warpgroups multiply a region of groups of one GEMM, or of two that one epilogue
/// joins, of many rows.
bool suitsHopperGemm(const GemmRegion& region, const CudaTarget& target);
/// The schedule that does, of those that split K as `like` does, where it is given.
HopperGemmSchedule chooseHopperGemm(const GemmRegion& region, const CudaTarget& target,
                                    const HopperGemmSchedule* like = nullptr);
/// The order in which warpgroups add a sum over `depth` elements of K that is split into so many
/// parts: as tensor cores do, and where there are several, these in ascending order. None of one,
/// which is the device's own. Parts are whole pieces where W is `quantised`.
OrderAttr orderForHopperGemm(mlir::MLIRContext* context, int64_t split, int64_t depth,
                             bool quantised);
/// Gives a GEMM the order that it has under `schedule`.
void setHopperGemmOrder(MatmulOp op, const HopperGemmSchedule& schedule);
/// Other schedules that add in the same order, those that should be fastest first.
llvm::SmallVector<ScheduleAttr> hopperGemmAlternatives(KernelOp kernel, const CudaTarget& target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_HOPPERGEMM_H
