#include "codegen/cpu/decode/Decoders.h"
#include "codegen/cpu/decode/Quants.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// The levels of the format, ggml's `kvalues_iq4nl`.
static constexpr int32_t levels[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                       1,    13,   25,  38,  53,  69,  89,  113};

/// levels[nibble] as f32. Where no instruction looks up 16 values: a tree of selections by the bits
/// of the nibble.
static Value lookUpLevels(VectorBuilder& b, Value nibbles, int64_t count) {
  if (b.hasLookUp() && count == 16)
    return b.lookUp(toFloats(b, integers(b, levels)), nibbles);
  llvm::SmallVector<Value> candidates;
  for (int32_t level : levels)
    candidates.push_back(integers(b, llvm::SmallVector<int32_t>(count, level)));
  Value zero = integers(b, llvm::SmallVector<int32_t>(count, 0));
  for (int64_t bit = 0; candidates.size() > 1; ++bit) {
    Value isSet =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, extractBits(b, nibbles, bit, 1), zero);
    llvm::SmallVector<Value> chosen;
    for (size_t i = 0; i < candidates.size(); i += 2)
      chosen.push_back(b.select(isSet, candidates[i + 1], candidates[i]));
    candidates = std::move(chosen);
  }
  return toFloats(b, candidates.front());
}

/// ggml's `block_iq4_nl`, see `ir/encoding/Iq4_NL.cpp`: scale · level, exact in f32.
static Value decodeIq4Nl(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 2, run = 16;
  if (count > run)
    return b.concat(decodeIq4Nl(b, block, 0, run), decodeIq4Nl(b, block, run, run));
  Value nibbles = PackedBits{4, run}.load(b, b.advance(block, quantsAt), first, count);
  return b.fmul(lookUpLevels(b, nibbles, count), b.splatF16(block, count));
}

const WeightDecoder iq4_nl = {"iq4_nl", decodeIq4Nl};

} // namespace tenon::codegen::cpu::decoders
