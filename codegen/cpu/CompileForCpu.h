#ifndef TENON_CODEGEN_CPU_COMPILEFORCPU_H
#define TENON_CODEGEN_CPU_COMPILEFORCPU_H

#include <string>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "runtime/program/Program.h"

namespace tenon::codegen {

struct CpuCodegenOptions {
  /// If set, receives the kernels as optimised LLVM IR.
  std::string* llvmIr = nullptr;
  /// If set, receives the kernels as x86-64 assembly.
  std::string* assembly = nullptr;
  /// Where objects are kept between compilations; empty: nowhere.
  std::string cacheFolder;
};

/// Compiles a planned module for the CPU that its `tenon.target` describes: equal kernel regions
/// become one function of a relocatable object, every `tenon.kernel` a step. Chooses nothing: the
/// schedule of each kernel names its emitter and all of its parameters. The module is not changed.
///
/// Fails with InvalidArgument, naming the location, where the module is not planned, a region or
/// schedule is none that an emitter computes, or the target is not a CPU.
absl::StatusOr<runtime::Program> compileForCpu(mlir::ModuleOp module,
                                               const CpuCodegenOptions& options);

} // namespace tenon::codegen

#endif // TENON_CODEGEN_CPU_COMPILEFORCPU_H
