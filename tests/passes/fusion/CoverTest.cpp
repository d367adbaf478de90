#include "passes/fusion/Cover.h"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon::passes::fusion {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A problem over nodes in a row with the edges and sets given.
CoverProblem makeProblem(unsigned size, std::vector<std::pair<unsigned, unsigned>> edges,
                         std::vector<std::pair<std::vector<unsigned>, int64_t>> sets) {
  CoverProblem problem;
  problem.size = size;
  problem.alone.assign(size, {10, 1});
  std::vector<llvm::BitVector> closure(size, llvm::BitVector(size));
  for (unsigned from = size; from-- > 0;)
    for (auto [a, b] : edges)
      if (a == from) {
        closure[from].set(b);
        closure[from] |= closure[b];
      }
  problem.reaches = [closure](unsigned from, unsigned to) { return closure[from].test(to); };
  for (const auto& [nodes, cost] : sets) {
    CoverSet set{llvm::BitVector(size), {cost, 1}};
    for (unsigned node : nodes)
      set.nodes.set(node);
    problem.sets.push_back(std::move(set));
  }
  return problem;
}

/// The least cost over all subsets of the sets.
CoverCost solveByBruteForce(const CoverProblem& problem) {
  CoverCost best{std::numeric_limits<int64_t>::max(), 0};
  for (uint64_t choice = 0; choice < uint64_t{1} << problem.sets.size(); ++choice) {
    llvm::BitVector covered(problem.size);
    std::vector<unsigned> chosen;
    CoverCost cost;
    bool disjoint = true;
    for (unsigned set = 0; set < problem.sets.size(); ++set) {
      if (!(choice >> set & 1))
        continue;
      disjoint &= !covered.anyCommon(problem.sets[set].nodes);
      covered |= problem.sets[set].nodes;
      cost = cost + problem.sets[set].cost;
      chosen.push_back(set);
    }
    if (!disjoint || !isOrderable(problem, chosen))
      continue;
    for (unsigned node = 0; node < problem.size; ++node)
      if (!covered.test(node))
        cost = cost + problem.alone[node];
    best = std::min(best, cost);
  }
  return best;
}

CoverCost costOf(const CoverProblem& problem, llvm::ArrayRef<unsigned> chosen) {
  llvm::BitVector covered(problem.size);
  CoverCost cost;
  for (unsigned set : chosen) {
    EXPECT_FALSE(covered.anyCommon(problem.sets[set].nodes));
    covered |= problem.sets[set].nodes;
    cost = cost + problem.sets[set].cost;
  }
  for (unsigned node = 0; node < problem.size; ++node)
    if (!covered.test(node))
      cost = cost + problem.alone[node];
  return cost;
}

TEST(Cover, FirstOfEqualOnes) {
  CoverProblem problem = makeProblem(3, {{0, 1}, {1, 2}}, {{{0, 1}, 10}, {{1, 2}, 10}});
  EXPECT_THAT(solveCover(problem), ElementsAre(0));
}

TEST(Cover, LargeSetsMayLose) {
  CoverProblem problem = makeProblem(3, {{0, 1}, {1, 2}}, {{{0, 1, 2}, 25}, {{1, 2}, 12}});
  EXPECT_THAT(solveCover(problem), ElementsAre(1));
}

TEST(Cover, DearSetsStayOut) {
  CoverProblem problem = makeProblem(2, {{0, 1}}, {{{0, 1}, 21}});
  EXPECT_THAT(solveCover(problem), IsEmpty());
}

/// {0, 3} needs {1, 2} and the other way round.
TEST(Cover, KernelsThatNeedEachOther) {
  CoverProblem problem = makeProblem(4, {{0, 1}, {2, 3}}, {{{0, 3}, 1}, {{1, 2}, 2}});
  EXPECT_FALSE(isOrderable(problem, {0, 1}));
  EXPECT_THAT(solveCover(problem), ElementsAre(0));
}

/// 0 → 1 → 2 → 1 and 2 → 3: what lies in front of the circle and after it is taken away.
TEST(Cover, LooseEnds) {
  std::vector<llvm::SmallVector<unsigned, 4>> edges = {{1}, {2}, {1, 3}, {}};
  EXPECT_THAT(llvm::to_vector(trimLooseEnds(edges).set_bits()), ElementsAre(1, 2));
  edges[2] = {3};
  EXPECT_TRUE(trimLooseEnds(edges).none());
}

CoverProblem makeRandomProblem(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto upTo = [&](uint64_t count) { return static_cast<unsigned>(random() % count); };
  unsigned size = 3 + upTo(7);
  std::vector<std::pair<unsigned, unsigned>> edges;
  for (unsigned to = 1; to < size; ++to)
    for (unsigned from = 0; from < to; ++from)
      if (upTo(3) == 0)
        edges.emplace_back(from, to);
  std::vector<std::pair<std::vector<unsigned>, int64_t>> sets;
  for (unsigned i = 0; i < 10; ++i) {
    std::vector<unsigned> nodes;
    for (unsigned node = 0; node < size; ++node)
      if (upTo(3) == 0)
        nodes.push_back(node);
    if (nodes.size() > 1)
      sets.emplace_back(nodes, 5 + upTo(10 * nodes.size()));
  }
  return makeProblem(size, edges, sets);
}

TEST(Cover, EqualsBruteForce) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    CoverProblem problem = makeRandomProblem(seed);
    std::vector<unsigned> chosen = solveCover(problem);
    EXPECT_TRUE(isOrderable(problem, chosen)) << "seed " << seed;
    EXPECT_EQ(costOf(problem, chosen), solveByBruteForce(problem)) << "seed " << seed;
  }
}

/// Two chains side by side, in each of which any 2 to 6 neighbours make a set: of the many covers of
/// the same nodes the cheapest alone is followed, so the search ends. The best cost of a chain is the
/// least over its first kernel and the best of the rest.
TEST(Cover, LongChainsAreSolved) {
  constexpr unsigned chains = 2, length = 24, most = 6;
  std::mt19937_64 random(7);
  std::vector<std::pair<unsigned, unsigned>> edges;
  std::vector<std::pair<std::vector<unsigned>, int64_t>> sets;
  CoverCost least;
  for (unsigned chain = 0; chain < chains; ++chain) {
    std::vector<CoverCost> rest(length + 1);
    for (unsigned first = length; first-- > 0;) {
      rest[first] = CoverCost{10, 1} + rest[first + 1];
      std::vector<unsigned> nodes = {chains * first + chain};
      for (unsigned next = first + 1; next < std::min(length, first + most); ++next) {
        edges.emplace_back(nodes.back(), chains * next + chain);
        nodes.push_back(edges.back().second);
        auto cost = static_cast<int64_t>(5 * nodes.size() + random() % 20);
        sets.emplace_back(nodes, cost);
        rest[first] = std::min(rest[first], CoverCost{cost, 1} + rest[next + 1]);
      }
    }
    least = least + rest[0];
  }
  CoverProblem problem = makeProblem(chains * length, edges, sets);
  std::vector<unsigned> chosen = solveCover(problem, /*mostSteps=*/200'000, /*beamWidth=*/1);
  EXPECT_EQ(costOf(problem, chosen), least);
}

/// The beam keeps all partial covers of small problems, so it finds the best there, too.
TEST(Cover, BeamOnSmallGraphs) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    CoverProblem problem = makeRandomProblem(seed);
    std::vector<unsigned> chosen = solveCover(problem, /*mostSteps=*/0, /*beamWidth=*/10000);
    EXPECT_TRUE(isOrderable(problem, chosen)) << "seed " << seed;
    EXPECT_EQ(costOf(problem, chosen), solveByBruteForce(problem)) << "seed " << seed;
  }
}

TEST(Cover, NarrowBeamIsACover) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    CoverProblem problem = makeRandomProblem(seed);
    std::vector<unsigned> chosen = solveCover(problem, /*mostSteps=*/0, /*beamWidth=*/1);
    EXPECT_TRUE(isOrderable(problem, chosen)) << "seed " << seed;
    EXPECT_LE(costOf(problem, chosen), costOf(problem, {})) << "seed " << seed;
  }
}

} // namespace
} // namespace tenon::passes::fusion
