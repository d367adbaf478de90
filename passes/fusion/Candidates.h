#ifndef TENON_PASSES_FUSION_CANDIDATES_H
#define TENON_PASSES_FUSION_CANDIDATES_H

#include <map>

#include "passes/fusion/Fusion.h"
#include "passes/fusion/FusionGraph.h"
#include "passes/fusion/FusionRule.h"
#include "passes/schedule/Scheduler.h"

namespace tenon::passes::fusion {

/// What a kernel would take, as `schedule::Scheduler::best` computes it.
struct RegionPrice {
  std::string refusal = {};   ///< why there is no such kernel; the rest is then not set
  std::string content = {};   ///< `cost::contentKey` of the region, not scheduled
  std::string noLibrary = {}; ///< as in `FusionDecision`
  cost::Estimate time = {};
  int64_t bytes = 0; ///< read and written
  int64_t flops = 0; ///< repeated ones included
};

/// A group of operations that might become a kernel.
struct Candidate {
  llvm::SmallVector<unsigned> nodes; ///< ascending
  llvm::SmallVector<llvm::StringRef, 2> rules;
  RegionPrice price = {};

  bool isLegal() const { return price.refusal.empty(); }
  std::string ruleNames() const { return llvm::join(rules, "+"); }
};

/// The groups of a function that rules propose, and what they and single operations cost. Equal
/// regions, the layers of a model, are priced once.
class CandidateSet {
public:
  CandidateSet(const FusionGraph& graph, const schedule::Scheduler& scheduler,
               const cost::CostModel& model)
      : graph(graph), scheduler(scheduler), model(model) {}

  /// Asks every rule but the disabled ones, those that fill gaps last; then unites legal candidates
  /// that share operations, as long as the union is legal: a chain that no one rule names is found
  /// so. A union takes the whole tail of pointwise operations after each of its GEMMs where a
  /// candidate has it and it stays legal: to store a GEMM for another kernel's bias or
  /// activation never pays, and the ways to cut several tails short multiply. Deterministic.
  ///
  /// The time is linear in the operations: unions end when candidates or trials are a fixed number
  /// of times the proposals.
  void collect(llvm::ArrayRef<std::string> disabledRules);

  llvm::ArrayRef<Candidate> candidates() const { return list; }
  /// Those without the rules that fill gaps, the first of `candidates`.
  llvm::ArrayRef<Candidate> ofRules() const { return candidates().take_front(ruleCandidates); }
  /// What a kernel of the nodes, ascending, would take.
  RegionPrice price(llvm::ArrayRef<unsigned> nodes);
  /// The price of one operation in a kernel of its own.
  const RegionPrice& alone(unsigned node);

private:
  void proposeBy(const FusionRule& rule, unsigned node);
  bool isHeld(llvm::ArrayRef<unsigned> nodes) const;
  bool add(llvm::SmallVector<unsigned> nodes, llvm::ArrayRef<llvm::StringRef> rules, bool isUnion);
  /// Unites candidates from `first` on with each other and with those before.
  void unite(size_t first);
  void findTails();
  void addUnion(const Candidate& a, const Candidate& b);

  const FusionGraph& graph;
  const schedule::Scheduler& scheduler;
  const cost::CostModel& model;
  std::vector<Candidate> list;
  size_t ruleCandidates = 0;
  std::map<std::vector<unsigned>, size_t>
      indices; ///< of those in `list` and, as `npos`, of refused unions
  std::vector<std::vector<size_t>> holders; ///< by node: the candidates of rules that hold it
  llvm::DenseMap<unsigned, size_t> tails;   ///< by GEMM: the candidate of it and its whole tail
  std::map<unsigned, RegionPrice> singles;
  std::map<std::vector<const void*>, RegionPrice> priced; ///< by content of the region
};

} // namespace tenon::passes::fusion

#endif // TENON_PASSES_FUSION_CANDIDATES_H
