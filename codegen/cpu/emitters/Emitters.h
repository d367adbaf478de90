#ifndef TENON_CODEGEN_CPU_EMITTERS_EMITTERS_H
#define TENON_CODEGEN_CPU_EMITTERS_EMITTERS_H

#include "codegen/cpu/Emitter.h"

namespace tenon::codegen::cpu::emitters {

/// The emitters, each defined in the file of its name; `Emitter.cpp` lists them.
extern const Emitter argmax;
extern const Emitter attention;
extern const Emitter copy;
extern const Emitter dequantize;
extern const Emitter elementwise;
extern const Emitter embedding;
extern const Emitter kvWrite;
extern const Emitter layerNorm;
extern const Emitter matmul;
extern const Emitter packedMatmul;
extern const Emitter quantize;
extern const Emitter quantizedMatmul;
extern const Emitter reduce;
extern const Emitter rmsNorm;
extern const Emitter rope;
extern const Emitter sequence;
extern const Emitter softmax;
extern const Emitter topK;

} // namespace tenon::codegen::cpu::emitters

#endif // TENON_CODEGEN_CPU_EMITTERS_EMITTERS_H
