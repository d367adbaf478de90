#include "codegen/cpu/IntegerDot.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::codegen::cpu {

VectorType i32s(VectorBuilder& b) { return VectorType::get({b.nativeLanes()}, b.getI32Type()); }

Value splatDword(VectorBuilder& b, Value pointer) {
  return b.splat(b.load(b.getI32Type(), pointer), b.nativeLanes());
}

/// A native vector of integers of `bits`.
static VectorType ints(VectorBuilder& b, int64_t bits) {
  return VectorType::get({b.nativeLanes() * 32 / bits}, b.getIntegerType(bits));
}

static Value as(VectorBuilder& b, Value vector, int64_t bits) {
  return vector::BitCastOp::create(b, ints(b, bits), vector);
}

static Value constant(VectorBuilder& b, int64_t bits, int64_t value) {
  Attribute element = b.getIntegerAttr(b.getIntegerType(bits), value);
  return arith::ConstantOp::create(b, SplatElementsAttr::get(ints(b, bits), element));
}

Value integerSplat(VectorBuilder& b, int64_t value) { return constant(b, 32, value); }

/// Calls the intrinsic of that name for vectors of 256 or of 512 bits.
static Value call(VectorBuilder& b, llvm::StringRef for256, llvm::StringRef for512, Type result,
                  ValueRange operands) {
  constexpr int64_t zmmLanes = 16;
  auto name = b.getStringAttr(b.nativeLanes() == zmmLanes ? for512 : for256);
  return LLVM::CallIntrinsicOp::create(b, result, name, operands).getResult(0);
}

static Value multiplyAddShorts(VectorBuilder& b, Value x, Value y) {
  return call(b, "llvm.x86.avx2.pmadd.wd", "llvm.x86.avx512.pmaddw.d.512", i32s(b), {x, y});
}

/// Products of bytes, added in pairs to 16 bits, added in pairs to 32 bits.
static Value dotByPairs(VectorBuilder& b, Value unsignedBytes, Value signedBytes) {
  Value pairs = call(b, "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx512.pmaddubs.w.512", ints(b, 16),
                     {unsignedBytes, signedBytes});
  return multiplyAddShorts(b, pairs, constant(b, 16, 1));
}

Value dotBytes(VectorBuilder& b, Value sums, Value quants, Value bytes, int64_t largest) {
  constexpr int64_t largestInPairs = 128; // 2 · 128 · 127 < 2^15
  quants = as(b, quants, 8), bytes = as(b, bytes, 8);
  if (b.hasVnni())
    return call(b, "llvm.x86.avx512.vpdpbusd.256", "llvm.x86.avx512.vpdpbusd.512", i32s(b),
                {sums, quants, bytes});
  if (largest <= largestInPairs)
    return b.add(sums, dotByPairs(b, quants, bytes));
  Value half = arith::ShRUIOp::create(b, quants, constant(b, 8, 1));
  Value rest = b.sub(quants, half);
  return b.add(b.add(sums, dotByPairs(b, half, bytes)), dotByPairs(b, rest, bytes));
}

Value dotShorts(VectorBuilder& b, Value sums, Value x, Value y) {
  return b.add(sums, multiplyAddShorts(b, as(b, x, 16), as(b, y, 16)));
}

} // namespace tenon::codegen::cpu
