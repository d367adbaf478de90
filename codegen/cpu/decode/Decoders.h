#ifndef TENON_CODEGEN_CPU_DECODE_DECODERS_H
#define TENON_CODEGEN_CPU_DECODE_DECODERS_H

#include "codegen/cpu/decode/WeightDecoder.h"

namespace tenon::codegen::cpu::decoders {

/// The decoders, each defined in the file of its name; `WeightDecoder.cpp` lists them.
extern const WeightDecoder f32;
extern const WeightDecoder f16;
extern const WeightDecoder bf16;
extern const WeightDecoder q8_0;
extern const WeightDecoder q4_0;
extern const WeightDecoder q4_1;
extern const WeightDecoder q5_0;
extern const WeightDecoder q5_1;
extern const WeightDecoder q2_k;
extern const WeightDecoder q3_k;
extern const WeightDecoder q4_k;
extern const WeightDecoder q5_k;
extern const WeightDecoder q6_k;
extern const WeightDecoder iq4_nl;
extern const WeightDecoder q8_s;
extern const WeightDecoder q8_k;

} // namespace tenon::codegen::cpu::decoders

#endif // TENON_CODEGEN_CPU_DECODE_DECODERS_H
