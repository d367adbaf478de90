// Steps 2 and 3 of GemmInputs.h: norms.
#include "codegen/cuda/emitters/GemmInputs.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

/// Mean and, `withFactor`, factor of row m.
void GemmInputs::printStatistics(CodeWriter& code, const SharedSums& shared, bool withFactor) {
  unsigned number = &shared - sums.data();
  if (shared.norm.hasMean()) {
    code.format("const float total = total%d[m];", number);
    code.line(shared.norm.meanStatement());
  }
  if (!withFactor)
    return;
  code.format("const float squares = squares%d[m];", number);
  code.line(shared.norm.factorStatement());
}

/// Step 2: sums over each row of what norms take, in their order, into the array `name`.
LogicalResult GemmInputs::printSum(CodeWriter& code, const SharedSums& shared,
                                   const std::string& name, const std::string& term,
                                   bool behindMean) {
  const Source& source = sources[shared.source];
  int64_t pairLanes = source.order.getLanes() / pairStep;
  int64_t pitch = GemvBlock::chunkSums(source.depth);
  code.format("float* const %s_chunks = reinterpret_cast<float*>(memory + %d);", name, sumsOffset);
  sumsOffset += region.rows * pitch * sizeof(float);
  openRows(code);
  if (behindMean)
    printStatistics(code, shared, /*withFactor=*/false);
  openChunks(code, source);
  code.format("float terms[%d][2] = {};", pairLanes);
  LogicalResult printed = forPairs(code, source, [&](RegionPrinter& printer) -> LogicalResult {
    FailureOr<std::string> element = elementOf(printer, shared.source);
    if (failed(element))
      return failure();
    code.unroll();
    code.open("for (int j = 0; j < 2; ++j)");
    code.format("const float x = %s;", *element);
    code.format("terms[i %% %d][j] += %s;", pairLanes, term);
    code.close();
    return success();
  });
  code.line("const float sum = combineWarpPairs(terms);");
  code.line("if (lane == 0)");
  code.format("  %s_chunks[m * %d + chunk] = sum;", name, pitch);
  closeChunks(code);
  code.close();
  code.line(meetingOf(layout));
  code.format("float %s[%d];", name, region.rows);
  code.unroll();
  code.format("for (int m = 0; m < %d; ++m)", region.rows);
  code.format("  %s[m] = addChunks<%d>(%s_chunks + m * %d);", name, source.chunks, name, pitch);
  return printed;
}

/// Step 3 of one input.
LogicalResult GemmInputs::applyNorm(CodeWriter& code, const SharedSums& shared, unsigned index) {
  GemmRegion::Input& input = region.inputs[index];
  NormTerms norm = *NormTerms::of(input.norm);
  const Source& source = sources[shared.source];
  openChunks(code, source);
  LogicalResult printed = forPairs(code, source, [&](RegionPrinter& printer) -> LogicalResult {
    for (const auto& [operand, name] : preloaded) {
      if (!llvm::is_contained(norm.operands, operand))
        continue;
      code.format("float wide_%s[2];", name);
      code.format("widen(wide_%s, %s[pair]);", name, name);
      printer.define(operand, "wide_" + name);
    }
    FailureOr<std::string> x = elementOf(printer, shared.source);
    if (failed(x))
      return failure();
    llvm::SmallVector<std::string> elements;
    for (Value operand : norm.operands) {
      FailureOr<std::string> element = printer.element(operand);
      if (failed(element))
        return failure();
      elements.push_back(*element);
    }
    code.line("float hero[2], y[2];");
    code.unroll();
    code.line("for (int j = 0; j < 2; ++j)");
    code.format("  hero[j] = roundTo<%s>(%s);",
                deviceType(elementTypeOf(norm.op->getResult(0).getType())),
                norm.resultOf(*x, elements));
    printer.define(norm.op->getResult(0), "hero");
    FailureOr<std::string> element = printer.element(input.value);
    if (failed(element))
      return failure();
    code.unroll();
    code.line("for (int j = 0; j < 2; ++j)");
    code.format("  y[j] = %s;", *element);
    code.format("storeVector(input%d + %s, y);", index, place(index, "m", "k"));
    return storeYields(code, printer, index, norm.op);
  });
  closeChunks(code);
  return printed;
}

/// Steps 2 and 3 of norms that share their sums.
LogicalResult GemmInputs::applyNorms(CodeWriter& code, const SharedSums& shared) {
  unsigned number = &shared - sums.data();
  if (shared.norm.hasMean() &&
      failed(printSum(code, shared, absl::StrFormat("total%d", number), "x", false)))
    return failure();
  if (failed(printSum(code, shared, absl::StrFormat("squares%d", number), shared.norm.squareOf("x"),
                      shared.norm.hasMean())))
    return failure();
  openRows(code);
  printStatistics(code, shared, /*withFactor=*/true);
  for (unsigned input : shared.inputs)
    if (failed(applyNorm(code, shared, input)))
      return failure();
  code.close();
  return success();
}

} // namespace tenon::codegen::cuda
