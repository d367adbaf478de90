#ifndef TENON_PASSES_RELAX_DEFERNORMS_H
#define TENON_PASSES_RELAX_DEFERNORMS_H

#include <memory>
#include <string>
#include <vector>

#include "mlir/IR/Location.h"
#include "mlir/Pass/Pass.h"

namespace tenon::passes {

/// What became of an RMS norm whose result a GEMM multiplies.
struct NormDeferral {
  std::string function;
  int64_t gemms = 0;   ///< that multiply the norm's result
  std::string refusal; ///< why the norm stays, a sentence without final period; else empty
  mlir::Location location;
};

/// The pass `tenon-defer-norms`, which the pipeline runs under relaxed numerics: 1/rms of a row is
/// a factor of every product of that row, so it may follow the GEMM instead of leading it.
///
///     y = round(x / √(mean(x²) + ε) · w) · Wᵀ      becomes
///     y = (round(x · w) · Wᵀ) · r,  r = 1 / √(mean(x²) + ε)
///
/// Which norms allow it is a matter of types and uses; whether it is faster is not asked here:
///
/// 1. Every user of the norm is a GEMM that has it as its input. Where anything else reads it, or
///    the function returns it, the norm is computed anyway.
/// 2. A norm of type f16 has no weight, and an input of f16. x · w is not bounded as the norm is,
///    by √K · |w|, and beyond 65,504 f16 has no numbers; x alone is in f16 already. bf16 has the
///    range of f32.
///
/// r, one number a row, is computed in f32 of squares in f32, once for all norms of x with that ε.
/// The GEMM's sum is kept in f32 up to its factor, so that it cannot overflow where that of the
/// norm did not. The result differs from that of exact numerics by where it is rounded: x · w
/// before the GEMM instead of the norm, which is as large an error relative to each element.
///
/// ```mlir
/// %n = tenon.rms_norm %x, %w eps 1.0e-5
///     : (tensor<8x64xbf16>, tensor<64xf32>) -> tensor<8x64xbf16>
/// %y = tenon.matmul %n, %m
///     : (tensor<8x64xbf16>, tensor<32x64xbf16>) -> tensor<8x32xbf16>
/// ```
/// becomes
/// ```mlir
/// %q = tenon.square %x : (tensor<8x64xbf16>) -> tensor<8x64xf32>
/// %a = tenon.reduce mean %q : (tensor<8x64xf32>) -> tensor<8x1xf32>
/// %b = tenon.add %a, %eps : (tensor<8x1xf32>, tensor<1xf32>) -> tensor<8x1xf32>
/// %r = tenon.rsqrt %b : (tensor<8x1xf32>) -> tensor<8x1xf32>
/// %s = tenon.mul %x, %w : (tensor<8x64xbf16>, tensor<64xf32>) -> tensor<8x64xbf16>
/// %p = tenon.matmul %s, %m
///     : (tensor<8x64xbf16>, tensor<32x64xbf16>) -> tensor<8x32xf32>
/// %y = tenon.mul %p, %r : (tensor<8x32xf32>, tensor<8x1xf32>) -> tensor<8x32xbf16>
/// ```
///
/// One remark of the category `numerics` a norm, passed or missed. `report`, if set, receives one
/// of each norm that a GEMM reads.
std::unique_ptr<mlir::Pass> createDeferNormsPass(std::vector<NormDeferral>* report = nullptr);

/// Makes the pass available to a pass-pipeline parser.
void registerDeferNormsPass();

} // namespace tenon::passes

#endif // TENON_PASSES_RELAX_DEFERNORMS_H
