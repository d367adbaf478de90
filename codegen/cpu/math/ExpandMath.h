#ifndef TENON_CODEGEN_CPU_MATH_EXPANDMATH_H
#define TENON_CODEGEN_CPU_MATH_EXPANDMATH_H

#include <memory>

#include "mlir/Pass/Pass.h"

namespace tenon::codegen::cpu {

/// A pass that replaces `math.exp`, `exp2`, `log`, `tanh`, `erf`, `sin` and `cos` of f32 and of f32
/// vectors by arithmetic, so that they stay vectors: LLVM would call the C library once an element.
std::unique_ptr<mlir::Pass> createExpandMathPass();

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_MATH_EXPANDMATH_H
