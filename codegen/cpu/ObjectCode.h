#ifndef TENON_CODEGEN_CPU_OBJECTCODE_H
#define TENON_CODEGEN_CPU_OBJECTCODE_H

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "support/DiskCache.h"

namespace tenon::codegen::cpu {

/// What `emitObject` writes for people besides the object, where not null.
struct CodeListings {
  std::string* llvmIr = nullptr;   ///< LLVM IR after optimisation
  std::string* assembly = nullptr; ///< x86-64 assembly
};

/// Optimises a module of the llvm dialect (O3) for the features and vector width of `target` and
/// returns a relocatable ELF object: position-independent, without thread-local storage and unwind
/// tables. Floating-point arithmetic is kept as written: nothing is reassociated or contracted.
/// Where no listing is asked for, the object may come from `cache`, whose key is the code before
/// LLVM optimises it, its settings and its version. Fails with InvalidArgument where LLVM does not
/// know a feature.
absl::StatusOr<std::vector<std::byte>> emitObject(mlir::ModuleOp module, TargetAttr target,
                                                  const CodeListings& listings,
                                                  const DiskCache& cache);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_OBJECTCODE_H
