#ifndef TENON_FRONTENDS_MODELS_INTERNAL_GEMMAEMBEDDING_H
#define TENON_FRONTENDS_MODELS_INTERNAL_GEMMAEMBEDDING_H

#include "frontends/models/internal/ModelGraph.h"

namespace tenon::frontends {

/// The token embedding times √hidden, as all of the Gemma family have it; the model's own code rounds
/// the root to the activation type.
Value buildGemmaEmbedding(ModelGraph& graph);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_GEMMAEMBEDDING_H
