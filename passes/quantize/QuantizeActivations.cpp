#include "mlir/IR/Remarks.h"
#include "passes/Passes.h"
#include "passes/quantize/PriceOperation.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon::passes {

#define GEN_PASS_DEF_QUANTIZEACTIVATIONSPASS
#include "passes/Passes.h.inc"

namespace {

/// Products of one input whose weights go with one encoding of activations: they share the quants.
struct SharedGemms {
  Value input;
  Type quants; ///< the input's type, quantised
  llvm::SmallVector<MatmulOp> products;
};

/// Decides for each input of products whether it is quantised, see the pass.
class ActivationQuantizer {
public:
  explicit ActivationQuantizer(OperationPricer pricer) : pricer(pricer) {}

  void run(func::FuncOp function);

private:
  std::optional<int64_t> priceGemms(SharedGemms& shared, Type input);
  std::optional<int64_t> priceQuantized(SharedGemms& shared);
  void decide(SharedGemms& shared);

  OperationPricer pricer;
};

} // namespace

static std::vector<SharedGemms> collectGemms(func::FuncOp function) {
  llvm::MapVector<std::pair<Value, Type>, llvm::SmallVector<MatmulOp>> groups;
  function.walk([&](MatmulOp op) {
    RankedTensorType input = op.getInput().getType();
    const Encoding& weight = *getEncoding(op.getWeight().getType().getElementType());
    const Encoding* activations = findActivationEncoding(weight);
    if (!activations || op.isQuantized())
      return;
    Type quants = input.clone(BlockType::get(op.getContext(), activations->name));
    groups[{op.getInput(), quants}].push_back(op);
  });
  std::vector<SharedGemms> shared;
  for (auto& [key, products] : groups)
    shared.push_back({key.first, key.second, std::move(products)});
  return shared;
}

/// All products with an input of that type.
std::optional<int64_t> ActivationQuantizer::priceGemms(SharedGemms& shared, Type input) {
  int64_t sum = 0;
  for (MatmulOp op : shared.products) {
    std::optional<int64_t> ns = pricer.priceMatmul(op, input, op.getWeight().getType());
    if (!ns)
      return std::nullopt;
    sum = detail::saturatingSum({sum, *ns});
  }
  return sum;
}

std::optional<int64_t> ActivationQuantizer::priceQuantized(SharedGemms& shared) {
  std::optional<int64_t> products = priceGemms(shared, shared.quants);
  Location loc = shared.products.front().getLoc();
  std::optional<int64_t> quantize = pricer.price(
      loc, shared.input.getType(), shared.quants, [&](OpBuilder& b, ValueRange operands) {
        return QuantizeOp::create(b, loc, shared.quants, operands[0]);
      });
  if (!products || !quantize)
    return std::nullopt;
  return detail::saturatingSum({*products, *quantize});
}

/// Quantises the input where that is predicted to be faster, and says so in a remark.
void ActivationQuantizer::decide(SharedGemms& shared) {
  MatmulOp first = shared.products.front();
  std::optional<int64_t> floats = priceGemms(shared, shared.input.getType());
  std::optional<int64_t> quants = priceQuantized(shared);
  auto options = remark::RemarkOpts::name("quantize-activations")
                     .category("quantize")
                     .function(first->getParentOfType<func::FuncOp>().getName());
  using Arg = remark::detail::Remark::Arg;
  Arg input("input", detail::formatType(shared.quants)),
      products("products", shared.products.size());
  if (!floats || !quants) {
    remark::failed(first.getLoc(), options)
        << input << products << Arg("reason", "no emitter multiplies these quants");
    return;
  }
  if (*quants >= *floats) {
    remark::missed(first.getLoc(), options)
        << input << products << Arg("quantized_ns", *quants) << Arg("floats_ns", *floats);
    return;
  }
  remark::passed(first.getLoc(), options)
      << input << products << Arg("quantized_ns", *quants) << Arg("floats_ns", *floats);
  OpBuilder builder(first.getContext());
  builder.setInsertionPointAfterValue(shared.input);
  Value quantized = QuantizeOp::create(builder, first.getLoc(), shared.quants, shared.input);
  for (MatmulOp op : shared.products)
    op.getInputMutable().assign(quantized);
}

void ActivationQuantizer::run(func::FuncOp function) {
  std::vector<SharedGemms> inputs = collectGemms(function);
  for (SharedGemms& shared : inputs)
    decide(shared);
}

namespace {

class QuantizeActivationsPass : public impl::QuantizeActivationsPassBase<QuantizeActivationsPass> {
public:
  using QuantizeActivationsPassBase::QuantizeActivationsPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr(TenonDialect::quantizeAttrName))
      return;
    auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    if (!target || target.getDevice() != DeviceKind::Cpu) {
      module.emitError("expects a CPU target for quantised activations, '")
          << TenonDialect::targetAttrName << "'";
      return signalPassFailure();
    }
    FailureOr<schedule::Scheduler> scheduler = schedule::Scheduler::create(module, target);
    FailureOr<cost::CostModel> model =
        cost::CostModel::create(module.getLoc(), target, cost::LaunchMode::Stream);
    if (failed(scheduler) || failed(model))
      return signalPassFailure();
    ActivationQuantizer quantizer({*scheduler, *model});
    for (auto function : module.getOps<func::FuncOp>())
      quantizer.run(function);
  }
};

} // namespace
} // namespace tenon::passes
