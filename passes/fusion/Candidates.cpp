#include "passes/fusion/Candidates.h"

#include "passes/cost/KernelWork.h"
#include "passes/fusion/Legality.h"
#include "passes/fusion/Region.h"

using namespace mlir;

namespace tenon::passes::fusion {

static constexpr size_t npos = -1;

RegionPrice CandidateSet::price(llvm::ArrayRef<unsigned> nodes) {
  if (Verdict verdict = acceptsGroup(graph, nodes); !verdict)
    return {.refusal = verdict.reason()};
  auto ops = llvm::map_to_vector(nodes, [&](unsigned node) { return graph.getOp(node); });
  Region region(ops);
  auto [found, isNew] = priced.try_emplace(region.content());
  RegionPrice& price = found->second;
  if (!isNew)
    return price;
  OwningOpRef<KernelOp> kernel = region.prototype();
  price.content = cost::contentKey(*kernel);
  if (Verdict verdict = acceptsRegion(scheduler, *kernel); !verdict) {
    price.refusal = verdict.reason();
    return price;
  }
  if (Verdict verdict = scheduler.suitsLibrary(*kernel); !verdict)
    price.noLibrary = verdict.reason();
  kernel->setScheduleAttr(scheduler.best(*kernel));
  price.time = model.estimate(*kernel);
  cost::KernelWork work = cost::sumWork(*kernel);
  price.bytes = work.weightBytes + work.readBytes + work.writtenBytes;
  price.flops = work.flops + (kernel->getScheduleAttr().getTiles() - 1) * work.repeatedFlops;
  return price;
}

const RegionPrice& CandidateSet::alone(unsigned node) {
  auto [found, isNew] = singles.try_emplace(node);
  if (isNew)
    found->second = price({node});
  return found->second;
}

/// Returns whether there is such a candidate now.
bool CandidateSet::add(llvm::SmallVector<unsigned> nodes, llvm::ArrayRef<llvm::StringRef> rules,
                       bool isUnion) {
  llvm::sort(nodes);
  nodes.erase(llvm::unique(nodes), nodes.end());
  if (isUnion && nodes.size() > mostKernelOperations)
    return false;
  auto [found, isNew] = indices.try_emplace({nodes.begin(), nodes.end()}, npos);
  if (isNew) {
    RegionPrice regionPrice = price(nodes);
    if (isUnion && !regionPrice.refusal.empty())
      return false;
    found->second = list.size();
    list.push_back({std::move(nodes), {}, std::move(regionPrice)});
  }
  if (found->second == npos)
    return false;
  Candidate& candidate = list[found->second];
  for (llvm::StringRef rule : rules)
    if (!llvm::is_contained(candidate.rules, rule))
      candidate.rules.push_back(rule);
  return true;
}

/// True where one of the candidates holds all of `nodes`.
bool CandidateSet::isHeld(llvm::ArrayRef<unsigned> nodes) const {
  return llvm::any_of(holders[nodes.front()], [&](size_t candidate) {
    return llvm::all_of(
        nodes, [&](unsigned node) { return llvm::is_contained(list[candidate].nodes, node); });
  });
}

void CandidateSet::proposeBy(const FusionRule& rule, unsigned node) {
  rule.propose(graph.getOp(node), [&](llvm::ArrayRef<Operation*> ops) {
    llvm::SmallVector<unsigned> nodes;
    for (Operation* op : ops)
      nodes.push_back(*graph.indexOf(op));
    if (!rule.fillsGaps || !isHeld(nodes))
      add(std::move(nodes), {rule.name}, /*isUnion=*/rule.fillsGaps);
  });
}

void CandidateSet::collect(llvm::ArrayRef<std::string> disabledRules) {
  for (bool fillsGaps : {false, true}) {
    ruleCandidates = list.size();
    for (unsigned node = 0; node < graph.size(); ++node)
      for (const FusionRule* rule : allRules())
        if (rule->fillsGaps == fillsGaps && !llvm::is_contained(disabledRules, rule->name))
          proposeBy(*rule, node);
    unite(ruleCandidates);
    holders.assign(graph.size(), {});
    for (auto [index, candidate] : llvm::enumerate(list))
      for (unsigned node : candidate.nodes)
        holders[node].push_back(index);
  }
}

void CandidateSet::findTails() {
  for (auto [index, candidate] : llvm::enumerate(list)) {
    Operation* gemm = graph.getOp(candidate.nodes.front());
    if (!candidate.isLegal() || !llvm::isa<MatmulOp>(gemm))
      continue;
    llvm::SmallVector<Operation*> tail = pointwiseTail(gemm);
    auto rest = llvm::ArrayRef(candidate.nodes).drop_front();
    if (rest.size() == tail.size() && llvm::equal(rest, tail, [&](unsigned node, Operation* op) {
          return graph.getOp(node) == op;
        }))
      tails[candidate.nodes.front()] = index;
  }
}

static void append(const Candidate& candidate, llvm::SmallVectorImpl<unsigned>& nodes,
                   llvm::SmallVectorImpl<llvm::StringRef>& rules) {
  llvm::append_range(nodes, candidate.nodes);
  llvm::append_range(rules, candidate.rules);
}

void CandidateSet::addUnion(const Candidate& a, const Candidate& b) {
  llvm::SmallVector<unsigned> nodes;
  llvm::SmallVector<llvm::StringRef, 2> rules;
  append(a, nodes, rules);
  append(b, nodes, rules);
  llvm::SmallVector<unsigned> whole(nodes);
  llvm::SmallVector<llvm::StringRef, 2> wholeRules(rules);
  for (unsigned node : nodes)
    if (auto tail = tails.find(node); tail != tails.end())
      append(list[tail->second], whole, wholeRules);
  if (!add(std::move(whole), wholeRules, /*isUnion=*/true))
    add(std::move(nodes), rules, /*isUnion=*/true);
}

void CandidateSet::unite(size_t first) {
  findTails();
  // Layers of models need at most 1.6 and 17 times the proposals (llama, pythia, all targets).
  size_t most = first + 4 * (list.size() - first), trials = 32 * (list.size() - first);
  std::vector<std::vector<size_t>> at(graph.size()); ///< legal candidates by node
  for (size_t next = 0; next < list.size() && list.size() < most; ++next) {
    if (!list[next].isLegal())
      continue;
    std::vector<size_t> neighbours;
    for (unsigned node : list[next].nodes)
      llvm::append_range(neighbours, at[node]);
    llvm::sort(neighbours);
    neighbours.erase(llvm::unique(neighbours), neighbours.end());
    if (next >= first && neighbours.size() > trials)
      return;
    if (next >= first) {
      trials -= neighbours.size();
      for (size_t other : neighbours)
        addUnion(list[other], list[next]);
    }
    for (unsigned node : list[next].nodes)
      at[node].push_back(next);
  }
}

} // namespace tenon::passes::fusion
