#ifndef TENON_CODEGEN_CPU_LOWERING_H
#define TENON_CODEGEN_CPU_LOWERING_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

namespace tenon::codegen::cpu {

/// Registers the dialects that kernels are built in and what translates them to LLVM IR.
void registerKernelDialects(mlir::DialectRegistry& registry);

/// Lowers a module of functions in arith, math, scf, vector and llvm to the llvm dialect alone.
mlir::LogicalResult lowerToLlvmDialect(mlir::ModuleOp module);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_LOWERING_H
