#ifndef TENON_PASSES_FUSION_REGION_H
#define TENON_PASSES_FUSION_REGION_H

#include "ir/Dialect.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::passes::fusion {

/// Some operations of one block as a kernel: copies of them in its region, with copies of the views
/// between them; what they read from outside as inputs; what anything outside reads of them, the
/// function's return included, as results.
class Region {
public:
  /// `ops` in program order.
  explicit Region(llvm::ArrayRef<mlir::Operation*> ops);

  /// Values from outside, each once, in the order of their first use.
  llvm::ArrayRef<mlir::Value> getInputs() const { return inputs; }
  /// Values that leave the region, in program order.
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }

  /// What the region computes: operations, attributes, types and who reads what, but not names.
  /// Equal for regions whose prototypes differ in their locations alone. Valid in this context
  /// only.
  std::vector<const void*> content() const;

  /// A kernel without operands in no block: for questions about the region. The operations keep
  /// their users.
  mlir::OwningOpRef<KernelOp> prototype() const;
  /// The kernel at the builder's insertion point, in place of the operations, which are erased; so
  /// are views that nothing reads any more.
  KernelOp replace(mlir::OpBuilder& builder);

private:
  bool isInside(mlir::Operation* op) const { return inside.contains(op); }
  bool leaves(mlir::Value value) const;
  /// Visits the operations, each view in front of the first that reads through it.
  void walk(llvm::function_ref<void(mlir::Operation*)> visit) const;
  void fill(KernelOp kernel, mlir::OpBuilder& builder) const;
  llvm::SmallVector<mlir::Type> resultTypes() const;

  llvm::SmallVector<mlir::Operation*> ops;
  llvm::DenseSet<mlir::Operation*> inside;
  llvm::SmallVector<mlir::Value> inputs, results;
};

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_REGION_H
