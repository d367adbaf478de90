#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/Rows.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

/// The one `OpTy` of a region whose other operations are printed around it; null after an error.
template <typename OpTy> static OpTy findHero(KernelContext& context) {
  OpTy hero;
  for (Operation& op : context.kernel.getBlock().without_terminator()) {
    auto candidate = llvm::dyn_cast<OpTy>(op);
    if ((candidate && hero) || (!candidate && !isPrintable(&op))) {
      op.emitOpError("expects a region of one ")
          << OpTy::getOperationName() << " and operations on its elements";
      return nullptr;
    }
    if (candidate)
      hero = candidate;
  }
  if (!hero)
    context.kernel.emitOpError("expects a ")
        << OpTy::getOperationName() << " in a kernel of the emitter "
        << context.schedule().getEmitter();
  return hero;
}

/// x / √(mean(x²) + ε) · weight.
static LogicalResult emitRmsNorm(KernelContext& context) {
  auto norm = findHero<RmsNormOp>(context);
  if (!norm)
    return failure();
  FailureOr<OrderAttr> order = orderOf(norm);
  RowEmission rows(context, norm, norm.getInput());
  if (failed(order) || failed(rows.readSchedule(*order)) || failed(rows.begin()) ||
      failed(rows.sum("squares", "x[j] * x[j]")))
    return failure();
  rows.code->format("const float factor = 1.0f / sqrtf(squares / %d.0f + %s);", rows.length,
                    floatLiteral(norm.getEpsilon().convertToDouble()));
  llvm::SmallVector<Value> operands;
  if (norm.getWeight())
    operands.push_back(norm.getWeight());
  return rows.finish(operands, [](llvm::ArrayRef<std::string> elements) {
    return "x[j] * factor" + (elements.empty() ? "" : " * " + elements[0]);
  });
}

/// (x − mean) / √(var + ε) · weight + bias, in two passes.
static LogicalResult emitLayerNorm(KernelContext& context) {
  auto norm = findHero<LayerNormOp>(context);
  if (!norm)
    return failure();
  FailureOr<OrderAttr> order = orderOf(norm);
  RowEmission rows(context, norm, norm.getInput());
  if (failed(order) || failed(rows.readSchedule(*order)) || failed(rows.begin()) ||
      failed(rows.sum("total", "x[j]")))
    return failure();
  rows.code->format("const float mean = total / %d.0f;", rows.length);
  if (failed(rows.sum("squares", "(x[j] - mean) * (x[j] - mean)")))
    return failure();
  rows.code->format("const float factor = 1.0f / sqrtf(squares / %d.0f + %s);", rows.length,
                    floatLiteral(norm.getEpsilon().convertToDouble()));
  llvm::SmallVector<Value> operands;
  for (Value operand : {norm.getWeight(), norm.getBias()})
    if (operand)
      operands.push_back(operand);
  return rows.finish(operands, [&](llvm::ArrayRef<std::string> elements) {
    std::string expression = "(x[j] - mean) * factor";
    if (norm.getWeight())
      expression += " * " + elements.front();
    return norm.getBias() ? expression + " + " + elements.back() : expression;
  });
}

/// exp(x − max) / Σ exp(x − max). The exponentials are computed again for the result.
static LogicalResult emitSoftmax(KernelContext& context) {
  auto softmax = findHero<SoftmaxOp>(context);
  if (!softmax)
    return failure();
  FailureOr<OrderAttr> order = orderOf(softmax);
  RowEmission rows(context, softmax, softmax.getInput());
  if (failed(order) || failed(rows.readSchedule(*order)) || failed(rows.begin()) ||
      failed(rows.extremum("largest", true)) || failed(rows.sum("total", "expf(x[j] - largest)")))
    return failure();
  return rows.finish({},
                     [](llvm::ArrayRef<std::string>) { return "expf(x[j] - largest) / total"; });
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

const Emitter rmsNorm = {"rms_norm", emitRmsNorm};
const Emitter layerNorm = {"layer_norm", emitLayerNorm};
const Emitter softmax = {"softmax", emitSoftmax};
const Emitter reduce = {"reduce", emitReduce};

} // namespace tenon::codegen::cuda::emitters
