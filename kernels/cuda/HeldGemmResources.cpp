#include "kernels/cuda/HeldGemm.h"

#include "kernels/cuda/ScheduleKind.h"

using namespace mlir;

namespace tenon::kernels {

std::string HeldGemmShape::refuse(const ProductRegion& region) {
  llvm::SmallVector<int64_t, 2> depths = region.depths();
  if (region.rows > mostRows || !llvm::all_equal(depths) || depths.front() % 8 != 0 ||
      depths.front() > mostWarps * sliceElements)
    return "warps hold at most 16 rows of one depth of at most 4096 elements, a multiple of 8";
  for (const ProductRegion::Group& group : region.groups)
    for (const ProductRegion::Product& product : group.products)
      if (product.input != group.products.front().input)
        return "warps hold one input of a group of products";
  return "";
}

} // namespace tenon::kernels

namespace tenon::kernels::kinds {

/// Rings of pieces of W, sums of each warp's part of the depth, sums of norms in front.
static bool fillHeldGemm(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t mostStages = 16, halfBytes = 2, lanes = 32;
  ProductRegion region;
  int64_t stages = sizeParameter(kernel, "stages"), lines = sizeParameter(kernel, "tile_lines");
  if (stages < 1 || stages > mostStages || lines < 1 || lines > HeldGemmShape::mostLines ||
      !readProducts(kernel, region).empty() || !HeldGemmShape::refuse(region).empty())
    return false;
  HeldGemmShape shape = HeldGemmShape::of(region, lines);
  if (resources.threads != lanes * shape.warps())
    return false;
  bool hasNorm =
      llvm::any_of(region.inputs, [](const ProductRegion::Input& input) { return input.norm; });
  resources.registers = mostRegisters;
  resources.tensorCores = true;
  resources.bytesAThread =
      stages * HeldGemmShape::unitLines * HeldGemmShape::pieceElements * halfBytes / lanes;
  resources.dynamicSmemBytes = shape.bytes(stages, hasNorm);
  return true;
}

const ScheduleKind heldGemm = {"held_gemm", fillHeldGemm};

} // namespace tenon::kernels::kinds
