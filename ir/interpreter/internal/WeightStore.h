#ifndef TENON_IR_INTERPRETER_INTERNAL_WEIGHTSTORE_H
#define TENON_IR_INTERPRETER_INTERNAL_WEIGHTSTORE_H

#include <string>

#include "ir/Dialect.h"
#include "ir/interpreter/internal/ElementBudget.h"
#include "support/MappedFile.h"

namespace tenon::interpreter {

/// The weights of a module: opens its files when first needed and keeps them.
class WeightStore {
public:
  /// Relative paths are meant from `baseFolder`.
  explicit WeightStore(std::string baseFolder) : baseFolder(std::move(baseFolder)) {}

  /// The tensor of a weight of a verified module: a view of its file where it lies there as it is,
  /// else gathered once, at the cost of `budget`. Fails where a file cannot be read or is not the
  /// one that the module states.
  absl::StatusOr<ReferenceTensor> load(WeightOp weight, ElementBudget& budget);

private:
  absl::StatusOr<std::shared_ptr<const MappedFile>> open(FileOp file);
  absl::StatusOr<ReferenceTensor> gather(WeightOp weight, ElementBudget& budget);
  absl::StatusOr<std::shared_ptr<const MappedFile>> fileOf(WeightOp weight, RangeAttr range);

  std::string baseFolder;
  llvm::DenseMap<mlir::Operation*, std::shared_ptr<const MappedFile>> files;
  llvm::DenseMap<mlir::Operation*, ReferenceTensor> weights;
};

} // namespace tenon::interpreter

#endif // TENON_IR_INTERPRETER_INTERNAL_WEIGHTSTORE_H
