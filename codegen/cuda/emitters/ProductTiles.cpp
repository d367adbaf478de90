#include "codegen/cuda/emitters/ProductTiles.h"

#include "codegen/cuda/RegionPrinter.h"
#include "codegen/cuda/emitters/MatmulShape.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

std::string ProductTiles::condition(size_t group) const {
  return group + 1 == region.groups.size() ? ""
                                           : absl::StrFormat("if (index < %d)", first(group + 1));
}

std::string ProductTiles::branch(size_t group) const {
  std::string text = condition(group);
  if (group == 0)
    return text;
  return text.empty() ? "else" : "else " + text;
}

void ProductTiles::printSeek(CodeWriter& code, KernelContext& context, const std::string& cursor,
                             bool depths) const {
  code.openFormat("auto seek = [&](%s& cursor)", cursor);
  code.line("const int index = cursor.tile;");
  for (auto [number, group] : llvm::enumerate(region.groups)) {
    std::string condition = this->condition(number);
    for (auto [index, product] : llvm::enumerate(group.products)) {
      std::string which =
          index + 1 < group.products.size() ? absl::StrFormat("cursor.product == %d", index) : "";
      std::string full = condition;
      if (!which.empty())
        full = condition.empty()
                   ? "if (" + which + ")"
                   : absl::StrFormat("if (index < %d && %s)", first(number + 1), which);
      if (!full.empty())
        code.line(full);
      std::string depth = depths ? absl::StrFormat(", %d", region.inputs[product.input].depth) : "";
      code.format("%sreturn cursor.seek(%s, (index - %d) * %d, min((index - %d + 1) * %d, %d)%s);",
                  full.empty() ? "" : "  ", context.pointer(product.op.getWeight()), first(number),
                  lines, first(number), lines, group.columns, depth);
    }
  }
  code.close(";");
}

LogicalResult ProductTiles::printResults(CodeWriter& code, KernelContext& context, size_t number,
                                         const std::string& exists,
                                         llvm::function_ref<std::string(size_t)> result) const {
  ProductRegion::Group& group = region.groups[number];
  code.format("const int column = (index - %d) * %d + inTile;", first(number), lines);
  code.openFormat("if (inTile < %d && column < %d%s)", lines, group.columns, exists);
  RegionPrinter printer(context, group.products.front().op.getType().getShape(), /*flat=*/false,
                        /*width=*/1);
  printer.moveTo(code, {"static_cast<long long>(m)", "column", ""});
  for (auto [index, product] : llvm::enumerate(group.products))
    printer.define(product.op.getResult(), result(index));
  for (Value yielded : group.yields)
    if (failed(printer.store(yielded)))
      return failure();
  code.close();
  return success();
}

std::vector<Access> ProductTiles::weights(KernelContext& context) const {
  std::vector<Access> weights;
  for (ProductRegion::Group& group : region.groups)
    for (ProductRegion::Product& product : group.products)
      weights.push_back(context.access(product.op.getWeight()));
  return weights;
}

std::optional<ProductSource> ProductSource::of(const ProductRegion::Input& input) {
  ProductSource source = {input.value, NormTerms::of(input.norm)};
  if (source.norm) {
    if (source.norm->op->getResult(0) != input.value ||
        !llvm::all_of(source.norm->operands, llvm::IsaPred<BlockArgument>))
      return std::nullopt;
    source.memory = source.norm->input;
  }
  return llvm::isa<BlockArgument>(source.memory) ? std::optional(source) : std::nullopt;
}

LogicalResult ProductTiles::check(llvm::StringRef emitter) const {
  Type element = elementTypeOf(region.first().getWeight().getType());
  for (ProductRegion::Group& group : region.groups)
    for (ProductRegion::Product& product : group.products) {
      MatmulShape shape(product.op);
      if (element.isF32() || elementTypeOf(product.op.getInput().getType()) != element ||
          elementTypeOf(product.op.getWeight().getType()) != element || shape.batches != 1 ||
          shape.rows > 16 || shape.depth % 8 != 0)
        return product.op.emitOpError("expects factors of one 16-bit type, one batch, at most 16 "
                                      "rows and a depth of a multiple of 8 for the emitter ")
               << emitter;
      if (product.op.getOrderAttr())
        return product.op.emitOpError("expects no order on tensor cores, but got ")
               << product.op.getOrderAttr();
    }
  return success();
}

} // namespace tenon::codegen::cuda
