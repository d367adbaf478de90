#include "codegen/cuda/emitters/GemmResults.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

GemmResults::GemmResults(KernelContext& context, GemmRegion& region, const GemvBlock& layout)
    : context(context), region(region), layout(layout) {}

bool GemmResults::hasOneLine() const {
  return layout.linesPerTile * region.rows <= layout.threads();
}

std::string GemmResults::nameOf(const GemmRegion::Group& group, BlockArgument argument) const {
  return absl::StrFormat("early%d_%s", &group - region.groups.begin(), context.pointer(argument));
}

/// The arguments that the operations after the GEMMs of `group` read.
llvm::SetVector<BlockArgument> GemmResults::operandsOf(const GemmRegion::Group& group) {
  llvm::SetVector<BlockArgument> found;
  auto visit = [&](auto&& self, Value value) -> void {
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      if (!isBlockQuantized(elementTypeOf(value.getType())))
        found.insert(argument);
      return;
    }
    if (auto op = value.getDefiningOp<ElementwiseOpInterface>())
      for (Value operand : op->getOperands())
        self(self, operand);
  };
  for (Value yielded : group.yields)
    visit(visit, yielded);
  return found;
}

/// The line and the row of x that number `index` of a block is, and whether it is there.
void GemmResults::printLine(CodeWriter& code, const std::string& index) {
  if (region.rows == 1) {
    code.line("constexpr int m = 0;");
    code.format("const int inTile = %s;", index);
  } else {
    code.format("const int m = %s / %d, inTile = %s %% %d;", index, layout.linesPerTile, index,
                layout.linesPerTile);
  }
  code.line("const int line = firstLine + inTile;");
}

LogicalResult GemmResults::forGroup(CodeWriter& code, GemmRegion::Group& group,
                                    llvm::function_ref<LogicalResult(RegionPrinter&)> body) {
  bool several = region.groups.size() > 1;
  if (several)
    code.openFormat("if (line >= %d && line < %d)", group.firstLine,
                    group.firstLine + group.columns);
  code.format("const int column = line - %d;", group.firstLine);
  RegionPrinter printer(context, group.gemms.front().op.getType().getShape(), /*flat=*/false,
                        /*width=*/1);
  printer.moveTo(code, {"static_cast<long long>(m)", "column", ""});
  LogicalResult printed = body(printer);
  if (several)
    code.close();
  return printed;
}

LogicalResult GemmResults::preload(CodeWriter& code, bool constant) {
  auto isWanted = [&](BlockArgument argument) {
    return (context.access(argument).space == MemorySpace::Constant) == constant;
  };
  for (GemmRegion::Group& group : region.groups)
    for (BlockArgument argument : operandsOf(group))
      if (isWanted(argument))
        code.format("%s %s;", deviceType(elementTypeOf(argument.getType())),
                    nameOf(group, argument));
  code.open("");
  code.line("const int own = threadIdx.x;");
  printLine(code, "own");
  code.openFormat("if (own < %d && line < lastLine)", layout.linesPerTile * region.rows);
  for (GemmRegion::Group& group : region.groups) {
    LogicalResult printed = forGroup(code, group, [&](RegionPrinter& printer) {
      for (BlockArgument argument : operandsOf(group))
        if (isWanted(argument))
          code.format("%s = *(%s);", nameOf(group, argument), printer.address(argument));
      return success();
    });
    if (failed(printed))
      return failure();
  }
  code.close();
  code.close();
  return success();
}

LogicalResult GemmResults::preloadConstants() {
  std::vector<Access> reads, writes;
  for (GemmRegion::Group& group : region.groups)
    for (BlockArgument argument : operandsOf(group))
      if (Access access = context.access(argument); access.space == MemorySpace::Constant) {
        reads.push_back(access);
        writes.push_back({MemorySpace::Registers, nameOf(group, argument)});
      }
  if (reads.empty() || !hasOneLine())
    return success();
  return preload(context.structure.begin(PhaseKind::Load, reads, writes), /*constant=*/true);
}

LogicalResult GemmResults::preloadOthers(CodeWriter& code) {
  bool any = llvm::any_of(region.groups, [&](GemmRegion::Group& group) {
    return llvm::any_of(operandsOf(group), [&](BlockArgument argument) {
      return context.access(argument).space != MemorySpace::Constant;
    });
  });
  return any && hasOneLine() ? preload(code, /*constant=*/false) : success();
}

/// The GEMM at place `index` of a group, rounded, as `results<index>`.
void GemmResults::printSum(CodeWriter& code, GemmRegion::Group& group, unsigned index) {
  const GemvBlock::Sums& sums = layout.sums[index];
  auto part = [&](int64_t number) {
    return absl::StrFormat("sums[(inTile * %d + %d) * %d + m]", layout.sumsOfLine,
                           sums.first + number, region.rows);
  };
  code.format("float results%d[1] = {%s};", index, part(0));
  for (int64_t next = 1; next < sums.count; ++next)
    code.format("results%d[0] += %s;", index, part(next));
  Type element = group.gemms[index].op.getType().getElementType();
  if (!element.isF32())
    code.format("results%d[0] = roundTo<%s>(results%d[0]);", index, deviceType(element), index);
}

LogicalResult GemmResults::print(CodeWriter& code) {
  if (hasOneLine()) {
    code.line("const int i = threadIdx.x;");
    code.openFormat("if (i < %d)", layout.linesPerTile * region.rows);
  } else {
    code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", layout.linesPerTile * region.rows,
                    layout.threads());
  }
  printLine(code, "i");
  code.open("if (line < lastLine)");
  for (GemmRegion::Group& group : region.groups) {
    LogicalResult printed = forGroup(code, group, [&](RegionPrinter& printer) -> LogicalResult {
      if (hasOneLine())
        for (BlockArgument argument : operandsOf(group)) {
          std::string name = nameOf(group, argument);
          code.format("const float wide_%s[1] = {toFloat(%s)};", name, name);
          printer.define(argument, "wide_" + name);
        }
      for (unsigned index = 0; index < group.gemms.size(); ++index) {
        printSum(code, group, index);
        printer.define(group.gemms[index].op.getResult(), absl::StrFormat("results%d", index));
      }
      for (Value yielded : group.yields)
        if (failed(printer.store(yielded)))
          return failure();
      return success();
    });
    if (failed(printed))
      return failure();
  }
  code.close();
  code.close();
  return success();
}

} // namespace tenon::codegen::cuda
