#include "kernels/regions/Norms.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "codegen/cuda/emitters/Rows.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// The operations `OpTy` of a region whose other operations are printed around them, of one input;
/// empty after an error.
template <typename OpTy> static llvm::SmallVector<OpTy> findHeroes(KernelContext& context) {
  llvm::SmallVector<OpTy> heroes;
  for (Operation& op : context.kernel.getBlock().without_terminator()) {
    auto hero = llvm::dyn_cast<OpTy>(op);
    if ((hero && !heroes.empty() && !isSibling(*heroes.front(), op)) ||
        (!hero && !isPrintable(&op))) {
      op.emitOpError("expects a region of one ")
          << OpTy::getOperationName() << " and operations on its elements";
      return {};
    }
    if (hero)
      heroes.push_back(hero);
  }
  if (heroes.empty())
    context.kernel.emitOpError("expects a ")
        << OpTy::getOperationName() << " in a kernel of the emitter "
        << context.schedule().getEmitter();
  return heroes;
}

/// x / √(mean(x²) + ε) · weight, or (x − mean) / √(var + ε) · weight + bias, in two passes; of
/// several norms of one value, which have the same sums, each result from them.
template <typename OpTy> static LogicalResult emitNorm(KernelContext& context) {
  llvm::SmallVector<OpTy> heroes = findHeroes<OpTy>(context);
  if (heroes.empty())
    return failure();
  NormTerms norm = *NormTerms::of(heroes.front());
  FailureOr<OrderAttr> order = norm.order();
  RowEmission rows(context, norm.op, norm.input);
  if (failed(order) || failed(rows.readSchedule(*order)))
    return failure();
  for (OpTy hero : heroes)
    rows.preload(NormTerms::of(hero)->operands);
  if (failed(rows.begin()) || failed(rows.storeInput()))
    return failure();
  if (norm.hasMean()) {
    if (failed(rows.sum("total", "x[j]")))
      return failure();
    rows.state(norm.meanStatement());
  }
  std::string centered =
      norm.hasMean() ? rows.keep("centered", norm.centeredOf("x[j]")) : norm.centeredOf("x[j]");
  if (failed(rows.sum("squares", norm.squareOfCentered(centered))))
    return failure();
  rows.state(norm.factorStatement());
  llvm::SmallVector<RowHero> results;
  for (OpTy hero : heroes) {
    NormTerms terms = *NormTerms::of(hero);
    results.push_back({hero, terms.operands, [=](llvm::ArrayRef<std::string> elements) {
                         return terms.resultOfCentered(centered, elements);
                       }});
  }
  return rows.finish(results);
}

/// exp(x − max) / Σ exp(x − max). The exponentials are computed again for the result.
static LogicalResult emitSoftmax(KernelContext& context) {
  llvm::SmallVector<SoftmaxOp> heroes = findHeroes<SoftmaxOp>(context);
  if (heroes.empty())
    return failure();
  SoftmaxOp softmax = heroes.front();
  FailureOr<OrderAttr> order = orderOf(softmax);
  RowEmission rows(context, softmax, softmax.getInput());
  if (failed(order) || failed(rows.readSchedule(*order)) || failed(rows.begin()) ||
      failed(rows.extremum("largest", true)) || failed(rows.sum("total", "expf(x[j] - largest)")))
    return failure();
  return rows.finish(RowHero{
      softmax, {}, [](llvm::ArrayRef<std::string>) { return "expf(x[j] - largest) / total"; }});
}

/// Sum, mean, maximum or minimum of each row.
static LogicalResult emitReduce(KernelContext& context) {
  auto reduce = context.soleOp<ReduceOp>();
  if (!reduce)
    return failure();
  FailureOr<OrderAttr> order = orderOf(reduce);
  RowEmission rows(context, reduce, reduce.getInput());
  if (failed(order) || failed(rows.readSchedule(*order)) || failed(rows.begin()))
    return failure();
  bool sums = reduce.getKind() == ReduceKind::Sum || reduce.getKind() == ReduceKind::Mean;
  if (failed(sums ? rows.sum("result", "x[j]")
                  : rows.extremum("result", reduce.getKind() == ReduceKind::Max)))
    return failure();
  rows.beginStore();
  std::string value = "result";
  if (reduce.getKind() == ReduceKind::Mean)
    value = absl::StrFormat("result / %d.0f", rows.length);
  std::string type = deviceType(reduce.getType().getElementType());
  rows.code->open("if (thread == 0)");
  for (const std::string& pointer : context.destinations(reduce.getResult()))
    rows.code->format("%s[row] = fromFloat<%s>(%s);", pointer, type, value);
  rows.code->close();
  return success();
}

extern constexpr Emitter rmsNorm = {"rms_norm", emitNorm<RmsNormOp>};
extern constexpr Emitter layerNorm = {"layer_norm", emitNorm<LayerNormOp>};
extern constexpr Emitter softmax = {"softmax", emitSoftmax};
extern constexpr Emitter reduce = {"reduce", emitReduce};

} // namespace tenon::codegen::cuda::emitters
