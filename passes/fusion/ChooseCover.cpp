#include "passes/fusion/ChooseCover.h"

#include "passes/fusion/Cover.h"
#include "llvm/ADT/EquivalenceClasses.h"

namespace tenon::passes::fusion {

namespace {

class CoverChooser {
public:
  CoverChooser(const FusionGraph& graph, CandidateSet& candidates, Plan plan)
      : graph(graph), candidates(candidates), plan(plan) {}

  std::vector<unsigned> choose();

private:
  /// What of the graph one cover problem is about.
  struct Part {
    llvm::SmallVector<unsigned> nodes, sets; ///< ascending: nodes, candidates
  };
  std::vector<Part> cut() const;
  CoverCost costOf(const RegionPrice& price) const;
  CoverProblem problemOf(const Part& part) const;
  std::vector<unsigned> solve(const Part& part);
  bool needEachOther(const Candidate& a, const Candidate& b) const;
  bool reaches(const Candidate& a, const Candidate& b) const;

  const FusionGraph& graph;
  CandidateSet& candidates;
  Plan plan;
  std::map<std::vector<int64_t>, std::vector<unsigned>> solved; ///< by content of the problem
};

} // namespace

CoverCost CoverChooser::costOf(const RegionPrice& price) const {
  // What no emitter computes alone is still one kernel; scheduling will say so.
  return plan == Plan::Auto ? CoverCost{price.time.ns, 1} : CoverCost{1, price.bytes};
}

bool CoverChooser::reaches(const Candidate& a, const Candidate& b) const {
  return llvm::any_of(a.nodes, [&](unsigned from) {
    return llvm::any_of(b.nodes, [&](unsigned to) { return graph.reaches(from, to); });
  });
}

bool CoverChooser::needEachOther(const Candidate& a, const Candidate& b) const {
  if (a.nodes.back() < b.nodes.front() || b.nodes.back() < a.nodes.front())
    return false;
  return reaches(a, b) && reaches(b, a);
}

std::vector<CoverChooser::Part> CoverChooser::cut() const {
  llvm::EquivalenceClasses<unsigned> classes; // of nodes
  llvm::ArrayRef<Candidate> list = candidates.candidates();
  std::vector<unsigned> legal;
  for (unsigned index = 0; index < list.size(); ++index)
    if (list[index].isLegal())
      legal.push_back(index);
  for (unsigned index : legal)
    for (unsigned node : list[index].nodes)
      classes.unionSets(list[index].nodes.front(), node);
  for (auto [position, a] : llvm::enumerate(legal))
    for (unsigned b : llvm::ArrayRef(legal).drop_front(position + 1))
      if (needEachOther(list[a], list[b]))
        classes.unionSets(list[a].nodes.front(), list[b].nodes.front());
  std::map<unsigned, Part> parts; // by leader
  for (unsigned node = 0; node < graph.size(); ++node)
    if (classes.contains(node))
      parts[classes.getLeaderValue(node)].nodes.push_back(node);
  for (unsigned index : legal)
    parts[classes.getLeaderValue(list[index].nodes.front())].sets.push_back(index);
  std::vector<Part> inOrder;
  for (auto& [leader, part] : parts)
    inOrder.push_back(std::move(part));
  llvm::sort(inOrder, [](const Part& a, const Part& b) { return a.nodes[0] < b.nodes[0]; });
  return inOrder;
}

CoverProblem CoverChooser::problemOf(const Part& part) const {
  CoverProblem problem;
  problem.size = part.nodes.size();
  for (unsigned node : part.nodes)
    problem.alone.push_back(costOf(candidates.alone(node)));
  for (unsigned index : part.sets) {
    const Candidate& candidate = candidates.candidates()[index];
    CoverSet set{llvm::BitVector(problem.size), costOf(candidate.price)};
    for (unsigned node : candidate.nodes)
      set.nodes.set(llvm::lower_bound(part.nodes, node) - part.nodes.begin());
    problem.sets.push_back(std::move(set));
  }
  problem.reaches = [&graph = graph, &nodes = part.nodes](unsigned from, unsigned to) {
    return graph.reaches(nodes[from], nodes[to]);
  };
  return problem;
}

/// The problem as numbers: equal where the solution is.
static std::vector<int64_t> contentOf(const CoverProblem& problem) {
  std::vector<int64_t> content = {problem.size};
  for (CoverCost cost : problem.alone)
    content.insert(content.end(), {cost.primary, cost.secondary});
  for (const CoverSet& set : problem.sets) {
    content.insert(content.end(), {-1, set.cost.primary, set.cost.secondary});
    content.insert(content.end(), set.nodes.set_bits_begin(), set.nodes.set_bits_end());
  }
  for (unsigned from = 0; from < problem.size; ++from)
    for (unsigned to = from + 1; to < problem.size; ++to)
      if (problem.reaches(from, to))
        content.insert(content.end(), {-2, from, to});
  return content;
}

std::vector<unsigned> CoverChooser::solve(const Part& part) {
  CoverProblem problem = problemOf(part);
  auto [found, isNew] = solved.try_emplace(contentOf(problem));
  if (isNew)
    found->second = solveCover(problem);
  std::vector<unsigned> chosen;
  for (unsigned set : found->second)
    chosen.push_back(part.sets[set]);
  return chosen;
}

std::vector<unsigned> CoverChooser::choose() {
  std::vector<unsigned> chosen;
  Part whole;
  for (const Part& part : cut()) {
    llvm::append_range(chosen, solve(part));
    llvm::append_range(whole.nodes, part.nodes);
    llvm::append_range(whole.sets, part.sets);
  }
  llvm::sort(whole.nodes);
  llvm::sort(whole.sets);
  // Kernels of three parts or more may still need each other in a circle: then the parts are one.
  auto inWhole = llvm::map_to_vector(chosen, [&](unsigned index) {
    return static_cast<unsigned>(llvm::lower_bound(whole.sets, index) - whole.sets.begin());
  });
  if (!isOrderable(problemOf(whole), inWhole))
    chosen = solve(whole);
  llvm::sort(chosen);
  return chosen;
}

std::vector<unsigned> chooseCover(const FusionGraph& graph, CandidateSet& candidates, Plan plan) {
  return CoverChooser(graph, candidates, plan).choose();
}

} // namespace tenon::passes::fusion
