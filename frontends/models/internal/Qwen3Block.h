#ifndef TENON_FRONTENDS_MODELS_INTERNAL_QWEN3BLOCK_H
#define TENON_FRONTENDS_MODELS_INTERNAL_QWEN3BLOCK_H

#include "frontends/models/internal/ModelGraph.h"

namespace tenon::frontends {

/// A block of Qwen3 (architectures/Qwen3.cpp), with a mixture of experts where the file has one.
Value buildQwen3Block(ModelGraph& graph, Value x);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_QWEN3BLOCK_H
