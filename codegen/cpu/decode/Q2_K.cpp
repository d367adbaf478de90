#include "codegen/cpu/decode/SuperBlock.h"
#include "codegen/cpu/decode/WeightDecoder.h"

using namespace mlir;

namespace tenon::codegen::cpu::decoders {

/// ggml's `block_q2_K`, see `ir/encoding/Q2_K.cpp`: scale · quant − minimum, rounded once.
static Value decodeQ2K(VectorBuilder& b, Value block, int64_t first, int64_t count) {
  constexpr int64_t quantsAt = 16, scaleAt = 80, minimumAt = 82, groupSize = 16, groups = 16;
  Value bytes = loadUnsignedBytes(b, block, groups);
  Value scales = b.fmul(toFloats(b, extractBits(b, bytes, 0, 4)),
                        b.splatLastF16(b.advance(block, scaleAt), groups));
  Value minimums = b.fmul(toFloats(b, extractBits(b, bytes, 4, 4)),
                          b.splatLastF16(b.advance(block, minimumAt), groups));
  Value offsets = b.fmul(minimums, b.splat(-1.0f, groups));
  return decodeByGroups(b, groupSize, first, count, [&](int64_t start, int64_t part) {
    Value quants = PackedBits{2, 32}.load(b, b.advance(block, quantsAt), start, part);
    return b.fma(toFloats(b, quants), splatLane(b, scales, start / groupSize, part),
                 splatLane(b, offsets, start / groupSize, part));
  });
}

extern constexpr WeightDecoder q2_k = {"q2_k", decodeQ2K};

} // namespace tenon::codegen::cpu::decoders
