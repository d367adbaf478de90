#ifndef TENON_CODEGEN_KERNELSET_H
#define TENON_CODEGEN_KERNELSET_H

#include <unordered_map>
#include <vector>

#include "ir/Dialect.h"
#include "llvm/ADT/DenseMap.h"

namespace tenon::codegen {

/// The distinct kernels of a module: two are equal where their schedules, their types and the
/// operations of their regions are. The layers of a model share theirs.
class KernelSet {
public:
  explicit KernelSet(mlir::ModuleOp module);

  /// One kernel for each distinct one, in order of appearance.
  llvm::ArrayRef<KernelOp> kernels() const { return distinct; }
  /// The position of `kernel`'s equal in `kernels()`.
  uint32_t indexOf(KernelOp kernel) const { return indices.at(kernel); }
  /// The linker symbol of kernel `index`: `k3_rms_norm`.
  std::string symbol(uint32_t index) const;

private:
  uint32_t insert(KernelOp kernel);

  std::vector<KernelOp> distinct;
  std::unordered_multimap<size_t, uint32_t> byHash;
  llvm::DenseMap<mlir::Operation*, uint32_t> indices;
};

} // namespace tenon::codegen

#endif // TENON_CODEGEN_KERNELSET_H
