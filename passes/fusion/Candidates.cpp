#include "passes/fusion/Candidates.h"

#include "passes/cost/KernelWork.h"
#include "passes/fusion/FusionRule.h"
#include "passes/fusion/Legality.h"
#include "passes/fusion/Region.h"

using namespace mlir;

namespace tenon::passes::fusion {

static constexpr size_t npos = -1;

RegionPrice CandidateSet::price(llvm::ArrayRef<unsigned> nodes) {
  if (std::string refusal = refuseGroup(graph, nodes); !refusal.empty())
    return {.refusal = std::move(refusal)};
  auto ops = llvm::map_to_vector(nodes, [&](unsigned node) { return graph.getOp(node); });
  OwningOpRef<KernelOp> kernel = Region(ops).prototype();
  auto [found, isNew] = priced.try_emplace(cost::contentKey(*kernel));
  RegionPrice& price = found->second;
  if (!isNew)
    return price;
  price.refusal = refuseRegion(scheduler, *kernel);
  if (!price.refusal.empty())
    return price;
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

void CandidateSet::add(llvm::SmallVector<unsigned> nodes, llvm::ArrayRef<llvm::StringRef> rules,
                       bool isUnion) {
  llvm::sort(nodes);
  nodes.erase(llvm::unique(nodes), nodes.end());
  auto [found, isNew] = indices.try_emplace({nodes.begin(), nodes.end()}, npos);
  if (isNew) {
    RegionPrice regionPrice = price(nodes);
    if (isUnion && !regionPrice.refusal.empty())
      return;
    found->second = list.size();
    list.push_back({std::move(nodes), {}, std::move(regionPrice)});
  }
  if (found->second == npos)
    return;
  Candidate& candidate = list[found->second];
  for (llvm::StringRef rule : rules)
    if (!llvm::is_contained(candidate.rules, rule))
      candidate.rules.push_back(rule);
}

void CandidateSet::collect(llvm::ArrayRef<std::string> disabledRules) {
  for (unsigned node = 0; node < graph.size(); ++node)
    for (const FusionRule* rule : allRules()) {
      if (llvm::is_contained(disabledRules, rule->name))
        continue;
      rule->propose(graph.getOp(node), [&](llvm::ArrayRef<Operation*> ops) {
        llvm::SmallVector<unsigned> nodes;
        for (Operation* op : ops)
          nodes.push_back(*graph.indexOf(op));
        add(std::move(nodes), {rule->name}, /*isUnion=*/false);
      });
    }
  unite();
}

void CandidateSet::unite() {
  // Several times what the proposals are; a model's layers stay far below.
  size_t most = 8 * list.size();
  std::vector<std::vector<size_t>> at(graph.size()); ///< legal candidates by node
  for (size_t next = 0; next < list.size() && list.size() < most; ++next) {
    if (!list[next].isLegal())
      continue;
    std::vector<size_t> neighbours;
    for (unsigned node : list[next].nodes)
      llvm::append_range(neighbours, at[node]);
    llvm::sort(neighbours);
    neighbours.erase(llvm::unique(neighbours), neighbours.end());
    for (size_t other : neighbours) {
      llvm::SmallVector<unsigned> nodes(list[next].nodes);
      llvm::append_range(nodes, list[other].nodes);
      llvm::SmallVector<llvm::StringRef, 2> rules = list[other].rules;
      llvm::append_range(rules, list[next].rules);
      add(std::move(nodes), rules, /*isUnion=*/true);
    }
    for (unsigned node : list[next].nodes)
      at[node].push_back(next);
  }
}

} // namespace tenon::passes::fusion
