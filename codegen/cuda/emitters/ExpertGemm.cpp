#include "kernels/cuda/ExpertGemm.h"
#include "codegen/cuda/RegionPrinter.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// GEMMs of many rows with the experts that they choose on tensor cores. A tile is some columns of
/// one expert: a block of 256 threads lists the pairs of a row and the expert (the order of the
/// list changes no sum) and multiplies `tile_rows` of them at once, whose rows of x it gathers. A
/// tile has 128 columns of one GEMM, or 64 of gate and up each. Weights in blocks become factors of
/// the type of x, rounded once (`device/expert_gemm.cuh`).
///
/// Parameters: those of `ExpertGemmSchedule`. GEMMs have no order.
class ExpertGemmEmission {
public:
  ExpertGemmEmission(KernelContext& context, ExpertGemmKernel& kernel)
      : context(context), kernel(kernel), region(kernel.region), first(region.gemms.front()) {}

  LogicalResult emit();

private:
  LogicalResult check();
  void printGemms(CodeWriter& code);
  LogicalResult printResults(CodeWriter& code);

  KernelContext& context;
  ExpertGemmKernel& kernel;
  ExpertRegion& region;
  ExpertMatmulOp first;
};

} // namespace

LogicalResult ExpertGemmEmission::check() {
  for (ExpertMatmulOp op : region.gemms)
    if (op.getOrderAttr())
      return op.emitOpError("expects no order for the emitter expert_gemm, but got ")
             << op.getOrderAttr();
  return context.expectTiles(region.experts * kernel.tilesOfExpert());
}

/// Multiplies the pairs from `begin` of the list on, or fewer: those after its end repeat the last.
void ExpertGemmEmission::printGemms(CodeWriter& code) {
  std::string x = context.pointer(first.getInput());
  code.open("auto rowOf = [&](int i)");
  code.line("const int entry = listed[min(begin + i, count - 1)];");
  code.format("return %s + static_cast<long long>((entry >= 0 ? entry : ~entry) / %d) * %d;", x,
              region.sharing(), region.depth);
  code.close(";");
  std::string weight = context.pointer(first.getWeight());
  if (kernel.gemms() > 1)
    weight = absl::StrFormat("(number == 0 ? %s : %s)", weight,
                             context.pointer(region.gemms.back().getWeight()));
  code.format("auto weightOf = [&](int number) { return %s; };", weight);
  code.open("auto lineOf = [&](int column)");
  code.format("return static_cast<long long>(expert) * %d + min(firstColumn + column, %d);",
              region.columns, region.columns - 1);
  code.close(";");
  code.format("gemm.multiply<%d>(rowOf, weightOf, lineOf);", region.depth);
}

LogicalResult ExpertGemmEmission::printResults(CodeWriter& code) {
  int64_t tileRows = kernel.schedule.tileRows, gemms = kernel.gemms();
  bool even = region.columns % 2 == 0;
  code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", 2 * (tileRows / 32));
  code.format("const int inTile = warp / 4 * %d + i * 8 + lane / 4;", tileRows / 2);
  code.line("if (begin + inTile >= count)");
  code.line("  continue;");
  code.line("const int entry = listed[begin + inTile];");
  code.line("const bool exists = entry >= 0;");
  code.line("const long long pair = exists ? entry : ~entry;");
  code.unroll();
  code.openFormat("for (int c = 0; c < %d; ++c)", 4 / gemms);
  code.format(
      "const int column = firstColumn + gemm.columnOf(warp %% 4 * 32 + c * 8) + lane %% 4 * 2;");
  code.openFormat("if (column < %d)", region.columns);
  RegionPrinter printer(context, first.getType().getShape(), /*flat=*/false, /*width=*/2);
  printer.moveTo(code,
                 {"pair", "column", even ? "" : absl::StrFormat("%d - column", region.columns)});
  for (auto [index, op] : llvm::enumerate(region.gemms)) {
    std::string type = deviceType(op.getType().getElementType());
    std::string sum = absl::StrFormat("gemm.sums[i / 2][c + %d]", 2 * index);
    code.format("const float sum%d[2] = {exists ? roundTo<%s>(%s[i %% 2 * 2]) : 0.0f, "
                "exists ? roundTo<%s>(%s[i %% 2 * 2 + 1]) : 0.0f};",
                index, type, sum, type, sum);
    printer.define(op.getResult(), absl::StrFormat("sum%d", index));
  }
  llvm::SmallPtrSet<Value, 4> stored;
  for (Value yielded : context.kernel.getYield().getValues())
    if (stored.insert(yielded).second && failed(printer.store(yielded)))
      return failure();
  code.close();
  code.close();
  code.close();
  return success();
}

LogicalResult ExpertGemmEmission::emit() {
  if (failed(check()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"expert_gemm.cuh"};
  std::vector<Access> reads = context.arguments(true);
  llvm::append_range(reads, context.arguments(false));
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.format("ExpertGemm<%s, %s, %d, %d, %s> gemm(memory);",
              deviceType(elementTypeOf(first.getInput().getType())),
              deviceType(elementTypeOf(first.getWeight().getType())), kernel.schedule.tileRows,
              kernel.gemms(), kernel.takesQuads() ? "true" : "false");
  code.line("int* const listed = reinterpret_cast<int*>(memory + gemm.ringBytes);");
  code.format("int& found = listed[%d];", kernel.listed());
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const int expert = static_cast<int>(tile / %d);", kernel.tilesOfExpert());
  code.format("const int firstColumn = static_cast<int>(tile %% %d) * %d;", kernel.tilesOfExpert(),
              kernel.columns());
  code.openFormat("for (int segment = 0; segment < %d; segment += %d)", region.pairs(),
                  kernel.listed());
  code.format("const int count = listPairs<%d>(listed, found, %s, segment, min(segment + %d, %d), "
              "expert, %d);",
              ExpertGemmKernel::threads, context.pointer(first.getIds()), kernel.listed(),
              region.pairs(), region.experts);
  code.line("#pragma unroll 1");
  code.openFormat("for (int begin = 0; begin < count; begin += %d)", kernel.schedule.tileRows);
  printGemms(code);
  if (failed(printResults(code)))
    return failure();
  code.line("__syncthreads();");
  code.close();
  code.line("__syncthreads();");
  code.close();
  return success();
}

static LogicalResult emitExpertGemm(KernelContext& context) {
  FailureOr<ExpertGemmKernel> kernel = context.read<ExpertGemmKernel>();
  return failed(kernel) ? failure() : ExpertGemmEmission(context, *kernel).emit();
}

extern constexpr Emitter expertGemm = {ExpertGemmKernel::name, emitExpertGemm};

} // namespace tenon::codegen::cuda::emitters
