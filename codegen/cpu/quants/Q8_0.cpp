#include "codegen/cpu/quants/WeightQuants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::quants {

/// Signed bytes after the scale; 128 more makes them unsigned: the top bit changes.
static void unpackQuants(VectorBuilder& b, Value block, Value target) {
  constexpr int64_t quantsAt = 2, count = 32;
  Value bytes = loadBytes(b, b.advance(block, quantsAt), count);
  auto type = llvm::cast<VectorType>(bytes.getType());
  Value top = arith::ConstantOp::create(
      b, SplatElementsAttr::get(type, b.getIntegerAttr(b.getI8Type(), -128)));
  b.store(arith::XOrIOp::create(b, bytes, top), target);
}

extern constexpr WeightQuants q8_0 = {
    .encoding = "q8_0", .largest = 255, .zeroPoint = 128, .unpackQuants = unpackQuants};

} // namespace tenon::codegen::cpu::quants
