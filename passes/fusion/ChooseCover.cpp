#include "passes/fusion/ChooseCover.h"

#include <numeric>

#include "passes/fusion/Cover.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SetVector.h"

namespace tenon::passes::fusion {

namespace {

/// Operations and candidates of one cover problem. Parts of models have up to 17 and
/// 129 (llama, pythia, all targets).
constexpr size_t mostPartNodes = 256;
constexpr size_t mostPartSets = 1024;

class CoverChooser {
public:
  /// Chooses among the candidates of `list`, the first ones of `candidates`.
  CoverChooser(const FusionGraph& graph, CandidateSet& candidates, llvm::ArrayRef<Candidate> list,
               Plan plan)
      : graph(graph), candidates(candidates), list(list), plan(plan) {}

  std::vector<unsigned> choose();
  /// Of two covers the better one wherever they differ: the operations that kernels of either tie
  /// together.
  std::vector<unsigned> merge(llvm::ArrayRef<unsigned> simple, llvm::ArrayRef<unsigned> full);

private:
  /// What of the graph one cover problem is about.
  struct Part {
    llvm::SmallVector<unsigned> nodes, sets; ///< ascending: nodes, candidates
  };
  std::vector<Part> cut() const;
  void joinWhatNeedsEachOther(llvm::IntEqClasses& classes) const;
  void split(Part part, std::vector<Part>& pieces) const;
  CoverCost costOf(const RegionPrice& price) const;
  bool isWorthIt(CoverCost without, CoverCost with) const;
  CoverProblem problemOf(const Part& part) const;
  std::vector<unsigned> solve(const Part& part);
  bool needEachOther(const Candidate& a, const Candidate& b) const;
  bool reaches(const Candidate& a, const Candidate& b) const;
  const Candidate& candidate(unsigned index) const { return list[index]; }
  std::vector<llvm::SmallVector<unsigned>> findCircles(llvm::ArrayRef<unsigned> kernels) const;
  void breakCircle(llvm::ArrayRef<unsigned> circle);

  const FusionGraph& graph;
  CandidateSet& candidates;
  llvm::ArrayRef<Candidate> list;
  Plan plan;
  std::vector<Part> parts;
  std::vector<std::vector<unsigned>> chosen;                    ///< by part
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

/// Joins classes of which one has a candidate that needs results of a candidate of the other, which
/// needs results of the first.
void CoverChooser::joinWhatNeedsEachOther(llvm::IntEqClasses& classes) const {
  /// A class as it was: its legal candidates by first node, and what they reach together.
  struct Group {
    std::vector<unsigned> members;
    llvm::BitVector nodes, after;
    unsigned last = 0, longest = 0;
  };
  std::map<unsigned, Group> groups; // by leader, the first node
  llvm::SmallVector<unsigned> legal;
  for (unsigned index = 0; index < list.size(); ++index)
    if (candidate(index).isLegal())
      legal.push_back(index);
  llvm::sort(legal, [&](unsigned a, unsigned b) {
    return std::pair(candidate(a).nodes.front(), a) < std::pair(candidate(b).nodes.front(), b);
  });
  for (unsigned index : legal) {
    llvm::ArrayRef<unsigned> nodes = candidate(index).nodes;
    Group& group = groups[classes.findLeader(nodes.front())];
    group.members.push_back(index);
    group.nodes.resize(graph.size());
    group.after.resize(graph.size());
    group.last = std::max(group.last, nodes.back());
    group.longest = std::max(group.longest, nodes.back() - nodes.front());
    for (unsigned node : nodes)
      if (!group.nodes.test(node)) {
        group.nodes.set(node);
        group.after |= graph.after(node);
      }
  }
  auto haveSuch = [&](const Group& a, const Group& b) {
    return llvm::any_of(a.members, [&](unsigned of) {
      llvm::ArrayRef<unsigned> nodes = candidate(of).nodes;
      unsigned least = nodes.front() - std::min(nodes.front(), b.longest);
      auto other = llvm::lower_bound(b.members, least, [&](unsigned index, unsigned node) {
        return candidate(index).nodes.front() < node;
      });
      for (; other != b.members.end() && candidate(*other).nodes.front() < nodes.back(); ++other)
        if (needEachOther(candidate(of), candidate(*other)))
          return true;
      return false;
    });
  };
  for (auto a = groups.begin(); a != groups.end(); ++a)
    for (auto b = std::next(a); b != groups.end() && b->first < a->second.last; ++b)
      if (classes.findLeader(a->first) != classes.findLeader(b->first) &&
          a->second.after.anyCommon(b->second.nodes) &&
          b->second.after.anyCommon(a->second.nodes) && haveSuch(a->second, b->second))
        classes.join(a->first, b->first);
}

/// Cuts a part that is too large. A piece has at least half of `mostPartNodes` operations, and ends
/// where the candidates that reach across would save the fewest kernels: of those with one first
/// operation at most one becomes a kernel.
void CoverChooser::split(Part part, std::vector<Part>& pieces) const {
  auto placeOf = [&](unsigned node) {
    return static_cast<size_t>(llvm::lower_bound(part.nodes, node) - part.nodes.begin());
  };
  std::vector<llvm::SmallVector<unsigned, 4>> setsAt(part.nodes.size()); // by first operation
  for (unsigned set : part.sets)
    setsAt[placeOf(candidate(set).nodes.front())].push_back(set);
  auto findEnd = [&](size_t first) {
    std::vector<size_t> lost(mostPartNodes + 1); // by operations of the piece
    for (size_t front = 0; front < mostPartNodes; ++front) {
      std::vector<size_t> most(mostPartNodes + 1);
      for (unsigned set : setsAt[first + front])
        for (size_t count = front + 1;
             count <= std::min(placeOf(candidate(set).nodes.back()) - first, mostPartNodes);
             ++count)
          most[count] = std::max(most[count], candidate(set).nodes.size() - 1);
      for (size_t count = 0; count <= mostPartNodes; ++count)
        lost[count] += most[count];
    }
    size_t best = mostPartNodes;
    for (size_t count = best; count-- > mostPartNodes / 2;)
      if (lost[count] < lost[best])
        best = count;
    return first + best;
  };
  llvm::SmallVector<size_t> ends;
  for (size_t first = 0; first < part.nodes.size(); first = ends.back())
    ends.push_back(part.nodes.size() - first > mostPartNodes ? findEnd(first) : part.nodes.size());
  size_t before = pieces.size();
  for (size_t first = 0; size_t end : ends) {
    pieces.emplace_back();
    pieces.back().nodes.assign(part.nodes.begin() + first, part.nodes.begin() + end);
    first = end;
  }
  for (unsigned set : part.sets) {
    auto pieceOf = [&](unsigned node) {
      return before + (llvm::upper_bound(ends, placeOf(node)) - ends.begin());
    };
    size_t piece = pieceOf(candidate(set).nodes.front());
    if (piece == pieceOf(candidate(set).nodes.back()) && pieces[piece].sets.size() < mostPartSets)
      pieces[piece].sets.push_back(set);
  }
}

std::vector<CoverChooser::Part> CoverChooser::cut() const {
  llvm::IntEqClasses classes(graph.size());
  llvm::BitVector isPart(graph.size());
  for (const Candidate& candidate : list)
    if (candidate.isLegal())
      for (unsigned node : candidate.nodes) {
        classes.join(candidate.nodes.front(), node);
        isPart.set(node);
      }
  joinWhatNeedsEachOther(classes);
  std::map<unsigned, Part> parts; // by leader, the first node
  for (unsigned node : isPart.set_bits())
    parts[classes.findLeader(node)].nodes.push_back(node);
  for (unsigned index = 0; index < list.size(); ++index)
    if (candidate(index).isLegal())
      parts[classes.findLeader(candidate(index).nodes.front())].sets.push_back(index);
  std::vector<Part> inOrder;
  for (auto& [leader, part] : parts)
    split(std::move(part), inOrder);
  return inOrder;
}

CoverProblem CoverChooser::problemOf(const Part& part) const {
  CoverProblem problem;
  problem.size = part.nodes.size();
  for (unsigned node : part.nodes)
    problem.alone.push_back(costOf(candidates.alone(node)));
  for (unsigned index : part.sets) {
    const Candidate& candidate = list[index];
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

/// The chosen candidates that need each other in a circle, those of one circle together: kernels of
/// three parts or more may, though no two do.
std::vector<llvm::SmallVector<unsigned>>
CoverChooser::findCircles(llvm::ArrayRef<unsigned> kernels) const {
  // Kernels are named by their first node.
  std::vector<unsigned> kernelOf(graph.size());
  std::iota(kernelOf.begin(), kernelOf.end(), 0);
  for (unsigned index : kernels)
    for (unsigned node : candidate(index).nodes)
      kernelOf[node] = candidate(index).nodes.front();
  std::vector<llvm::SmallVector<unsigned, 4>> readers(graph.size());
  for (unsigned node = 0; node < graph.size(); ++node)
    for (unsigned next : graph.next(node))
      if (kernelOf[node] != kernelOf[next])
        readers[kernelOf[node]].push_back(kernelOf[next]);
  llvm::BitVector left = trimLooseEnds(readers);
  llvm::IntEqClasses circles(graph.size());
  for (unsigned kernel : left.set_bits())
    for (unsigned reader : readers[kernel])
      if (left.test(reader))
        circles.join(kernel, reader);
  std::map<unsigned, llvm::SmallVector<unsigned>> found; // by leader
  for (unsigned index : kernels)
    if (unsigned kernel = candidate(index).nodes.front(); left.test(kernel))
      found[circles.findLeader(kernel)].push_back(index);
  std::vector<llvm::SmallVector<unsigned>> result;
  for (auto& [leader, circle] : found)
    result.push_back(std::move(circle));
  return result;
}

/// Solves the parts of a circle again, as one, unless that would be too large: then one kernel of
/// it is given up.
void CoverChooser::breakCircle(llvm::ArrayRef<unsigned> circle) {
  Part joined;
  llvm::SmallSetVector<size_t, 4> places;
  for (unsigned set : circle)
    places.insert(
        llvm::find_if(parts, [&](const Part& p) { return llvm::binary_search(p.sets, set); }) -
        parts.begin());
  for (size_t place : places) {
    llvm::append_range(joined.nodes, parts[place].nodes);
    llvm::append_range(joined.sets, parts[place].sets);
  }
  if (places.size() == 1 || joined.nodes.size() > mostPartNodes ||
      joined.sets.size() > mostPartSets) {
    for (std::vector<unsigned>& ofPart : chosen)
      llvm::erase(ofPart, circle.back());
    return;
  }
  llvm::sort(joined.nodes);
  llvm::sort(joined.sets);
  for (size_t place : places)
    parts[place] = {}, chosen[place] = {};
  chosen[places.front()] = solve(joined);
  parts[places.front()] = std::move(joined);
}

std::vector<unsigned> CoverChooser::choose() {
  parts = cut();
  for (const Part& part : parts)
    chosen.push_back(solve(part));
  while (true) {
    std::vector<unsigned> all;
    for (const std::vector<unsigned>& ofPart : chosen)
      llvm::append_range(all, ofPart);
    llvm::sort(all);
    std::vector<llvm::SmallVector<unsigned>> circles = findCircles(all);
    if (circles.empty())
      return all;
    for (llvm::ArrayRef<unsigned> circle : circles)
      breakCircle(circle);
  }
}

/// Whether a piece is better with rules that fill gaps. The kernels of the other rules have been
/// measured; of what the model says of others half its median error must be left.
bool CoverChooser::isWorthIt(CoverCost without, CoverCost with) const {
  constexpr int64_t leastPercent = 5;
  return plan == Plan::Auto ? 100 * with.primary < (100 - leastPercent) * without.primary
                            : with < without;
}

std::vector<unsigned> CoverChooser::merge(llvm::ArrayRef<unsigned> simple,
                                          llvm::ArrayRef<unsigned> full) {
  llvm::IntEqClasses classes(graph.size());
  for (llvm::ArrayRef<unsigned> cover : {simple, full})
    for (unsigned index : cover)
      for (unsigned node : candidate(index).nodes)
        classes.join(candidate(index).nodes.front(), node);
  /// A cover of the operations that are tied together.
  struct Piece {
    std::vector<unsigned> kernels;
    CoverCost cost = {};
  };
  auto piecesOf = [&](llvm::ArrayRef<unsigned> cover) {
    std::map<unsigned, Piece> pieces; // by leader
    llvm::BitVector isCovered(graph.size());
    auto add = [&](unsigned node, CoverCost cost) {
      CoverCost& sum = pieces[classes.findLeader(node)].cost;
      sum = sum + cost;
    };
    for (unsigned index : cover) {
      const Candidate& kernel = candidate(index);
      add(kernel.nodes.front(), costOf(kernel.price));
      pieces[classes.findLeader(kernel.nodes.front())].kernels.push_back(index);
      for (unsigned node : kernel.nodes)
        isCovered.set(node);
    }
    for (unsigned node = 0; node < graph.size(); ++node)
      if (!isCovered.test(node))
        add(node, costOf(candidates.alone(node)));
    return pieces;
  };
  std::map<unsigned, Piece> simplePieces = piecesOf(simple), fullPieces = piecesOf(full);
  std::vector<unsigned> chosen;
  for (auto& [leader, piece] : simplePieces) {
    const Piece& other = fullPieces[leader];
    llvm::append_range(chosen, isWorthIt(piece.cost, other.cost) ? other.kernels : piece.kernels);
  }
  llvm::sort(chosen);
  // Pieces of different covers may need each other in a circle.
  return findCircles(chosen).empty() ? chosen : std::vector<unsigned>(simple);
}

std::vector<unsigned> chooseCover(const FusionGraph& graph, CandidateSet& candidates, Plan plan) {
  std::vector<unsigned> simple =
      CoverChooser(graph, candidates, candidates.ofRules(), plan).choose();
  llvm::ArrayRef<Candidate> all = candidates.candidates();
  if (all.size() == candidates.ofRules().size())
    return simple;
  CoverChooser chooser(graph, candidates, all, plan);
  return chooser.merge(simple, chooser.choose());
}

} // namespace tenon::passes::fusion
