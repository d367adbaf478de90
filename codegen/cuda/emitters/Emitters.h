#ifndef TENON_CODEGEN_CUDA_EMITTERS_EMITTERS_H
#define TENON_CODEGEN_CUDA_EMITTERS_EMITTERS_H

#include "codegen/cuda/Emitter.h"

namespace tenon::codegen::cuda::emitters {

/// The emitters, each defined in the file of its name; `Emitter.cpp` lists them.
extern const Emitter argmax;
extern const Emitter copy;
extern const Emitter decodeAttention;
extern const Emitter elementwise;
extern const Emitter gemm;
extern const Emitter gemv;
extern const Emitter gemvBulk;
extern const Emitter headRows;
extern const Emitter heads;
extern const Emitter kvWrite;
extern const Emitter layerNorm;
extern const Emitter narrowGemm;
extern const Emitter heldGemm;
extern const Emitter hopperAttention;
extern const Emitter hopperGemm;
extern const Emitter reduce;
extern const Emitter rmsNorm;
extern const Emitter rope;
extern const Emitter softmax;
extern const Emitter tensorDecodeAttention;
extern const Emitter tensorGemm;
extern const Emitter tensorPrefillAttention;
extern const Emitter topK;

} // namespace tenon::codegen::cuda::emitters

#endif // TENON_CODEGEN_CUDA_EMITTERS_EMITTERS_H
