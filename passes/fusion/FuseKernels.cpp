#include "passes/fusion/FuseKernels.h"

#include "absl/strings/str_format.h"
#include "ir/Views.h"
#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/fusion/BlockOrder.h"
#include "passes/fusion/ChooseCover.h"
#include "passes/fusion/Region.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_FUSEKERNELSPASS
#include "passes/Passes.h.inc"

using namespace fusion;

namespace {

/// Puts a copy, in a kernel, after every returned value that no computation of this function
/// produces or that is returned more than once.
void copySharedOutputs(func::FuncOp function, OpBuilder& builder) {
  Operation* terminator = function.getBody().front().getTerminator();
  llvm::SmallPtrSet<Value, 8> taken;
  for (OpOperand& output : terminator->getOpOperands()) {
    Value source = getViewSource(output.get());
    Operation* producer = source.getDefiningOp();
    bool computed = producer && llvm::isa<ComputeOpInterface, KernelOp>(producer);
    if (computed && taken.insert(source).second)
      continue;
    auto type = llvm::cast<RankedTensorType>(output.get().getType());
    builder.setInsertionPoint(terminator);
    auto kernel = KernelOp::create(builder, terminator->getLoc(), type, output.get());
    output.set(kernel.getResult(0));
    builder.setInsertionPointToEnd(&kernel.getBlock());
    auto copy =
        ReshapeOp::create(builder, terminator->getLoc(), type, kernel.getBlock().getArgument(0),
                          builder.getDenseI64ArrayAttr(type.getShape()));
    YieldOp::create(builder, terminator->getLoc(), copy.getResult());
  }
}

/// The candidates that become kernels.
struct TakenKernels {
  static constexpr size_t none = -1;

  /// The first `most` of `chosen`, all where it is negative.
  TakenKernels(std::vector<unsigned> chosen, int64_t most, const CandidateSet& candidates,
               size_t nodes)
      : order(std::move(chosen)), placeOf(nodes, none) {
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return candidates.candidates()[a].nodes < candidates.candidates()[b].nodes;
    });
    if (most >= 0 && order.size() > static_cast<size_t>(most))
      order.resize(most);
    for (auto [place, index] : llvm::enumerate(order))
      for (unsigned node : candidates.candidates()[index].nodes)
        placeOf[node] = place;
  }

  bool contains(unsigned index, const Candidate& candidate) const {
    size_t place = placeOf[candidate.nodes.front()];
    return place != none && order[place] == index;
  }

  std::vector<unsigned> order; ///< by nodes
  std::vector<size_t> placeOf; ///< by node: the place in `order` of the kernel that computes it
};

/// Makes the kernels of one function.
class FunctionFuser {
public:
  FunctionFuser(func::FuncOp function, const FusionOptions& options)
      : function(function), options(options), graph(function) {}

  /// One kernel an operation.
  void wrapAll() { wrap({}, nullptr); }
  /// What the plan asks for, and a decision for every candidate.
  void fuse(const schedule::Scheduler& scheduler, const cost::CostModel& model);

private:
  void wrap(llvm::ArrayRef<unsigned> taken, const CandidateSet* candidates);
  FusionDecision describe(const Candidate& candidate, CandidateSet& candidates);
  std::string reasonFor(const Candidate& candidate, const FusionDecision& decision,
                        const TakenKernels& taken, bool isChosen,
                        const CandidateSet& candidates) const;
  void report(const FusionDecision& decision, Location location);
  FunctionFusion summarize(const TakenKernels& taken, llvm::ArrayRef<FusionDecision> decisions,
                           CandidateSet& candidates, int64_t beyondKernelsNs);
  FusionDecision describeNeighbours(unsigned from, unsigned to,
                                    llvm::ArrayRef<FusionDecision> decisions,
                                    llvm::ArrayRef<std::vector<unsigned>> candidatesAt,
                                    CandidateSet& candidates);

  func::FuncOp function;
  const FusionOptions& options;
  FusionGraph graph;
};

} // namespace

/// Regions in the order of their last operations; the sort after them mends what stands wrong.
void FunctionFuser::wrap(llvm::ArrayRef<unsigned> taken, const CandidateSet* candidates) {
  std::map<unsigned, llvm::SmallVector<Operation*>> groups; // by last node
  llvm::BitVector grouped(graph.size());
  for (unsigned index : taken) {
    const Candidate& candidate = candidates->candidates()[index];
    for (unsigned node : candidate.nodes) {
      groups[candidate.nodes.back()].push_back(graph.getOp(node));
      grouped.set(node);
    }
  }
  for (unsigned node = 0; node < graph.size(); ++node)
    if (!grouped.test(node))
      groups[node] = {graph.getOp(node)};
  OpBuilder builder(function.getContext());
  for (auto& [last, ops] : groups) {
    builder.setInsertionPoint(ops.back());
    Region(ops).replace(builder);
  }
  sortBlock(function.getBody().front());
}

static std::string describeOp(Operation* op) {
  std::string text = op->getName().stripDialect().str();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    text += " " + name.getName().str();
  return text;
}

FusionDecision FunctionFuser::describe(const Candidate& candidate, CandidateSet& candidates) {
  FusionDecision decision;
  decision.function = function.getName().str();
  decision.rule = candidate.ruleNames();
  decision.legal = candidate.isLegal();
  decision.content = candidate.price.content;
  decision.noLibrary = candidate.price.noLibrary;
  decision.fused = candidate.price.time;
  int64_t bytes = 0, flops = 0, largest = -1;
  for (unsigned node : candidate.nodes) {
    decision.ops.push_back(describeOp(graph.getOp(node)));
    const RegionPrice& price = candidates.alone(node);
    decision.unfused.ns += price.time.ns;
    decision.unfused.launchNs += price.time.launchNs;
    decision.unfused.memoryNs += price.time.memoryNs;
    decision.unfused.computeNs += price.time.computeNs;
    decision.unfused.latencyNs += price.time.latencyNs;
    if (price.time.ns > largest) {
      largest = price.time.ns;
      decision.unfused.limiter = price.time.limiter;
    }
    bytes += price.bytes, flops += price.flops;
  }
  decision.mostSavedNs = decision.unfused.ns - largest;
  Operation* last = graph.getOp(candidate.nodes.back());
  decision.shape = detail::formatType(last->getResult(0).getType());
  if (decision.legal) {
    decision.bytesSaved = bytes - candidate.price.bytes;
    decision.flopsSaved = flops - candidate.price.flops;
  }
  return decision;
}

/// Why a candidate is or is not a kernel.
std::string FunctionFuser::reasonFor(const Candidate& candidate, const FusionDecision& decision,
                                     const TakenKernels& taken, bool isChosen,
                                     const CandidateSet& candidates) const {
  if (!decision.legal)
    return candidate.price.refusal;
  int64_t gain = decision.unfused.ns - decision.fused.ns;
  if (decision.taken)
    return options.plan == Plan::Auto ? absl::StrFormat("saves %d ns", gain)
                                      : "part of the cover with fewest kernels";
  if (isChosen)
    return absl::StrFormat("fuel: only the first %d fusions of a function are made",
                           options.maxFusions);
  if (options.plan == Plan::Auto && gain <= 0)
    return absl::StrFormat("takes %d ns longer than its operations one by one", -gain);
  // The first of the kernels taken that share an operation with the candidate.
  auto shared = llvm::min_element(
      candidate.nodes, [&](unsigned a, unsigned b) { return taken.placeOf[a] < taken.placeOf[b]; });
  if (size_t place = taken.placeOf[*shared]; place != TakenKernels::none)
    return describeOp(graph.getOp(*shared)) + " is part of " +
           candidates.candidates()[taken.order[place]].ruleNames() + ", which does better";
  return "not part of the best cover";
}

void FunctionFuser::report(const FusionDecision& decision, Location location) {
  if (options.report)
    options.report->push_back(decision);
  auto opts =
      remark::RemarkOpts::name(decision.rule).category("fusion").function(decision.function);
  auto describe = [&](remark::detail::InFlightRemark remark) {
    remark << remark::detail::Remark::Arg("ops", llvm::join(decision.ops, ", "))
           << remark::detail::Remark::Arg("shape", decision.shape)
           << remark::detail::Remark::Arg("reason", decision.reason);
    if (decision.legal)
      remark << remark::detail::Remark::Arg("fused_ns", decision.fused.ns)
             << remark::detail::Remark::Arg("unfused_ns", decision.unfused.ns)
             << remark::detail::Remark::Arg("limiter", cost::nameOf(decision.fused.limiter));
  };
  if (decision.taken)
    describe(remark::passed(location, opts));
  else if (decision.legal)
    describe(remark::missed(location, opts));
  else
    describe(remark::failed(location, opts));
}

/// The decision about the smallest candidate that holds both, else about a kernel of the two alone.
FusionDecision FunctionFuser::describeNeighbours(unsigned from, unsigned to,
                                                 llvm::ArrayRef<FusionDecision> decisions,
                                                 llvm::ArrayRef<std::vector<unsigned>> candidatesAt,
                                                 CandidateSet& candidates) {
  const FusionDecision* smallest = nullptr;
  for (unsigned index : candidatesAt[from])
    if (llvm::is_contained(candidatesAt[to], index) &&
        (!smallest || decisions[index].ops.size() < smallest->ops.size()))
      smallest = &decisions[index];
  FusionDecision decision;
  if (smallest) {
    decision = *smallest;
    decision.ops = {describeOp(graph.getOp(from)), describeOp(graph.getOp(to))};
    return decision;
  }
  Candidate pair{
      .nodes = {from, to}, .rules = {"neighbours"}, .price = candidates.price({from, to})};
  decision = describe(pair, candidates);
  int64_t gain = decision.unfused.ns - decision.fused.ns;
  decision.reason = !decision.legal ? pair.price.refusal
                    : gain <= 0
                        ? absl::StrFormat("takes %d ns longer than its operations one by "
                                          "one, and no rule proposes it",
                                          -gain)
                        : absl::StrFormat("would save %d ns, but no rule proposes it", gain);
  return decision;
}

FunctionFusion FunctionFuser::summarize(const TakenKernels& taken,
                                        llvm::ArrayRef<FusionDecision> decisions,
                                        CandidateSet& candidates, int64_t beyondKernelsNs) {
  FunctionFusion summary;
  summary.function = function.getName().str();
  summary.apartNs = summary.plannedNs = beyondKernelsNs;
  for (unsigned index : taken.order)
    summary.plannedNs += candidates.candidates()[index].price.time.ns;
  std::vector<std::vector<unsigned>> candidatesAt(graph.size());
  for (auto [index, candidate] : llvm::enumerate(candidates.candidates()))
    for (unsigned node : candidate.nodes)
      candidatesAt[node].push_back(index);
  for (unsigned node = 0; node < graph.size(); ++node) {
    int64_t ns = candidates.alone(node).time.ns;
    summary.apartNs += ns;
    size_t place = taken.placeOf[node];
    summary.plannedNs += place == TakenKernels::none ? ns : 0;
    llvm::SmallSetVector<Operation*, 4> readers;
    for (Value result : graph.getOp(node)->getResults())
      for (Operation* user : usersOf(result))
        readers.insert(user);
    for (Operation* reader : readers)
      if (auto next = graph.indexOf(reader);
          next && (place == TakenKernels::none || taken.placeOf[*next] != place))
        summary.neighbours.push_back(
            describeNeighbours(node, *next, decisions, candidatesAt, candidates));
  }
  return summary;
}

void FunctionFuser::fuse(const schedule::Scheduler& scheduler, const cost::CostModel& model) {
  CandidateSet candidates(graph, scheduler, model);
  candidates.collect(options.disabledRules);
  Plan plan = options.plan == Plan::Auto ? Plan::Auto : Plan::Fused;
  std::vector<unsigned> chosen = chooseCover(graph, candidates, plan);
  TakenKernels taken(chosen, options.maxFusions, candidates, graph.size());
  std::vector<FusionDecision> decisions;
  for (auto [index, candidate] : llvm::enumerate(candidates.candidates())) {
    FusionDecision& decision = decisions.emplace_back(describe(candidate, candidates));
    decision.taken = taken.contains(index, candidate);
    decision.reason =
        reasonFor(candidate, decision, taken, llvm::binary_search(chosen, index), candidates);
    report(decision, graph.getOp(candidate.nodes.back())->getLoc());
    if (options.inspect && decision.legal)
      options.inspect(decision, llvm::map_to_vector(candidate.nodes, [&](unsigned node) {
                        return graph.getOp(node);
                      }));
  }
  if (options.functions)
    options.functions->push_back(summarize(taken, decisions, candidates, model.beyondKernelsNs()));
  wrap(taken.order, &candidates);
}

namespace {

class FuseKernelsPass : public impl::FuseKernelsPassBase<FuseKernelsPass> {
public:
  using FuseKernelsPassBase::FuseKernelsPassBase;
  explicit FuseKernelsPass(const FusionOptions& given) : given(given) {}

  void runOnOperation() override {
    FusionOptions options = given.value_or(FusionOptions());
    if (!given && failed(readOptions(options)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && failed(fuse(function, options)))
        return signalPassFailure();
  }

private:
  LogicalResult readOptions(FusionOptions& options) {
    std::optional<Plan> parsed = parsePlan(plan);
    if (!parsed)
      return getOperation().emitError(
                 "expects a plan vanilla, unfused, split, fused or auto, but got ")
             << plan.getValue();
    options.plan = *parsed;
    options.maxFusions = maxFusions;
    options.disabledRules.assign(disabledRules.begin(), disabledRules.end());
    if (absl::Status status = checkFusionOptions(options); !status.ok())
      return getOperation().emitError(std::string(status.message()));
    return success();
  }

  LogicalResult fuse(func::FuncOp function, const FusionOptions& options) {
    OpBuilder builder(&getContext());
    copySharedOutputs(function, builder);
    FunctionFuser fuser(function, options);
    if (options.plan == Plan::Unfused || options.plan == Plan::Vanilla) {
      fuser.wrapAll();
      return success();
    }
    auto target = getOperation()->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target)
      return getOperation().emitError("expects a target to fuse for, '")
             << TenonDialect::targetAttrName << "'";
    FailureOr<schedule::Scheduler> scheduler =
        schedule::Scheduler::create(getOperation(), target, libraryUse(options), options.times);
    FailureOr<cost::CostModel> model =
        cost::CostModel::create(function.getLoc(), target, options.launchMode, options.times);
    if (failed(scheduler) || failed(model))
      return failure();
    fuser.fuse(*scheduler, *model);
    return success();
  }

  std::optional<FusionOptions> given;
};

} // namespace

std::unique_ptr<Pass> createFuseKernelsPass(const FusionOptions& options) {
  return std::make_unique<FuseKernelsPass>(options);
}

} // namespace tenon::passes
