#ifndef TENON_PASSES_FUSION_FUSIONRULE_H
#define TENON_PASSES_FUSION_FUSIONRULE_H

#include "passes/fusion/FusionGraph.h"
#include "llvm/ADT/STLExtras.h"

namespace tenon::passes::fusion {

/// Receives the groups of operations that a rule would compute in one kernel.
using Propose = llvm::function_ref<void(llvm::ArrayRef<mlir::Operation*> ops)>;

/// Operations that one kernel holds at most. Kernels of models have up to 11; what a longer chain
/// would save beyond is a small part of its memory traffic, while the time to plan and to compile
/// it grows with the length.
inline constexpr size_t mostKernelOperations = 64;

/// A chain of operations worth a kernel. A rule is one file in `rules/` and one line in the list in
/// `FusionRules.cpp`. It proposes; whether a group is legal and whether it pays is decided for all
/// rules alike. Groups of several rules that share operations are tried together, too, so a rule
/// names its own chain alone.
struct FusionRule {
  /// In remarks and in `--disable-rule=`.
  llvm::StringLiteral name;
  /// Proposes the groups that `op` stands for: each chain once, in any order of its operations.
  void (*propose)(mlir::Operation* op, Propose propose);
  /// Its groups are taken after those of all others: the legal ones that no other group holds.
  bool fillsGaps = false;
};

/// All rules, in the order in which their candidates are listed.
llvm::ArrayRef<const FusionRule*> allRules();

// What several rules ask.

/// True for an elementwise operation.
bool isElementwise(mlir::Operation* op);
/// True for rms_norm and layer_norm.
bool isNorm(mlir::Operation* op);
/// The operation that computes operand `index` of `op`, if it is an `OpTy`; null otherwise.
template <typename OpTy> OpTy operandOp(mlir::Operation* op, unsigned index = 0) {
  return llvm::dyn_cast_or_null<OpTy>(producerOf(op->getOperand(index)));
}
/// The one operation that reads the result of `op`; null where there are several, or the function
/// returns it.
mlir::Operation* onlyUser(mlir::Operation* op);
/// The elementwise operations that follow `op`, each the only user of the one before, as many as a
/// kernel holds with `op`.
llvm::SmallVector<mlir::Operation*> elementwiseTail(mlir::Operation* op);
/// True for an elementwise operation of one value beside weights and constants: a bias, an
/// activation, a scale.
bool isPointwise(mlir::Operation* op);
/// The pointwise operations that follow `op`, each the only user of the one before: what a kernel
/// that computes `op` can do with its result before it stores it, as far as a kernel holds it.
llvm::SmallVector<mlir::Operation*> pointwiseTail(mlir::Operation* op);
/// The matrix products whose input is `value`.
llvm::SmallVector<mlir::Operation*> matmulsOf(mlir::Value value);
/// What stands between a product and the attention that reads `value`: cache write, rope and norm
/// of heads, from there backwards; each where it is, and no more of them than a kernel holds.
llvm::SmallVector<mlir::Operation*> headTail(mlir::Value value);
/// The matrix product that `value` comes from and the elementwise operations and views between
/// (a bias), the product first; empty where there is none that a kernel could hold with them.
llvm::SmallVector<mlir::Operation*> matmulChain(mlir::Value value);
/// The same, where the operations between are pointwise: nothing else goes into `value`.
llvm::SmallVector<mlir::Operation*> pointwiseChain(mlir::Value value);
/// Proposes `ops`, in program order, in pieces that a kernel holds.
void proposePieces(llvm::ArrayRef<mlir::Operation*> ops, Propose propose);

namespace rules {

/// The rules, each defined in the file of its name.
extern const FusionRule attentionCache;
extern const FusionRule elementwiseChain;
extern const FusionRule embeddingNorm;
extern const FusionRule gatedLinear;
extern const FusionRule headArgmax;
extern const FusionRule matmulEpilogue;
extern const FusionRule neighbours;
extern const FusionRule normMatmul;
extern const FusionRule normResidual;
extern const FusionRule parallelProducts;
extern const FusionRule parallelResidual;
extern const FusionRule qkvCache;
extern const FusionRule residualNorm;
extern const FusionRule sharedInput;

} // namespace rules

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_FUSIONRULE_H
