#ifndef TENON_TOOLS_VERIFY_STANDALONEKERNEL_H
#define TENON_TOOLS_VERIFY_STANDALONEKERNEL_H

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/Dialect.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/Executor.h"
#include "tools/driver/MakeExecutor.h"

namespace tenon::tools {

/// The bytes of tensors and caches in their encodings, one a value.
using ValueBytes = std::vector<std::vector<std::byte>>;

/// A scheduled kernel cut into one kernel an operation, each of the same order (the plan `split` of
/// this kernel alone), loaded on the device.
class SplitChain {
public:
  static absl::StatusOr<SplitChain> create(KernelOp kernel, const ExecutorOptions& options);

  /// What the chain makes of `inputs`, in the order of the kernel's: a value for each result; of a
  /// cache, the whole of it afterwards.
  absl::StatusOr<ValueBytes> run(const ValueBytes& inputs);

private:
  std::unique_ptr<runtime::Executor> executor;
  std::vector<bool> isCache;        ///< by input
  std::vector<size_t> cacheResults; ///< by result: the input that is its cache; npos for a tensor
};

/// A kernel in the reference interpreter.
class ReferenceKernel {
public:
  static absl::StatusOr<ReferenceKernel> create(KernelOp kernel);

  /// A tensor for each result; of a cache, the whole of it afterwards.
  absl::StatusOr<std::vector<ReferenceTensor>> run(const ValueBytes& inputs);

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::unique_ptr<Interpreter> interpreter;
};

/// The input that result `index` of `kernel`, a cache, is written in place of.
size_t findCacheInput(KernelOp kernel, unsigned index);

} // namespace tenon::tools

#endif // TENON_TOOLS_VERIFY_STANDALONEKERNEL_H
