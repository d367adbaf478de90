#include "passes/fusion/Cover.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon::passes::fusion {

/// By set: the nodes that its nodes reach.
static std::vector<llvm::BitVector> findReached(const CoverProblem& problem) {
  std::vector<llvm::BitVector> closure(problem.size, llvm::BitVector(problem.size));
  for (unsigned from = 0; from < problem.size; ++from)
    for (unsigned to = from + 1; to < problem.size; ++to)
      if (problem.reaches(from, to))
        closure[from].set(to);
  std::vector<llvm::BitVector> reached;
  for (const CoverSet& set : problem.sets) {
    reached.emplace_back(problem.size);
    for (unsigned node : set.nodes.set_bits())
      reached.back() |= closure[node];
  }
  return reached;
}

/// By set: the sets that it needs results of.
static std::vector<llvm::BitVector> findDependences(const CoverProblem& problem) {
  size_t count = problem.sets.size();
  std::vector<llvm::BitVector> reached = findReached(problem);
  std::vector<llvm::BitVector> dependsOn(count, llvm::BitVector(count));
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (a != b && reached[b].anyCommon(problem.sets[a].nodes))
        dependsOn[a].set(b);
  return dependsOn;
}

namespace {

/// Part of a cover: all nodes below the first one that is missing, and perhaps others.
struct PartialCover {
  llvm::BitVector covered;
  std::vector<unsigned> chosen;
  CoverCost cost;
  double leastRest = 0; ///< a lower bound on the primary cost of the nodes that are missing
};

/// Costs are whole: a sum of shares may be off by less than this.
constexpr double rounding = 0.01;

/// A lower bound on the primary cost of what the cover becomes.
double leastCost(const PartialCover& cover) {
  return static_cast<double>(cover.cost.primary) + cover.leastRest;
}

class CoverSolver {
public:
  CoverSolver(const CoverProblem& problem, int64_t mostSteps, unsigned beamWidth)
      : problem(problem), stepsLeft(mostSteps), beamWidth(beamWidth),
        best{llvm::BitVector(problem.size, true), {}, {}, 0} {
    for (CoverCost cost : problem.alone)
      best.cost = best.cost + cost;
    findSets();
    findShares();
    dependsOn = findDependences(problem);
    findEntangled();
  }

  std::vector<unsigned> solve() {
    PartialCover cover{llvm::BitVector(problem.size), {}, {}, 0};
    for (double share : shares)
      cover.leastRest += share;
    branch(cover);
    if (stepsLeft < 0)
      beam(std::move(cover));
    llvm::sort(best.chosen);
    return best.chosen;
  }

private:
  void findSets();
  void findShares();
  void findEntangled();
  bool isDominated(const PartialCover& cover);
  bool fits(const PartialCover& cover, unsigned set) const;
  void offer(const PartialCover& cover) {
    if (cover.cost < best.cost)
      best = cover;
  }
  void addSet(PartialCover& cover, unsigned set) const;
  void removeSet(PartialCover& cover, unsigned set) const;
  void addAlone(PartialCover& cover, unsigned node) const;
  void removeAlone(PartialCover& cover, unsigned node) const;
  void branch(PartialCover& cover);
  void beam(PartialCover empty);

  const CoverProblem& problem;
  int64_t stepsLeft;
  unsigned beamWidth;
  PartialCover best;
  std::vector<llvm::SmallVector<unsigned, 4>> setsAt; ///< by lowest node
  std::vector<double> shares;                         ///< least primary cost of a node
  std::vector<double> setShares;                      ///< by set: the sum of its nodes' shares
  std::vector<llvm::BitVector> dependsOn;             ///< by set: sets that it needs results of
  llvm::BitVector entangled; ///< sets that may be part of a circle of sets that need each other
  llvm::DenseMap<llvm::BitVector, CoverCost> cheapest; ///< covers met, by `isDominated`'s key
};

} // namespace

void CoverSolver::findSets() {
  setsAt.resize(problem.size);
  for (auto [index, set] : llvm::enumerate(problem.sets))
    setsAt[set.nodes.find_first()].push_back(index);
}

void CoverSolver::findShares() {
  for (CoverCost cost : problem.alone)
    shares.push_back(static_cast<double>(cost.primary));
  for (const CoverSet& set : problem.sets)
    for (unsigned node : set.nodes.set_bits())
      shares[node] =
          std::min(shares[node], static_cast<double>(set.cost.primary) / set.nodes.count());
  for (const CoverSet& set : problem.sets) {
    setShares.push_back(0);
    for (unsigned node : set.nodes.set_bits())
      setShares.back() += shares[node];
  }
}

void CoverSolver::findEntangled() {
  size_t count = problem.sets.size();
  std::vector<llvm::BitVector> needs = dependsOn; // closed over sets that can stand together
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (problem.sets[a].nodes.anyCommon(problem.sets[b].nodes))
        needs[a].reset(b);
  std::vector<llvm::SmallVector<unsigned, 4>> edges(count);
  for (size_t a = 0; a < count; ++a)
    edges[a].assign(needs[a].set_bits_begin(), needs[a].set_bits_end());
  llvm::BitVector left = trimLooseEnds(edges);
  for (unsigned through : left.set_bits())
    for (unsigned a : left.set_bits())
      if (needs[a].test(through))
        needs[a] |= needs[through];
  entangled.resize(count);
  for (unsigned a : left.set_bits())
    if (needs[a].test(a))
      entangled.set(a);
}

/// True where another cover of the same nodes costs no more, and what can follow is the same: the
/// chosen sets that some later set may close a circle with are the same ones.
bool CoverSolver::isDominated(const PartialCover& cover) {
  llvm::BitVector key = cover.covered;
  if (entangled.any()) {
    key.resize(problem.size + problem.sets.size());
    for (unsigned set : cover.chosen)
      if (entangled.test(set))
        key.set(problem.size + set);
  }
  auto [known, isNew] = cheapest.try_emplace(std::move(key), cover.cost);
  if (isNew)
    return false;
  if (known->second <= cover.cost)
    return true;
  known->second = cover.cost;
  return false;
}

/// True where the sets, one of which depends on another where `dependsOn` says so, have an order.
static bool hasOrder(llvm::ArrayRef<unsigned> sets, const std::vector<llvm::BitVector>& dependsOn) {
  llvm::SmallVector<unsigned> left(sets);
  while (!left.empty()) {
    size_t before = left.size();
    for (size_t i = 0; i < left.size(); ++i)
      if (llvm::none_of(left, [&](unsigned other) { return dependsOn[left[i]].test(other); }))
        left.erase(left.begin() + i--);
    if (left.size() == before)
      return false;
  }
  return true;
}

/// Sets that are in no circle have an order with whatever else is chosen.
bool CoverSolver::fits(const PartialCover& cover, unsigned set) const {
  if (problem.sets[set].nodes.anyCommon(cover.covered))
    return false;
  if (!entangled.test(set))
    return true;
  auto sets =
      llvm::filter_to_vector(cover.chosen, [&](unsigned chosen) { return entangled.test(chosen); });
  sets.push_back(set);
  return hasOrder(sets, dependsOn);
}

void CoverSolver::addSet(PartialCover& cover, unsigned set) const {
  cover.covered |= problem.sets[set].nodes;
  cover.chosen.push_back(set);
  cover.cost = cover.cost + problem.sets[set].cost;
  cover.leastRest -= setShares[set];
}

/// Undoes `addSet` of the last set.
void CoverSolver::removeSet(PartialCover& cover, unsigned set) const {
  cover.covered.reset(problem.sets[set].nodes);
  cover.chosen.pop_back();
  cover.cost = cover.cost - problem.sets[set].cost;
  cover.leastRest += setShares[set];
}

void CoverSolver::addAlone(PartialCover& cover, unsigned node) const {
  cover.covered.set(node);
  cover.cost = cover.cost + problem.alone[node];
  cover.leastRest -= shares[node];
}

void CoverSolver::removeAlone(PartialCover& cover, unsigned node) const {
  cover.covered.reset(node);
  cover.cost = cover.cost - problem.alone[node];
  cover.leastRest += shares[node];
}

void CoverSolver::branch(PartialCover& cover) {
  int node = cover.covered.find_first_unset();
  if (node < 0)
    return offer(cover);
  if (--stepsLeft < 0 || leastCost(cover) > static_cast<double>(best.cost.primary) + rounding ||
      isDominated(cover))
    return;
  for (unsigned set : setsAt[node])
    if (fits(cover, set)) {
      addSet(cover, set);
      branch(cover);
      removeSet(cover, set);
    }
  addAlone(cover, node);
  branch(cover);
  removeAlone(cover, node);
}

void CoverSolver::beam(PartialCover empty) {
  std::vector<std::vector<PartialCover>> waiting(problem.size + 1);
  waiting[0].push_back(std::move(empty));
  auto place = [&](PartialCover cover) {
    int node = cover.covered.find_first_unset();
    waiting[node < 0 ? problem.size : node].push_back(std::move(cover));
  };
  for (unsigned node = 0; node < problem.size; ++node) {
    std::vector<PartialCover> covers = std::move(waiting[node]);
    std::vector<std::tuple<double, int64_t, size_t>> ranked; // cost, then the order of arrival
    for (auto [index, cover] : llvm::enumerate(covers))
      ranked.emplace_back(leastCost(cover), cover.cost.secondary, index);
    llvm::sort(ranked);
    ranked.resize(std::min<size_t>(ranked.size(), beamWidth));
    for (auto [least, secondary, index] : ranked) {
      PartialCover& cover = covers[index];
      for (unsigned set : setsAt[node])
        if (fits(cover, set)) {
          addSet(cover, set);
          place(cover);
          removeSet(cover, set);
        }
      addAlone(cover, node);
      place(std::move(cover));
    }
  }
  for (const PartialCover& cover : waiting[problem.size])
    offer(cover);
}

std::vector<unsigned> solveCover(const CoverProblem& problem, int64_t mostSteps,
                                 unsigned beamWidth) {
  return CoverSolver(problem, mostSteps, beamWidth).solve();
}

llvm::BitVector trimLooseEnds(llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> edges) {
  size_t count = edges.size();
  std::vector<llvm::SmallVector<unsigned, 4>> back(count);
  for (size_t from = 0; from < count; ++from)
    for (unsigned to : edges[from])
      back[to].push_back(from);
  llvm::BitVector left(count, true);
  auto trim = [&](llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> links,
                  llvm::ArrayRef<llvm::SmallVector<unsigned, 4>> reversed) {
    std::vector<size_t> degrees(count);
    llvm::SmallVector<unsigned> loose;
    for (unsigned node : left.set_bits()) {
      degrees[node] = llvm::count_if(links[node], [&](unsigned other) { return left.test(other); });
      if (degrees[node] == 0)
        loose.push_back(node);
    }
    while (!loose.empty()) {
      unsigned node = loose.pop_back_val();
      left.reset(node);
      for (unsigned other : reversed[node])
        if (left.test(other) && --degrees[other] == 0)
          loose.push_back(other);
    }
  };
  trim(edges, back);
  trim(back, edges);
  return left;
}

bool isOrderable(const CoverProblem& problem, llvm::ArrayRef<unsigned> chosen) {
  return hasOrder(chosen, findDependences(problem));
}

} // namespace tenon::passes::fusion
