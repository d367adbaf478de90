#ifndef TENON_CODEGEN_CPU_VECTORBUILDER_H
#define TENON_CODEGEN_CPU_VECTORBUILDER_H

#include "ir/Dialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::codegen::cpu {

/// Builds the code that kernels are made of: i64 address arithmetic, unaligned loads and stores of
/// short vectors, f32 arithmetic on vectors of a fixed number of lanes, loops, and reductions in
/// exactly the order of `#tenon.order`.
///
/// Values of every float element type are widened to f32 when loaded and rounded once when stored,
/// those of integers and bools to i64 and to their lower bits.
/// A vector that holds fewer elements than lanes, the tail of a row, is loaded and stored in
/// exactly its elements: nothing outside a tensor is touched. Its other lanes hold zeros after a
/// load and anything after arithmetic.
class VectorBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// For a target whose vectors hold `lanes` f32; `hasVnni` says that it has `vpdpbusd` for them.
  VectorBuilder(mlir::Location location, mlir::MLIRContext* context, int64_t lanes, bool hasVnni)
      : ImplicitLocOpBuilder(location, context), lanesOfTarget(lanes), vnni(hasVnni) {}

  /// f32 elements in a native vector of the target.
  int64_t nativeLanes() const { return lanesOfTarget; }
  /// True on targets that multiply four bytes and add them to an i32 in one instruction.
  bool hasVnni() const { return vnni; }

  // Integers
  mlir::Value i64(int64_t value);
  mlir::Value i32(int32_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, int64_t b);
  mlir::Value mul(mlir::Value a, int64_t b);
  /// a / b and a mod b for a ≥ 0, b > 0.
  mlir::Value div(mlir::Value a, int64_t b);
  mlir::Value rem(mlir::Value a, int64_t b);
  /// The signed minimum and maximum.
  mlir::Value min(mlir::Value a, mlir::Value b);
  mlir::Value max(mlir::Value a, mlir::Value b);
  /// True where 0 ≤ value < bound, for i64.
  mlir::Value isBelow(mlir::Value value, int64_t bound);

  // Memory
  /// `pointer` + `bytes`.
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);
  mlir::Value advance(mlir::Value pointer, int64_t bytes);
  /// Loads and stores of any LLVM-compatible type at any address.
  mlir::Value load(mlir::Type type, mlir::Value pointer);
  void store(mlir::Value value, mlir::Value pointer);
  /// Element `index` (i64) of the i32 array at `pointer`, sign-extended to i64.
  mlir::Value loadIndex(mlir::Value pointer, mlir::Value index);
  /// The same of an array of `element`, i32 or i64.
  mlir::Value loadIndex(mlir::Type element, mlir::Value pointer, mlir::Value index);
  /// `bytes` of stack, aligned to 64, allocated once per call of the kernel.
  mlir::Value scratch(int64_t bytes);
  /// Copies `bytes` (i64) from `source` to `target`, which do not overlap.
  void copy(mlir::Value target, mlir::Value source, mlir::Value bytes);
  /// Where a prefetched line goes: to be read once, or into the second-level cache.
  enum class Keep { Once, SecondLevel };
  /// Asks for the cache line at `pointer`.
  void prefetch(mlir::Value pointer, Keep keep = Keep::Once);

  // f32 vectors
  mlir::VectorType f32s(int64_t lanes);
  /// A vector of `lanes` times `value`; a scalar if `lanes` is 0.
  mlir::Value splat(float value, int64_t lanes);
  /// What 0 is in values of that element type, in a vector of `lanes`; a scalar if `lanes` is 0.
  mlir::Value zeros(mlir::Type element, int64_t lanes);
  mlir::Value splat(mlir::Value scalar, int64_t lanes);
  mlir::Value fadd(mlir::Value a, mlir::Value b);
  mlir::Value fsub(mlir::Value a, mlir::Value b);
  mlir::Value fmul(mlir::Value a, mlir::Value b);
  mlir::Value fdiv(mlir::Value a, mlir::Value b);
  /// a · b + c, rounded once.
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c);
  /// a > b ? a : b; b where either is NaN.
  mlir::Value fmax(mlir::Value a, mlir::Value b);
  mlir::Value fmin(mlir::Value a, mlir::Value b);
  mlir::Value exp(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);

  /// The elements [first, first + count) of `vector`.
  mlir::Value slice(mlir::Value vector, int64_t first, int64_t count);
  /// `a` followed by `b`, vectors of one length.
  mlir::Value concat(mlir::Value a, mlir::Value b);
  /// `lanes` elements, the first of which are those of `vector` and the others zero.
  mlir::Value pad(mlir::Value vector, int64_t lanes);
  /// `updated` in the first `count` lanes and `previous` in the others.
  mlir::Value keepTail(mlir::Value updated, mlir::Value previous, int64_t count);
  /// True on targets with an instruction for `lookUp`.
  bool hasLookUp() const { return lanesOfTarget >= 16; }
  /// table[indices mod 16], lane by lane: `table` 16 f32, `indices` 16 i32 of any value.
  mlir::Value lookUp(mlir::Value table, mlir::Value indices);
  /// The scalar in lane `lane`.
  mlir::Value lane(mlir::Value vector, int64_t lane);

  // Elements of tensors of plain types: floats as f32, integers and bools as i64
  /// `count` elements of type `element` at `pointer`, padded to `lanes`.
  mlir::Value loadFloats(mlir::Type element, mlir::Value pointer, int64_t count, int64_t lanes);
  /// Rounds the first `count` lanes to `element` and stores them.
  void storeFloats(mlir::Value vector, mlir::Type element, mlir::Value pointer, int64_t count);
  /// One element as a scalar, and back.
  mlir::Value loadFloat(mlir::Type element, mlir::Value pointer);
  void storeFloat(mlir::Value scalar, mlir::Type element, mlir::Value pointer);
  /// The f16 number at `pointer` in `count` lanes. Reads 8 bytes: a conversion of four elements in
  /// memory is one instruction on x86, that of one element three, the first of which waits for
  /// whatever was in the register before.
  mlir::Value splatF16(mlir::Value pointer, int64_t count);
  /// The same for a number after which the block may end: reads the 6 bytes before it too.
  mlir::Value splatLastF16(mlir::Value pointer, int64_t count);
  /// f32 rounded to `element`, to nearest even, and widened again, or i64 cut to its lower bits;
  /// scalars or vectors.
  mlir::Value roundTo(mlir::Value value, mlir::Type element);
  /// Widens `element`s, a scalar or a vector as loaded (bf16 as i16, i1 as i8), to f32 or i64, and
  /// back. Of an i1 the i64 is 0 or 1.
  mlir::Value widen(mlir::Value stored, mlir::Type element);
  mlir::Value narrow(mlir::Value value, mlir::Type element);

  // Control
  using LoopBody =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange state)>;
  /// for (i = first; i < end; i += step) state = body(i, state); returns the last state.
  llvm::SmallVector<mlir::Value> loop(mlir::Value first, mlir::Value end, int64_t step,
                                      mlir::ValueRange state, LoopBody body);
  /// The same without state.
  void loop(mlir::Value first, mlir::Value end, int64_t step,
            llvm::function_ref<void(mlir::Value index)> body);
  /// Runs `then` where `condition` holds, otherwise `otherwise` (which may be null).
  void branch(mlir::Value condition, llvm::function_ref<void()> then,
              llvm::function_ref<void()> otherwise = nullptr);
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);

  /// Visits [0, length) in vectors: a loop over whole vectors, then once for the rest. `body` gets
  /// the first element (i64), how many there are (at most `lanes`), and the state.
  using VectorBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value first, int64_t count, mlir::ValueRange state)>;
  llvm::SmallVector<mlir::Value> forVectors(int64_t length, int64_t lanes, mlir::ValueRange state,
                                            VectorBody body);
  /// The same without state.
  void forVectors(int64_t length, int64_t lanes,
                  llvm::function_ref<void(mlir::Value first, int64_t count)> body);

  // Reductions
  /// The sum of the lanes by `tree`: halving adds lane i + n/2 to lane i, then n/4, …
  mlir::Value combineLanes(mlir::Value vector, CombineTree tree);
  /// `combineLanes` by halving of each of `vectors`, as many as a vector has lanes, a power of two:
  /// sum i in lane i. Each step adds the halves of two vectors at once.
  mlir::Value combineEach(llvm::SmallVector<mlir::Value> vectors);
  /// The largest lane; unspecified where one is NaN.
  mlir::Value greatestLane(mlir::Value vector);
  /// Σ term(k), k in [0, length), in the order given. `add` adds `count` terms from element `first`
  /// (i64) on to the accumulator, a vector of `order.lanes`.
  using AddTerms =
      llvm::function_ref<mlir::Value(mlir::Value accumulator, mlir::Value first, int64_t count)>;
  mlir::Value orderedSum(OrderAttr order, int64_t length, AddTerms add);

private:
  int64_t lanesOfTarget;
  bool vnni;
};

/// Bytes of an element of a tensor of a plain type.
int64_t elementBytes(mlir::Type element);

} // namespace tenon::codegen::cpu

#endif // TENON_CODEGEN_CPU_VECTORBUILDER_H
