#include "kernels/PartTile.h"

#include "kernels/cpu/CpuKernelKind.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace tenon::kernels {

PartTile PartTile::ofColumns(int64_t columns, RankedTensorType type) {
  int64_t total = type.getNumElements(), innermost = type.getShape().back();
  return columns < innermost ? PartTile{total != innermost, columns, total}
                             : PartTile{false, total, total};
}

Refusal refusePart(ScheduleAttr part) {
  return {"expects a part with tiles of rows or columns, but got " + typed::print(part)};
}

VerdictOr<PartTile> partTileOf(Operation* op, ScheduleAttr part) {
  for (const cpu::CpuKernelKind* kind : cpu::allCpuKinds())
    if (part && kind->name == part.getEmitter() && kind->tileOf)
      return kind->tileOf(op, part);
  return refusePart(part);
}

ScheduleAttr partOf(Operation* op) { return op->getAttrOfType<ScheduleAttr>(partAttrName); }

int64_t firstTileOf(Operation* op) {
  auto first = op->getAttrOfType<IntegerAttr>(firstTileAttrName);
  return first ? first.getInt() : 0;
}

} // namespace tenon::kernels
