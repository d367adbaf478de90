#include "passes/relax/DeferNorms.h"

#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Remarks.h"
#include "support/Verdict.h"

using namespace mlir;

namespace tenon::passes {

static Type elementOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getElementType();
}

/// The GEMMs whose input is the norm, in program order.
static llvm::SmallVector<MatmulOp> gemmsOf(RmsNormOp norm) {
  llvm::SmallVector<MatmulOp> gemms;
  for (Operation* user : norm->getUsers())
    if (auto gemm = llvm::dyn_cast<MatmulOp>(user);
        gemm && gemm.getInput() == norm.getResult() && gemm.getWeight() != norm.getResult())
      gemms.push_back(gemm);
  llvm::sort(gemms, [](MatmulOp a, MatmulOp b) { return a != b && a->isBeforeInBlock(b); });
  return gemms;
}

static Verdict acceptsUsers(RmsNormOp norm) {
  for (OpOperand& use : norm->getUses()) {
    Operation* user = use.getOwner();
    if (user->hasTrait<OpTrait::IsTerminator>())
      return Refusal{"the function returns the norm"};
    std::string name = user->getName().stripDialect().str();
    if (!llvm::isa<MatmulOp>(user))
      return Refusal{name + " reads the norm, too"};
    if (use.getOperandNumber() != 0)
      return Refusal{"the norm is the weight of a " + name};
  }
  return Verdict::accept();
}

/// Whether x · w has a place in the norm's type.
static Verdict acceptsRange(RmsNormOp norm) {
  if (!elementOf(norm.getResult()).isF16())
    return Verdict::accept();
  if (norm.getWeight())
    return Refusal{"x · w may leave the range of f16, which the norm does not"};
  if (!elementOf(norm.getInput()).isF16())
    return Refusal{"x of " + detail::formatType(elementOf(norm.getInput())) +
                   " may leave the range of f16, which the norm does not"};
  return Verdict::accept();
}

namespace {

/// Defers the norms of one function.
class NormDeferrer {
public:
  NormDeferrer(func::FuncOp function, std::vector<NormDeferral>* report)
      : function(function), builder(function.getContext()), report(report) {}

  void run();

private:
  void note(RmsNormOp norm, size_t gemms, const Verdict& verdict);
  void defer(RmsNormOp norm, llvm::ArrayRef<MatmulOp> gemms);
  Value scale(RmsNormOp norm);
  Value factorOf(RmsNormOp norm);

  func::FuncOp function;
  OpBuilder builder;
  std::vector<NormDeferral>* report;                          ///< may be null
  llvm::DenseMap<std::pair<Value, Attribute>, Value> factors; ///< by input and ε
};

} // namespace

/// x · w in the norm's type: x itself where there is no weight and it has that type.
Value NormDeferrer::scale(RmsNormOp norm) {
  if (Value weight = norm.getWeight())
    return MulOp::create(builder, norm.getLoc(), norm.getType(), norm.getInput(), weight);
  if (norm.getInput().getType() == norm.getType())
    return norm.getInput();
  return CastOp::create(builder, norm.getLoc(), norm.getType(), norm.getInput());
}

/// 1 / √(mean(x²) + ε) of each row in f32: [..., 1].
Value NormDeferrer::factorOf(RmsNormOp norm) {
  Value& factor = factors[{norm.getInput(), norm.getEpsilonAttr()}];
  if (factor)
    return factor;
  Location loc = norm.getLoc();
  auto squares = norm.getInput().getType().clone(builder.getF32Type());
  llvm::SmallVector<int64_t> shape(squares.getShape());
  shape.back() = 1;
  auto ofRows = squares.clone(shape);
  auto ofOne = RankedTensorType::get({1}, builder.getF32Type());
  auto epsilon = DenseElementsAttr::get(
      ofOne,
      builder.getF32FloatAttr(static_cast<float>(norm.getEpsilon().convertToDouble())).getValue());
  Value square = SquareOp::create(builder, loc, squares, norm.getInput());
  Value mean = ReduceOp::create(builder, loc, ofRows, ReduceKind::Mean, square, OrderAttr());
  Value constant = ConstantOp::create(builder, loc, ofOne, epsilon);
  Value sum = AddOp::create(builder, loc, ofRows, mean, constant);
  factor = RsqrtOp::create(builder, loc, ofRows, sum);
  return factor;
}

void NormDeferrer::defer(RmsNormOp norm, llvm::ArrayRef<MatmulOp> gemms) {
  builder.setInsertionPoint(norm);
  Value factor = factorOf(norm), scaled = scale(norm);
  for (MatmulOp gemm : gemms) {
    builder.setInsertionPoint(gemm);
    Value product =
        MatmulOp::create(builder, gemm.getLoc(), gemm.getType().clone(builder.getF32Type()), scaled,
                         gemm.getWeight(), gemm.getOrderAttr());
    Value result = MulOp::create(builder, gemm.getLoc(), gemm.getType(), product, factor);
    gemm.replaceAllUsesWith(result);
    gemm.erase();
  }
  norm.erase();
}

void NormDeferrer::note(RmsNormOp norm, size_t gemms, const Verdict& verdict) {
  using Arg = remark::detail::Remark::Arg;
  auto options =
      remark::RemarkOpts::name("defer-norms").category("numerics").function(function.getName());
  if (verdict)
    remark::passed(norm.getLoc(), options) << Arg("gemms", gemms);
  else
    remark::missed(norm.getLoc(), options)
        << Arg("gemms", gemms) << Arg("reason", verdict.reason());
  if (report)
    report->push_back({function.getName().str(), static_cast<int64_t>(gemms),
                       verdict ? std::string() : verdict.reason(), norm.getLoc()});
}

void NormDeferrer::run() {
  for (RmsNormOp norm : llvm::to_vector(function.getOps<RmsNormOp>())) {
    llvm::SmallVector<MatmulOp> gemms = gemmsOf(norm);
    if (gemms.empty())
      continue;
    Verdict verdict = acceptsUsers(norm);
    if (verdict)
      verdict = acceptsRange(norm);
    note(norm, gemms.size(), verdict);
    if (verdict)
      defer(norm, gemms);
  }
}

namespace {

class DeferNormsPass : public PassWrapper<DeferNormsPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DeferNormsPass)

  explicit DeferNormsPass(std::vector<NormDeferral>* report) : report(report) {}

  llvm::StringRef getArgument() const override { return "tenon-defer-norms"; }
  llvm::StringRef getDescription() const override {
    return "Multiply by 1/rms of an RMS norm after GEMMs instead of before them";
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      NormDeferrer(function, report).run();
  }

private:
  std::vector<NormDeferral>* report; ///< may be null
};

} // namespace

std::unique_ptr<Pass> createDeferNormsPass(std::vector<NormDeferral>* report) {
  return std::make_unique<DeferNormsPass>(report);
}

void registerDeferNormsPass() {
  registerPass([] { return createDeferNormsPass(); });
}

} // namespace tenon::passes
