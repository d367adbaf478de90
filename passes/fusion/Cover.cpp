#include "passes/fusion/Cover.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace tenon::passes::fusion {

namespace {

/// Part of a cover: all nodes below the first one that is missing, and perhaps others.
struct PartialCover {
  llvm::BitVector covered;
  std::vector<unsigned> chosen;
  CoverCost cost;
};

class CoverSolver {
public:
  CoverSolver(const CoverProblem& problem, int64_t mostSteps, unsigned beamWidth)
      : problem(problem), stepsLeft(mostSteps), beamWidth(beamWidth),
        best{llvm::BitVector(problem.size, true), {}, {}} {
    for (CoverCost cost : problem.alone)
      best.cost = best.cost + cost;
    findSets();
    findShares();
    findConflicts();
    findEntangled();
  }

  std::vector<unsigned> solve() {
    PartialCover empty{llvm::BitVector(problem.size), {}, {}};
    branch(empty);
    if (stepsLeft < 0)
      beam(std::move(empty));
    llvm::sort(best.chosen);
    return best.chosen;
  }

private:
  void findSets();
  void findShares();
  void findConflicts();
  void findEntangled();
  bool isDominated(const PartialCover& cover);
  bool fits(const PartialCover& cover, unsigned set) const;
  int64_t leastRest(const PartialCover& cover) const;
  void offer(const PartialCover& cover) {
    if (cover.cost < best.cost)
      best = cover;
  }
  PartialCover with(const PartialCover& cover, unsigned set) const;
  PartialCover withAlone(const PartialCover& cover, unsigned node) const;
  void branch(const PartialCover& cover);
  void beam(PartialCover empty);

  const CoverProblem& problem;
  int64_t stepsLeft;
  unsigned beamWidth;
  PartialCover best;
  std::vector<llvm::SmallVector<unsigned, 4>> setsAt; ///< by lowest node
  std::vector<int64_t> shares;            ///< least primary cost of a node, rounded down
  std::vector<llvm::BitVector> dependsOn; ///< by set: sets that it needs results of
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
    shares.push_back(cost.primary);
  for (const CoverSet& set : problem.sets)
    for (unsigned node : set.nodes.set_bits())
      shares[node] = std::min<int64_t>(shares[node], set.cost.primary / set.nodes.count());
}

static bool reachesSet(const CoverProblem& problem, const llvm::BitVector& from,
                       const llvm::BitVector& to) {
  return llvm::any_of(from.set_bits(), [&](unsigned a) {
    return llvm::any_of(to.set_bits(), [&](unsigned b) { return problem.reaches(a, b); });
  });
}

void CoverSolver::findConflicts() {
  size_t count = problem.sets.size();
  dependsOn.assign(count, llvm::BitVector(count));
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (a != b && reachesSet(problem, problem.sets[b].nodes, problem.sets[a].nodes))
        dependsOn[a].set(b);
}

void CoverSolver::findEntangled() {
  size_t count = problem.sets.size();
  std::vector<llvm::BitVector> needs = dependsOn; // closed over sets that can stand together
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      if (problem.sets[a].nodes.anyCommon(problem.sets[b].nodes))
        needs[a].reset(b);
  for (size_t through = 0; through < count; ++through)
    for (size_t a = 0; a < count; ++a)
      if (needs[a].test(through))
        needs[a] |= needs[through];
  entangled.resize(count);
  for (size_t a = 0; a < count; ++a)
    if (needs[a].test(a))
      entangled.set(a);
}

/// True where another cover of the same nodes costs no more, and what can follow is the same: the
/// chosen sets that some later set may close a circle with are the same ones.
bool CoverSolver::isDominated(const PartialCover& cover) {
  llvm::BitVector key = cover.covered;
  key.resize(problem.size + problem.sets.size());
  for (unsigned set : cover.chosen)
    if (entangled.test(set))
      key.set(problem.size + set);
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

bool CoverSolver::fits(const PartialCover& cover, unsigned set) const {
  if (problem.sets[set].nodes.anyCommon(cover.covered))
    return false;
  llvm::SmallVector<unsigned> sets(cover.chosen.begin(), cover.chosen.end());
  sets.push_back(set);
  return hasOrder(sets, dependsOn);
}

/// A lower bound on what the nodes that are missing cost.
int64_t CoverSolver::leastRest(const PartialCover& cover) const {
  int64_t sum = 0;
  for (int node = cover.covered.find_first_unset(); node >= 0;
       node = cover.covered.find_next_unset(node))
    sum += shares[node];
  return sum;
}

PartialCover CoverSolver::with(const PartialCover& cover, unsigned set) const {
  PartialCover next = cover;
  next.covered |= problem.sets[set].nodes;
  next.chosen.push_back(set);
  next.cost = cover.cost + problem.sets[set].cost;
  return next;
}

PartialCover CoverSolver::withAlone(const PartialCover& cover, unsigned node) const {
  PartialCover next = cover;
  next.covered.set(node);
  next.cost = cover.cost + problem.alone[node];
  return next;
}

void CoverSolver::branch(const PartialCover& cover) {
  int node = cover.covered.find_first_unset();
  if (node < 0)
    return offer(cover);
  if (--stepsLeft < 0 || cover.cost.primary + leastRest(cover) > best.cost.primary ||
      isDominated(cover))
    return;
  for (unsigned set : setsAt[node])
    if (fits(cover, set))
      branch(with(cover, set));
  branch(withAlone(cover, node));
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
    std::vector<std::tuple<int64_t, int64_t, size_t>> ranked; // cost, then the order of arrival
    for (auto [index, cover] : llvm::enumerate(covers))
      ranked.emplace_back(cover.cost.primary + leastRest(cover), cover.cost.secondary, index);
    llvm::sort(ranked);
    ranked.resize(std::min<size_t>(ranked.size(), beamWidth));
    for (auto [least, secondary, index] : ranked) {
      const PartialCover& cover = covers[index];
      for (unsigned set : setsAt[node])
        if (fits(cover, set))
          place(with(cover, set));
      place(withAlone(cover, node));
    }
  }
  for (const PartialCover& cover : waiting[problem.size])
    offer(cover);
}

std::vector<unsigned> solveCover(const CoverProblem& problem, int64_t mostSteps,
                                 unsigned beamWidth) {
  return CoverSolver(problem, mostSteps, beamWidth).solve();
}

bool isOrderable(const CoverProblem& problem, llvm::ArrayRef<unsigned> chosen) {
  size_t count = problem.sets.size();
  std::vector<llvm::BitVector> dependsOn(count, llvm::BitVector(count));
  for (unsigned a : chosen)
    for (unsigned b : chosen)
      if (a != b && reachesSet(problem, problem.sets[b].nodes, problem.sets[a].nodes))
        dependsOn[a].set(b);
  return hasOrder(chosen, dependsOn);
}

} // namespace tenon::passes::fusion
