#include "codegen/cuda/emitters/ProductTiles.h"

#include "codegen/cuda/emitters/MatmulShape.h"

using namespace mlir;

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
