#include "codegen/cuda/emitters/ProductInputs.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda {

/// Floats that a thread keeps of what it stages or preloads.
static constexpr int64_t mostFloats = 64;

ProductInputs::ProductInputs(KernelContext& context, ProductRegion& region,
                             const ProductLayout& layout)
    : context(context), region(region), layout(layout),
      type(deviceType(elementTypeOf(region.inputs.front().value.getType()))) {
  for (auto [index, input] : llvm::enumerate(region.inputs)) {
    std::optional<NormTerms> norm = NormTerms::of(input.norm);
    if (!norm)
      continue;
    auto shared = llvm::find_if(sums, [&](const SharedSums& other) {
      return other.norm.input == norm->input && other.norm.hasMean() == norm->hasMean() &&
             other.norm.factorStatement() == norm->factorStatement();
    });
    if (shared == sums.end()) {
      unsigned source = llvm::find(layout.normSources, norm->input) - layout.normSources.begin();
      shared = sums.insert(sums.end(), SharedSums{*norm, source, {}});
    }
    shared->inputs.push_back(index);
  }
}

LogicalResult ProductInputs::check() {
  int64_t step = 32 * layout.inputVector;
  for (const ProductRegion::Input& input : region.inputs) {
    std::optional<NormTerms> norm = NormTerms::of(input.norm);
    if (!norm)
      continue;
    FailureOr<OrderAttr> order = norm->order();
    if (failed(order))
      return failure();
    int64_t lanes = order->getLanes();
    bool whole = order->getChunk() == 0 || order->getChunk() >= input.depth;
    if (!whole || lanes % step != 0 || !llvm::isPowerOf2_64(lanes / step) || lanes > 1024 ||
        order->getTree() != CombineTree::Halving)
      return norm->op->emitOpError("expects an order of one chunk in at most 1024 lanes, a power "
                                   "of two and a multiple of ")
             << step << ", but got " << *order;
    bool shares = llvm::all_of(sums, [&](SharedSums& other) {
      return !llvm::is_contained(other.inputs, &input - region.inputs.begin()) ||
             *other.norm.order() == *order;
    });
    if (!shares)
      return norm->op->emitOpError("expects norms of one value to have one order, but got ")
             << *order;
  }
  return success();
}

std::string ProductInputs::place(unsigned input, const std::string& m, const std::string& k) const {
  int64_t padded = layout.paddedDepth(region.inputs[input].depth);
  int64_t vector = layout.vector, narrow = layout.inputVector, lanes = 32 * vector;
  std::string row = region.rows == 1 ? "" : absl::StrFormat("%s * %d + ", m, padded);
  if (narrow == vector)
    return row + k;
  return absl::StrFormat("%s%s / %d * %d + %s %% %d / %d * %d + %s / %d %% 32 * %d", row, k, lanes,
                         lanes, k, vector, narrow, 32 * narrow, k, vector, narrow) +
         absl::StrFormat(" + %s %% %d", k, narrow);
}

/// Vectors of a row that a thread takes.
int64_t ProductInputs::vectors(int64_t depth) const {
  return llvm::divideCeil(depth, layout.inputVector * context.structure.threads);
}

/// The norm that a value of the prologue is made of; null where there is none.
Operation* ProductInputs::normOf(Value value) const {
  Operation* op = value.getDefiningOp();
  if (!op || llvm::isa<RmsNormOp, LayerNormOp>(op))
    return op;
  for (Value operand : op->getOperands())
    if (Operation* norm = normOf(operand))
      return norm;
  return nullptr;
}

void ProductInputs::preload() {
  for (const ProductRegion::Input& input : region.inputs) {
    std::optional<NormTerms> norm = NormTerms::of(input.norm);
    int64_t count = vectors(input.depth), vector = layout.inputVector;
    if (!norm || count * vector > mostFloats)
      continue;
    for (Value operand : norm->operands) {
      auto argument = llvm::dyn_cast<BlockArgument>(operand);
      if (!argument || preloaded.contains(operand) ||
          shapeOf(operand.getType()) != llvm::ArrayRef(input.depth))
        continue;
      std::string name = "norm_" + context.pointer(argument);
      CodeWriter& code = context.structure.begin(PhaseKind::Load, {context.access(argument)},
                                                 {{MemorySpace::Registers, name}});
      code.format("float %s[%d][%d];", name, count, vector);
      code.unroll();
      code.openFormat("for (int i = 0; i < %d; ++i)", count);
      code.format("const int k = (i * %d + static_cast<int>(threadIdx.x)) * %d;",
                  context.structure.threads, vector);
      code.format("if (k < %d)", input.depth);
      code.format("  loadVector(%s[i], %s + k);", name, context.pointer(argument));
      code.close();
      preloaded[operand] = name;
    }
  }
}

/// A loop over a thread's vectors of row m of an input: iteration i has elements [k, k + inputVector).
LogicalResult ProductInputs::forVectors(CodeWriter& code, unsigned input,
                                        llvm::function_ref<LogicalResult(RegionPrinter&)> body) {
  int64_t depth = region.inputs[input].depth, count = vectors(depth), vector = layout.inputVector;
  if (count * vector <= mostFloats)
    code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", count);
  code.format("const int k = (i * %d + static_cast<int>(threadIdx.x)) * %d;",
              context.structure.threads, vector);
  code.openFormat("if (k < %d)", depth);
  RegionPrinter printer(context, shapeOf(region.inputs[input].value.getType()), /*flat=*/false,
                        vector);
  printer.moveTo(code, {"static_cast<long long>(m)", "k", ""});
  LogicalResult printed = body(printer);
  code.close();
  code.close();
  return printed;
}

/// The results of the prologue at the positions of an input that `norm`, or no norm, makes; each once.
LogicalResult ProductInputs::storeYields(CodeWriter& code, RegionPrinter& printer, unsigned input,
                                         Operation* norm) {
  for (Value value : region.prologueYields) {
    if (stored.contains(value) || normOf(value) != norm ||
        shapeOf(value.getType()) != shapeOf(region.inputs[input].value.getType()))
      continue;
    stored.insert(value);
    if (failed(printer.element(value)))
      return failure();
    code.open("if (tile == 0)");
    if (failed(printer.store(value)))
      return failure();
    code.close();
  }
  return success();
}

/// Step 1: all loads of a row are on their way before the first is stored.
LogicalResult ProductInputs::stage(CodeWriter& code, llvm::ArrayRef<Staged> values) {
  int64_t floats = 0, vector = layout.inputVector;
  for (const Staged& staged : values)
    floats += vectors(region.inputs[staged.input].depth) * vector;
  bool apart = floats <= mostFloats;
  auto storeElements = [&](const Staged& staged, const std::string& name) {
    code.format("storeVector(%s, %s);", staged.target, name);
  };
  if (apart)
    for (auto [index, staged] : llvm::enumerate(values))
      code.format("float staged%d[%d][%d];", index, vectors(region.inputs[staged.input].depth),
                  vector);
  for (auto [index, staged] : llvm::enumerate(values)) {
    std::string name = apart ? absl::StrFormat("staged%d[i]", index) : "elements";
    LogicalResult printed = forVectors(code, staged.input, [&](RegionPrinter& printer) {
      FailureOr<std::string> element = printer.element(staged.value);
      if (failed(element) || failed(storeYields(code, printer, staged.input, nullptr)))
        return failure();
      if (!apart)
        code.format("float %s[%d];", name, vector);
      code.unroll();
      code.format("for (int j = 0; j < %d; ++j)", vector);
      code.format("  %s[j] = %s;", name, *element);
      if (!apart)
        storeElements(staged, name);
      return success();
    });
    if (failed(printed))
      return failure();
  }
  for (auto [index, staged] : llvm::enumerate(values))
    if (apart && failed(forVectors(code, staged.input, [&](RegionPrinter&) {
          storeElements(staged, absl::StrFormat("staged%d[i]", index));
          return success();
        })))
      return failure();
  return success();
}

/// A sum over row m of what norms take, in their order, into the variable `name`.
void ProductInputs::printSum(CodeWriter& code, const SharedSums& shared, const std::string& name,
                             const std::string& term) {
  NormTerms norm = shared.norm;
  int64_t vector = layout.inputVector;
  code.openFormat("const float %s = sumRow<%d, %d, %d>([&](float(&x)[%d], int k)", name,
                  norm.length, norm.order()->getLanes(), vector, vector);
  code.format("loadVector(x, source%d + m * %d + k);", shared.source, norm.length);
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", vector);
  code.format("  x[j] = %s;", term);
  code.close(");");
}

/// Step 3 of one input.
LogicalResult ProductInputs::applyNorm(CodeWriter& code, unsigned index) {
  ProductRegion::Input& input = region.inputs[index];
  NormTerms norm = *NormTerms::of(input.norm);
  unsigned source = llvm::find(layout.normSources, norm.input) - layout.normSources.begin();
  int64_t vector = layout.inputVector;
  return forVectors(code, index, [&](RegionPrinter& printer) -> LogicalResult {
    code.format("float x[%d], hero[%d], y[%d];", vector, vector, vector);
    code.format("loadVector(x, source%d + m * %d + k);", source, input.depth);
    printer.define(norm.input, "x");
    for (const auto& [operand, name] : preloaded)
      printer.define(operand, name + "[i]");
    llvm::SmallVector<std::string> elements;
    for (Value operand : norm.operands) {
      FailureOr<std::string> element = printer.element(operand);
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    code.unroll();
    code.format("for (int j = 0; j < %d; ++j)", vector);
    code.format("  hero[j] = roundTo<%s>(%s);",
                deviceType(elementTypeOf(norm.op->getResult(0).getType())),
                norm.resultOf("x[j]", elements));
    printer.define(norm.op->getResult(0), "hero");
    FailureOr<std::string> element = printer.element(input.value);
    if (failed(element))
      return failure();
    code.unroll();
    code.format("for (int j = 0; j < %d; ++j)", vector);
    code.format("  y[j] = %s;", *element);
    code.format("storeVector(input%d + %s, y);", index, place(index, "m", "k"));
    return storeYields(code, printer, index, norm.op);
  });
}

/// Steps 2 and 3 of norms that share their sums.
LogicalResult ProductInputs::applyNorms(CodeWriter& code, const SharedSums& shared) {
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  if (shared.norm.hasMean()) {
    printSum(code, shared, "total", "x[j]");
    code.line(shared.norm.meanStatement());
  }
  printSum(code, shared, "squares", shared.norm.squareOf("x[j]"));
  code.line(shared.norm.factorStatement());
  for (unsigned input : shared.inputs)
    if (failed(applyNorm(code, input)))
      return failure();
  code.close();
  return success();
}

LogicalResult ProductInputs::print(CodeWriter& code) {
  for (auto [index, offset] : llvm::enumerate(layout.inputOffsets))
    code.format("%s* const input%d = reinterpret_cast<%s*>(memory + %d);", type, index, type,
                offset);
  for (auto [index, offset] : llvm::enumerate(layout.sourceOffsets))
    code.format("%s* const source%d = reinterpret_cast<%s*>(memory + %d);", type, index, type,
                offset);
  llvm::SmallVector<Staged> values;
  for (auto [index, input] : llvm::enumerate(region.inputs))
    if (!input.norm)
      values.push_back({input.value, absl::StrFormat("input%d + %s", index, place(index, "m", "k")),
                        static_cast<unsigned>(index)});
  for (const SharedSums& shared : sums) {
    std::string target =
        absl::StrFormat("source%d + m * %d + k", shared.source, shared.norm.length);
    if (llvm::none_of(values, [&](const Staged& other) { return other.target == target; }))
      values.push_back({shared.norm.input, target, shared.inputs.front()});
  }
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  if (failed(stage(code, values)))
    return failure();
  code.close();
  if (!sums.empty())
    code.line("__syncthreads();");
  for (const SharedSums& shared : sums)
    if (failed(applyNorms(code, shared)))
      return failure();
  code.line("__syncthreads();");
  return success();
}

} // namespace tenon::codegen::cuda
