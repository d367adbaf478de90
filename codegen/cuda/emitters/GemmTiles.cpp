#include "codegen/cuda/emitters/GemmTiles.h"

#include "codegen/cuda/RegionPrinter.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

std::string GemmTiles::condition(size_t group) const {
  return group + 1 == region.groups.size() ? ""
                                           : absl::StrFormat("if (index < %d)", first(group + 1));
}

std::string GemmTiles::branch(size_t group) const {
  std::string text = condition(group);
  if (group == 0)
    return text;
  return text.empty() ? "else" : "else " + text;
}

void GemmTiles::printSeek(CodeWriter& code, KernelContext& context, const std::string& cursor,
                          bool depths) const {
  code.openFormat("auto seek = [&](%s& cursor)", cursor);
  code.line("const int index = cursor.tile;");
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    std::string condition = this->condition(number);
    for (auto [index, gemm] : llvm::enumerate(group.gemms)) {
      std::string which =
          index + 1 < group.gemms.size() ? absl::StrFormat("cursor.gemm == %d", index) : "";
      std::string full = condition;
      if (!which.empty())
        full = condition.empty()
                   ? "if (" + which + ")"
                   : absl::StrFormat("if (index < %d && %s)", first(number + 1), which);
      if (!full.empty())
        code.line(full);
      std::string depth = depths ? absl::StrFormat(", %d", region.inputs[gemm.input].depth) : "";
      code.format("%sreturn cursor.seek(%s, (index - %d) * %d, min((index - %d + 1) * %d, %d)%s);",
                  full.empty() ? "" : "  ", context.pointer(gemm.op.getWeight()), first(number),
                  lines, first(number), lines, group.columns, depth);
    }
  }
  code.close(";");
}

LogicalResult GemmTiles::printResults(CodeWriter& code, KernelContext& context, size_t number,
                                      const std::string& exists,
                                      llvm::function_ref<std::string(size_t)> result) const {
  GemmRegion::Group& group = region.groups[number];
  code.format("const int column = (index - %d) * %d + inTile;", first(number), lines);
  code.openFormat("if (inTile < %d && column < %d%s)", lines, group.columns, exists);
  RegionPrinter printer(context, group.gemms.front().op.getType().getShape(), /*flat=*/false,
                        /*width=*/1);
  printer.moveTo(code, {"static_cast<long long>(m)", "column", ""});
  for (auto [index, gemm] : llvm::enumerate(group.gemms))
    printer.define(gemm.op.getResult(), result(index));
  for (Value yielded : group.yields)
    if (failed(printer.store(yielded)))
      return failure();
  code.close();
  return success();
}

std::vector<Access> GemmTiles::weights(KernelContext& context) const {
  std::vector<Access> weights;
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm& gemm : group.gemms)
      weights.push_back(context.access(gemm.op.getWeight()));
  return weights;
}

std::optional<GemmSource> GemmSource::of(const GemmRegion::Input& input) {
  GemmSource source = {input.value, NormTerms::of(input.norm)};
  if (source.norm) {
    if (source.norm->op->getResult(0) != input.value ||
        !llvm::all_of(source.norm->operands, llvm::IsaPred<BlockArgument>))
      return std::nullopt;
    source.memory = source.norm->input;
  }
  return llvm::isa<BlockArgument>(source.memory) ? std::optional(source) : std::nullopt;
}

LogicalResult GemmTiles::check(llvm::StringRef emitter) const {
  Type element = elementTypeOf(region.first().getWeight().getType());
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm& gemm : group.gemms) {
      MatmulExtents shape(gemm.op);
      if (element.isF32() || elementTypeOf(gemm.op.getInput().getType()) != element ||
          elementTypeOf(gemm.op.getWeight().getType()) != element || shape.batches != 1 ||
          shape.rows > 16 || shape.depth % 8 != 0)
        return gemm.op.emitOpError("expects factors of one 16-bit type, one batch, at most 16 "
                                   "rows and a depth of a multiple of 8 for the emitter ")
               << emitter;
      if (gemm.op.getOrderAttr())
        return gemm.op.emitOpError("expects no order on tensor cores, but got ")
               << gemm.op.getOrderAttr();
    }
  return success();
}

} // namespace tenon::codegen::cuda
