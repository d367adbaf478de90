#include "codegen/cpu/VectorBuilder.h"

#include <numeric>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace tenon::codegen::cpu {

int64_t elementBytes(Type element) { return getEncoding(element)->blockBytes; }

// Integers

Value VectorBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value VectorBuilder::i32(int32_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value VectorBuilder::add(Value a, Value b) { return createOrFold<arith::AddIOp>(a, b); }
Value VectorBuilder::sub(Value a, Value b) { return createOrFold<arith::SubIOp>(a, b); }
Value VectorBuilder::mul(Value a, Value b) { return createOrFold<arith::MulIOp>(a, b); }
Value VectorBuilder::add(Value a, int64_t b) { return add(a, i64(b)); }
Value VectorBuilder::mul(Value a, int64_t b) { return mul(a, i64(b)); }
Value VectorBuilder::div(Value a, int64_t b) { return createOrFold<arith::DivUIOp>(a, i64(b)); }
Value VectorBuilder::rem(Value a, int64_t b) { return createOrFold<arith::RemUIOp>(a, i64(b)); }
Value VectorBuilder::min(Value a, Value b) { return createOrFold<arith::MinSIOp>(a, b); }
Value VectorBuilder::max(Value a, Value b) { return createOrFold<arith::MaxSIOp>(a, b); }

Value VectorBuilder::isBelow(Value value, int64_t bound) {
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::ult, value, i64(bound));
}

// Memory

Value VectorBuilder::advance(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             llvm::ArrayRef<LLVM::GEPArg>{bytes});
}

Value VectorBuilder::advance(Value pointer, int64_t bytes) {
  return bytes == 0 ? pointer : advance(pointer, i64(bytes));
}

Value VectorBuilder::load(Type type, Value pointer) {
  return LLVM::LoadOp::create(*this, type, pointer, /*alignment=*/1);
}

void VectorBuilder::store(Value value, Value pointer) {
  LLVM::StoreOp::create(*this, value, pointer, /*alignment=*/1);
}

Value VectorBuilder::loadIndex(Value pointer, Value index) {
  return loadIndex(getI32Type(), pointer, index);
}

Value VectorBuilder::loadIndex(Type element, Value pointer, Value index) {
  return loadFloat(element, advance(pointer, mul(index, elementBytes(element))));
}

Value VectorBuilder::scratch(int64_t bytes) {
  OpBuilder::InsertionGuard guard(*this);
  Operation* parent = getInsertionBlock()->getParentOp();
  auto function = llvm::dyn_cast<FunctionOpInterface>(parent);
  if (!function)
    function = parent->getParentOfType<FunctionOpInterface>();
  setInsertionPointToStart(&function.getFunctionBody().front());
  return LLVM::AllocaOp::create(*this, LLVM::LLVMPointerType::get(getContext()), getI8Type(),
                                i64(bytes), /*alignment=*/64);
}

void VectorBuilder::copy(Value target, Value source, Value bytes) {
  LLVM::MemcpyOp::create(*this, target, source, bytes, /*isVolatile=*/false);
}

void VectorBuilder::prefetch(Value pointer, Keep keep) {
  // Locality 0 is x86's `prefetchnta`, 2 is `prefetcht1`.
  constexpr unsigned read = 0, data = 1;
  unsigned locality = keep == Keep::Once ? 0 : 2;
  LLVM::Prefetch::create(*this, pointer, read, locality, data);
}

// f32 vectors

VectorType VectorBuilder::f32s(int64_t lanes) { return VectorType::get({lanes}, getF32Type()); }

Value VectorBuilder::splat(float value, int64_t lanes) {
  Type type = getF32Type();
  return detail::buildSplat(*this, getLoc(), lanes == 0 ? type : f32s(lanes), value);
}

Value VectorBuilder::zeros(Type element, int64_t lanes) {
  Type type = detail::computedType(element);
  if (lanes != 0)
    type = VectorType::get({lanes}, type);
  return arith::ConstantOp::create(*this, getZeroAttr(type));
}

Value VectorBuilder::splat(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(*this, VectorType::get({lanes}, scalar.getType()), scalar);
}

Value VectorBuilder::fadd(Value a, Value b) { return arith::AddFOp::create(*this, a, b); }
Value VectorBuilder::fsub(Value a, Value b) { return arith::SubFOp::create(*this, a, b); }
Value VectorBuilder::fmul(Value a, Value b) { return arith::MulFOp::create(*this, a, b); }
Value VectorBuilder::fdiv(Value a, Value b) { return arith::DivFOp::create(*this, a, b); }
Value VectorBuilder::fma(Value a, Value b, Value c) { return math::FmaOp::create(*this, a, b, c); }
Value VectorBuilder::exp(Value x) { return math::ExpOp::create(*this, x); }
Value VectorBuilder::tanh(Value x) { return math::TanhOp::create(*this, x); }
Value VectorBuilder::sqrt(Value x) { return math::SqrtOp::create(*this, x); }

Value VectorBuilder::fmax(Value a, Value b) {
  return select(arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b), a, b);
}

Value VectorBuilder::fmin(Value a, Value b) {
  return select(arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, a, b), a, b);
}

Value VectorBuilder::slice(Value vector, int64_t first, int64_t count) {
  int64_t length = llvm::cast<VectorType>(vector.getType()).getNumElements();
  if (first == 0 && count == length)
    return vector;
  return vector::ExtractStridedSliceOp::create(*this, vector, llvm::ArrayRef<int64_t>{first},
                                               llvm::ArrayRef<int64_t>{count},
                                               llvm::ArrayRef<int64_t>{1});
}

Value VectorBuilder::concat(Value a, Value b) {
  int64_t length = llvm::cast<VectorType>(a.getType()).getNumElements();
  llvm::SmallVector<int64_t> mask(2 * length);
  std::iota(mask.begin(), mask.end(), 0);
  return vector::ShuffleOp::create(*this, a, b, mask);
}

Value VectorBuilder::pad(Value vector, int64_t lanes) {
  auto type = llvm::cast<VectorType>(vector.getType());
  int64_t length = type.getNumElements();
  if (length == lanes)
    return vector;
  auto zeros = arith::ConstantOp::create(*this, getZeroAttr(type));
  llvm::SmallVector<int64_t> mask(lanes, length);
  std::iota(mask.begin(), mask.begin() + length, 0);
  return vector::ShuffleOp::create(*this, vector, zeros, mask);
}

Value VectorBuilder::keepTail(Value updated, Value previous, int64_t count) {
  auto type = llvm::cast<VectorType>(updated.getType());
  int64_t lanes = type.getNumElements();
  if (count == lanes)
    return updated;
  llvm::SmallVector<bool> mask(lanes);
  std::fill_n(mask.begin(), count, true);
  auto maskType = VectorType::get({lanes}, getI1Type());
  return select(arith::ConstantOp::create(*this, DenseElementsAttr::get(maskType, mask)), updated,
                previous);
}

Value VectorBuilder::lookUp(Value table, Value indices) {
  auto intrinsic = getStringAttr("llvm.x86.avx512.permvar.sf.512");
  return LLVM::CallIntrinsicOp::create(*this, table.getType(), intrinsic,
                                       ValueRange{table, indices})
      .getResult(0);
}

Value VectorBuilder::lane(Value vector, int64_t lane) {
  return vector::ExtractOp::create(*this, vector, lane);
}

// Elements of tensors of plain types

using detail::withElement;

/// bf16 is handled as its bits: LLVM would call a library function to round to it. A bool is a
/// byte.
static Type storedType(Type element) {
  if (element.isBF16() || element.isInteger(1))
    return IntegerType::get(element.getContext(), element.isBF16() ? 16 : 8);
  return element;
}

static Value integerSplat(VectorBuilder& b, Type type, int64_t value) {
  if (auto vector = llvm::dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(
        b, SplatElementsAttr::get(vector, b.getIntegerAttr(vector.getElementType(), value)));
  return arith::ConstantOp::create(b, b.getIntegerAttr(type, value));
}

/// `stored` as i64: a byte of a bool is true unless it is 0.
static Value widenInteger(VectorBuilder& b, Value stored, Type element) {
  Type wide = withElement(stored.getType(), b.getI64Type());
  if (!element.isInteger(1))
    return arith::ExtSIOp::create(b, wide, stored);
  Value holds = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stored,
                                      integerSplat(b, stored.getType(), 0));
  return arith::ExtUIOp::create(b, wide, holds);
}

Value VectorBuilder::widen(Value stored, Type element) {
  if (element.isF32() || element.isInteger(64))
    return stored;
  if (element.isInteger())
    return widenInteger(*this, stored, element);
  Type wide = withElement(stored.getType(), getF32Type());
  if (element.isF16())
    return arith::ExtFOp::create(*this, wide, stored);
  Type bits = withElement(wide, getI32Type());
  Value extended = arith::ExtUIOp::create(*this, bits, stored);
  Value shifted = arith::ShLIOp::create(*this, extended, integerSplat(*this, bits, 16));
  return arith::BitcastOp::create(*this, wide, shifted);
}

/// Rounds f32 to bf16 as integers: add half a unit, less one if the kept part is even; the carry
/// of the largest finite numbers gives infinity as it should. NaN stays NaN.
static Value narrowToBf16(VectorBuilder& b, Value value) {
  Type bitsType = withElement(value.getType(), b.getI32Type());
  Value bits = arith::BitcastOp::create(b, bitsType, value);
  Value sixteen = integerSplat(b, bitsType, 16);
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, sixteen),
                                    integerSplat(b, bitsType, 1));
  Value bias = arith::AddIOp::create(b, odd, integerSplat(b, bitsType, 0x7fff));
  Value rounded = arith::AddIOp::create(b, bits, bias);
  Value quiet = arith::OrIOp::create(b, bits, integerSplat(b, bitsType, 0x400000));
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, value, value);
  Value chosen = b.select(isNan, quiet, rounded);
  return arith::TruncIOp::create(b, withElement(bitsType, b.getI16Type()),
                                 arith::ShRUIOp::create(b, chosen, sixteen));
}

Value VectorBuilder::narrow(Value value, Type element) {
  if (element.isF32() || element.isInteger(64))
    return value;
  if (element.isInteger())
    return arith::TruncIOp::create(*this, withElement(value.getType(), storedType(element)), value);
  if (element.isBF16())
    return narrowToBf16(*this, value);
  return arith::TruncFOp::create(*this, withElement(value.getType(), element), value);
}

/// Number `index` of the four f16 numbers at `pointer`, in `count` lanes.
static Value splatOneOfFour(VectorBuilder& b, Value pointer, int64_t index, int64_t count) {
  constexpr int64_t converted = 4;
  Value four = b.loadFloats(b.getF16Type(), pointer, converted, converted);
  llvm::SmallVector<int64_t> mask(count, index);
  return vector::ShuffleOp::create(b, four, four, mask);
}

Value VectorBuilder::splatF16(Value pointer, int64_t count) {
  return splatOneOfFour(*this, pointer, 0, count);
}

Value VectorBuilder::splatLastF16(Value pointer, int64_t count) {
  return splatOneOfFour(*this, advance(pointer, -6), 3, count);
}

Value VectorBuilder::roundTo(Value value, Type element) {
  return widen(narrow(value, element), element);
}

Value VectorBuilder::loadFloats(Type element, Value pointer, int64_t count, int64_t lanes) {
  return pad(widen(load(VectorType::get({count}, storedType(element)), pointer), element), lanes);
}

void VectorBuilder::storeFloats(Value vector, Type element, Value pointer, int64_t count) {
  store(slice(narrow(vector, element), 0, count), pointer);
}

Value VectorBuilder::loadFloat(Type element, Value pointer) {
  return widen(load(storedType(element), pointer), element);
}

void VectorBuilder::storeFloat(Value scalar, Type element, Value pointer) {
  store(narrow(scalar, element), pointer);
}

// Control

llvm::SmallVector<Value> VectorBuilder::loop(Value first, Value end, int64_t step, ValueRange state,
                                             LoopBody body) {
  auto loop = scf::ForOp::create(*this, first, end, i64(step), state);
  OpBuilder::InsertionGuard guard(*this);
  // The loop has its terminator already where there is no state.
  if (state.empty())
    setInsertionPoint(loop.getBody()->getTerminator());
  else
    setInsertionPointToStart(loop.getBody());
  llvm::SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!state.empty())
    scf::YieldOp::create(*this, next);
  return llvm::SmallVector<Value>(loop.getResults());
}

void VectorBuilder::loop(Value first, Value end, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  loop(first, end, step, ValueRange(), [&](Value index, ValueRange) {
    body(index);
    return llvm::SmallVector<Value>();
  });
}

void VectorBuilder::branch(Value condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(branch.thenBlock());
  then();
  if (!otherwise)
    return;
  setInsertionPointToStart(branch.elseBlock());
  otherwise();
}

Value VectorBuilder::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(*this, condition, a, b);
}

llvm::SmallVector<Value> VectorBuilder::forVectors(int64_t length, int64_t lanes, ValueRange state,
                                                   VectorBody body) {
  int64_t whole = length / lanes * lanes;
  llvm::SmallVector<Value> current(state);
  if (whole == lanes)
    current = body(i64(0), lanes, current);
  else if (whole > 0)
    current = loop(i64(0), i64(whole), lanes, current,
                   [&](Value first, ValueRange args) { return body(first, lanes, args); });
  if (whole < length)
    current = body(i64(whole), length - whole, current);
  return current;
}

void VectorBuilder::forVectors(int64_t length, int64_t lanes,
                               llvm::function_ref<void(Value, int64_t)> body) {
  forVectors(length, lanes, ValueRange(), [&](Value first, int64_t count, ValueRange) {
    body(first, count);
    return llvm::SmallVector<Value>();
  });
}

// Reductions

Value VectorBuilder::combineLanes(Value vector, CombineTree tree) {
  int64_t lanes = llvm::cast<VectorType>(vector.getType()).getNumElements();
  if (tree == CombineTree::Halving) {
    for (; lanes > 1; lanes /= 2)
      vector = fadd(slice(vector, 0, lanes / 2), slice(vector, lanes / 2, lanes / 2));
    return lane(vector, 0);
  }
  Value sum = lane(vector, 0);
  for (int64_t i = 1; i < lanes; ++i)
    sum = fadd(sum, lane(vector, i));
  return sum;
}

Value VectorBuilder::combineEach(llvm::SmallVector<Value> vectors) {
  int64_t lanes = vectors.size();
  // Each vector holds the partial sums of lanes / width of those given, `width` of each.
  for (int64_t width = lanes; width > 1; width /= 2) {
    llvm::SmallVector<int64_t> lower, upper;
    for (int64_t start = 0; start < 2 * lanes; start += width)
      for (int64_t i = 0; i < width / 2; ++i)
        lower.push_back(start + i), upper.push_back(start + width / 2 + i);
    llvm::SmallVector<Value> merged;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      auto pick = [&](llvm::ArrayRef<int64_t> mask) {
        return vector::ShuffleOp::create(*this, vectors[i], vectors[i + 1], mask);
      };
      merged.push_back(fadd(pick(lower), pick(upper)));
    }
    vectors = merged;
  }
  return vectors[0];
}

Value VectorBuilder::greatestLane(Value vector) {
  int64_t lanes = llvm::cast<VectorType>(vector.getType()).getNumElements();
  for (; lanes > 1; lanes /= 2)
    vector = fmax(slice(vector, 0, lanes / 2), slice(vector, lanes / 2, lanes / 2));
  return lane(vector, 0);
}

Value VectorBuilder::orderedSum(OrderAttr order, int64_t length, AddTerms add) {
  int64_t lanes = order.getLanes();
  auto chunkSum = [&](Value start, int64_t elements) {
    Value zeros = splat(0.0f, lanes);
    Value accumulator =
        forVectors(elements, lanes, zeros, [&](Value first, int64_t count, ValueRange state) {
          Value updated = add(state[0], this->add(start, first), count);
          return llvm::SmallVector<Value>{keepTail(updated, state[0], count)};
        })[0];
    return combineLanes(accumulator, order.getTree());
  };
  int64_t chunk = order.getChunk();
  if (chunk == 0 || chunk >= length)
    return chunkSum(i64(0), length);
  int64_t whole = length / chunk * chunk;
  // −0 + x is x for every x.
  Value total = loop(i64(0), i64(whole), chunk, splat(-0.0f, 0), [&](Value start, ValueRange sum) {
    return llvm::SmallVector<Value>{fadd(sum[0], chunkSum(start, chunk))};
  })[0];
  return whole == length ? total : fadd(total, chunkSum(i64(whole), length - whole));
}

} // namespace tenon::codegen::cpu
