#ifndef TENON_KERNELS_CUDA_EXPERTGEMM_H
#define TENON_KERNELS_CUDA_EXPERTGEMM_H

#include "kernels/KernelKind.h"
#include "kernels/TypedSchedule.h"
#include "kernels/cuda/CudaTarget.h"
#include "kernels/regions/ExpertRegion.h"

namespace tenon::kernels {

/// How blocks of `expert_gemm` take GEMMs with experts: a tile is some columns of one expert, for
/// all rows that chose it.
struct ExpertGemmSchedule {
  int64_t tiles = 0;
  int64_t tileRows = 0; ///< multiplied at once, 64 or 128

  static constexpr Parameter<ExpertGemmSchedule> parameters[] = {
      {"tile_rows", &ExpertGemmSchedule::tileRows, 64, 128}};
};

/// GEMMs of many rows with the experts that they choose on tensor cores
/// (codegen/cuda/emitters/ExpertGemm.cpp).
struct ExpertGemmKernel {
  static constexpr llvm::StringLiteral name = "expert_gemm";
  static constexpr int64_t threads = 256, tileColumns = 128;
  /// Pairs that a block searches for those of its expert at once.
  static constexpr int64_t mostListed = 8192;

  ExpertRegion region;
  ExpertGemmSchedule schedule;

  static VerdictOr<ExpertGemmKernel> read(KernelOp kernel);
  auto gemms() const { return static_cast<int64_t>(region.gemms.size()); }
  /// Of each GEMM in a tile.
  int64_t columns() const { return tileColumns / gemms(); }
  int64_t tilesOfExpert() const { return llvm::divideCeil(region.columns, columns()); }
  /// Whether threads have the quants of four groups at once: in the encodings that mixtures are
  /// quantised to, where lines lie at addresses that suit them.
  bool takesQuads() const;
  int64_t listed() const { return std::min(mostListed, region.pairs()); }
  BlockResources resources() const;
  PriceTerms priceTerms() const;
};

/// Whether GEMMs with experts, of rows that share them, go to tensor cores: it follows from each
/// alone, lest a kernel of several add in another order.
bool suitsExpertGemm(const ExpertRegion& region);
ExpertGemmSchedule chooseExpertGemm(const ExpertRegion& region);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_EXPERTGEMM_H
