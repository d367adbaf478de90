#ifndef TENON_FRONTENDS_MODELS_INTERNAL_HYPERPARAMETERS_H
#define TENON_FRONTENDS_MODELS_INTERNAL_HYPERPARAMETERS_H

#include <cstdint>

#include "absl/status/statusor.h"

#include "frontends/models/ModelSource.h"
#include "frontends/models/WindowedBlocks.h"

namespace tenon::frontends {

/// Which norm a family uses; it decides the metadata key of its epsilon.
enum class NormKind {
  Rms,  ///< `attention.layer_norm_rms_epsilon`; a weight
  Layer ///< `attention.layer_norm_epsilon`; a weight and a bias
};

/// Whether the feed-forward layers of a family are mixtures of experts.
enum class Experts {
  None,     ///< a file that states `expert_count` is refused
  Optional, ///< where a file states `expert_count`
  Required
};

/// What an encoder makes of the vectors of a text's tokens, by GGUF's numbers (`pooling_type`).
enum class Pooling : uint8_t {
  None = 0,
  Mean = 1,
  First = 2 ///< that of the first token, CLS
};

struct Architecture;

/// The sizes that all families share. Every one is positive and small enough for products of two
/// to fit an int64_t.
struct Hyperparameters {
  int64_t blocks = 0;
  int64_t hidden = 0;
  int64_t ffn = 0;
  int64_t vocabulary = 0;
  int64_t contextLength = 0; ///< positions the model was made for
  int64_t heads = 0;
  int64_t kvHeads = 0;    ///< divides `heads`
  int64_t headSize = 0;   ///< elements of a query or key head
  int64_t valueSize = 0;  ///< elements of a value head
  int64_t rotarySize = 0; ///< the elements of a head that are rotated: even, at most `headSize`
  double attentionScale = 0;
  double attentionSoftcap = 0; ///< of `tenon.attention`; 0: none
  double logitSoftcap = 0;     ///< logits become cap · tanh(logits / cap); 0: none
  double embeddingScale = 1;   ///< factor of the token embedding
  double residualScale = 1;    ///< factor of what a block's halves add to their input
  double logitScale = 1;       ///< factor of the logits
  double alibiBias = 0; ///< heads' slopes are powers of 2 down to that of −alibiBias; 0: none
  double clampQkv = 0;  ///< queries, keys and values lie in ± that; 0: anywhere
  int64_t window = 0;   ///< positions that windowed blocks look back; 0: all
  double normEpsilon = 0;
  int64_t experts = 0;       ///< of a mixture; 0: there is none
  int64_t chosenExperts = 0; ///< of each row
  int64_t expertFfn = 0;     ///< as `ffn`, of an expert
  int64_t sharedFfn = 0;     ///< of the expert that all rows share; 0: there is none
  /// Whether the weights of the chosen experts are divided by their sum.
  bool normalisesExperts = false;
  /// m: YaRN's magnitude 1 + 0.1 · ln factor is divided by 1 + 0.1 · m · ln factor.
  double yarnLogMultiplier = 0;
  Pooling pooling = Pooling::None; ///< of an encoder, which has one
  bool hasDraftHead = false;       ///< whether the file guesses the token after the next
};

/// Reads and checks them. Defaults as GGUF's specification and llama.cpp have them: as many KV
/// heads as heads, heads that share the hidden size evenly, all of a head rotated, attention scaled
/// by 1/√head size, no window, no soft-cap, no factors.
absl::StatusOr<Hyperparameters> readHyperparameters(const ModelSource& source,
                                                    const Architecture& architecture);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_HYPERPARAMETERS_H
