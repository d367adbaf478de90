#include "passes/quantize/ExpandWeights.h"

#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/quantize/PriceOperation.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_EXPANDWEIGHTSPASS
#include "passes/Passes.h.inc"

namespace {

/// GEMMs of one block-quantised weight with inputs of one 16-bit type: they share its expansion.
struct SharedWeight {
  Value weight;
  RankedTensorType expanded; ///< the weight's shape, in the type of the inputs
  llvm::SmallVector<MatmulOp> gemms;
};

} // namespace

static std::vector<SharedWeight> collectWeights(func::FuncOp function) {
  llvm::MapVector<std::pair<Value, Type>, llvm::SmallVector<MatmulOp>> groups;
  function.walk([&](MatmulOp op) {
    RankedTensorType input = op.getInput().getType();
    Type element = input.getElementType();
    // Up to so many rows a tile decodes each block once (kernels/cuda/BlockGemm.h).
    constexpr int64_t mostSharedRows = 16;
    if (input.getNumElements() / input.getShape().back() <= mostSharedRows)
      return;
    bool isBlock = llvm::isa<BlockType>(op.getWeight().getType().getElementType());
    if (isBlock && (element.isF16() || element.isBF16()))
      groups[{op.getWeight(), op.getWeight().getType().clone(element)}].push_back(op);
  });
  std::vector<SharedWeight> shared;
  for (auto& [key, gemms] : groups)
    shared.push_back({key.first, llvm::cast<RankedTensorType>(key.second), std::move(gemms)});
  return shared;
}

/// Sum over GEMMs of what they take with a weight of that type; nullopt where no emitter computes
/// one of them.
static std::optional<int64_t> priceGemms(const SharedWeight& shared, Type weight,
                                         const OperationPricer& pricer) {
  int64_t sum = 0;
  for (MatmulOp op : shared.gemms) {
    std::optional<int64_t> ns = pricer.priceMatmul(op, op.getInput().getType(), weight);
    if (!ns)
      return std::nullopt;
    sum = detail::saturatingSum({sum, *ns});
  }
  return sum;
}

/// Expands the weight where that is predicted to be faster, and says so in a remark.
static void decide(const SharedWeight& shared, const OperationPricer& pricer) {
  MatmulOp first = shared.gemms.front();
  Location location = first.getLoc();
  std::optional<int64_t> blocks = priceGemms(shared, shared.weight.getType(), pricer);
  std::optional<int64_t> expanded = priceGemms(shared, shared.expanded, pricer);
  std::optional<int64_t> dequantize =
      pricer.price(location, shared.weight.getType(), shared.expanded,
                   [&](OpBuilder& b, ValueRange operands) -> Operation* {
                     return DequantizeOp::create(b, location, shared.expanded, operands[0]);
                   });
  if (!expanded || !dequantize)
    return;
  int64_t expandedNs = detail::saturatingSum({*expanded, *dequantize});
  auto options = remark::RemarkOpts::name("expand-weights")
                     .category("quantize")
                     .function(first->getParentOfType<func::FuncOp>().getName());
  using Arg = remark::detail::Remark::Arg;
  Arg weight("weight", detail::formatType(shared.weight.getType())),
      blocksNs("blocks_ns", blocks.value_or(-1)), expansionNs("expanded_ns", expandedNs);
  if (blocks && expandedNs >= *blocks) {
    remark::missed(location, options) << weight << blocksNs << expansionNs;
    return;
  }
  remark::passed(location, options) << weight << blocksNs << expansionNs;
  OpBuilder builder(first);
  Value plain = DequantizeOp::create(builder, location, shared.expanded, shared.weight);
  for (MatmulOp op : shared.gemms)
    op.getWeightMutable().assign(plain);
}

namespace {

class ExpandWeightsPass : public impl::ExpandWeightsPassBase<ExpandWeightsPass> {
public:
  ExpandWeightsPass() = default;
  explicit ExpandWeightsPass(const FusionOptions& options) : options(options) {}

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target || target.getDevice() != DeviceKind::Cuda)
      return;
    std::vector<SharedWeight> weights;
    for (auto function : module.getOps<func::FuncOp>())
      llvm::append_range(weights, collectWeights(function));
    if (weights.empty())
      return;
    using kernels::LibraryGemms;
    kernels::LibraryUse use{options.libraries ? LibraryGemms::ManyRows : LibraryGemms::None};
    FailureOr<schedule::Scheduler> scheduler =
        schedule::Scheduler::create(module, target, use, options.times);
    FailureOr<cost::CostModel> model =
        cost::CostModel::create(module.getLoc(), target, options.launchMode, options.times);
    if (failed(scheduler) || failed(model))
      return signalPassFailure();
    for (const SharedWeight& shared : weights)
      decide(shared, {*scheduler, *model});
  }

private:
  FusionOptions options;
};

} // namespace

std::unique_ptr<Pass> createExpandWeightsPass(const FusionOptions& options) {
  return std::make_unique<ExpandWeightsPass>(options);
}

} // namespace tenon::passes
