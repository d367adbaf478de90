#ifndef TENON_PASSES_FUSION_COVER_H
#define TENON_PASSES_FUSION_COVER_H

#include <compare>
#include <cstdint>
#include <functional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon::passes::fusion {

/// What a kernel costs: `primary` decides, `secondary` among equals. Both at least 0.
struct CoverCost {
  int64_t primary = 0;
  int64_t secondary = 0;

  friend auto operator<=>(const CoverCost&, const CoverCost&) = default;
  friend CoverCost operator+(CoverCost a, CoverCost b) {
    return {a.primary + b.primary, a.secondary + b.secondary};
  }
  friend CoverCost operator-(CoverCost a, CoverCost b) {
    return {a.primary - b.primary, a.secondary - b.secondary};
  }
};

/// A set of nodes that one kernel could compute.
struct CoverSet {
  llvm::BitVector nodes;
  CoverCost cost;
};

/// Every node of a graph has to be computed by exactly one kernel: by one of `sets`, each of two or
/// more nodes, or alone. The kernels must have an order in which they can run.
struct CoverProblem {
  unsigned size = 0;            ///< nodes, numbered in a topological order
  std::vector<CoverCost> alone; ///< by node
  std::vector<CoverSet> sets;
  /// True where a path leads from the first node to the second: transitively closed.
  std::function<bool(unsigned from, unsigned to)> reaches;
};

/// The indices of the sets of a cheapest cover, ascending; nodes in none of them stand alone. The
/// same for the same problem, wherever it runs.
///
/// Branch and bound, depth first: the lowest node that is not covered yet is covered by each set
/// that holds it and fits, in the order of `sets`, then by itself. A part is given up where its
/// cost and the least that the other nodes can cost reach the best cover so far: each node costs at
/// least the smallest share, cost of a set over its nodes, of the sets that hold it. It is given
/// up, too, where the same nodes were covered before for no more, unless the sets chosen leave
/// another order to those that follow.
///
/// The time is at most `mostSteps` times the sets that hold a node, but the tables of which set
/// needs which are quadratic in sets: `chooseCover` cuts a large graph into problems of a bounded
/// size.
///
/// Example: nodes 0 → 1 → 2 of cost 1 each, sets {0, 1} and {1, 2} of cost 1: {0, 1} and node 2
/// cost 2, which {1, 2} and node 0 do not beat; the first is taken.
///
/// More than `mostSteps` branchings, and a beam takes over: covers are extended node by node, and
/// of those that reach the same node the cheapest `beamWidth` go on.
std::vector<unsigned> solveCover(const CoverProblem& problem, int64_t mostSteps = 200'000,
                                 unsigned beamWidth = 64);

/// The nodes of a graph that are left when those with no edge to another one, or from another one,
/// are taken away as long as there are some: all circles are among them. Linear in the edges.
llvm::BitVector trimLooseEnds(llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> edges);

/// True where the chosen sets can be run one after the other with all other nodes between them.
bool isOrderable(const CoverProblem& problem, llvm::ArrayRef<unsigned> chosen);

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_COVER_H
