#ifndef TENON_PASSES_FUSION_FUSIONGRAPH_H
#define TENON_PASSES_FUSION_FUSIONGRAPH_H

#include <vector>

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/BitVector.h"

namespace tenon::passes::fusion {

/// The computations of a function that become kernels, as a graph. Views stand on the edges.
class FusionGraph {
public:
  /// Of a function in phase `simplified`. Linear in operations times operations / 64.
  explicit FusionGraph(mlir::func::FuncOp function);

  unsigned size() const { return nodes.size(); }
  mlir::Operation* getOp(unsigned node) const { return nodes[node]; }
  /// The node of `op`; nullopt for what becomes no kernel: views, weights, states, constants.
  std::optional<unsigned> indexOf(mlir::Operation* op) const;
  /// True where `to` has to run after `from`: it depends on its results, or writes a state that
  /// `from` reads before.
  bool reaches(unsigned from, unsigned to) const { return closure[from].test(to); }
  /// All nodes that run after `node`.
  const llvm::BitVector& after(unsigned node) const { return closure[node]; }
  /// All nodes that run before `node`.
  const llvm::BitVector& before(unsigned node) const { return reverseClosure[node]; }
  /// The nodes that read results of `node`, or overwrite what it reads.
  llvm::ArrayRef<unsigned> next(unsigned node) const { return successors[node]; }

private:
  void addEdges(mlir::Operation* op, unsigned node);

  std::vector<mlir::Operation*> nodes; ///< in program order
  llvm::DenseMap<mlir::Operation*, unsigned> indices;
  std::vector<llvm::SmallVector<unsigned, 4>> successors;
  std::vector<llvm::BitVector> closure, reverseClosure;
};

/// The operation that computes `value`, through views; null for arguments.
mlir::Operation* producerOf(mlir::Value value);
/// The operations that read `value`, through views, in program order, each once.
llvm::SmallVector<mlir::Operation*> usersOf(mlir::Value value);

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_FUSIONGRAPH_H
