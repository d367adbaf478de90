#ifndef TENON_FRONTENDS_MODELS_ARCHITECTURE_H
#define TENON_FRONTENDS_MODELS_ARCHITECTURE_H

#include <optional>
#include <span>
#include <string_view>

#include "absl/status/status.h"

#include "frontends/models/internal/ModelGraph.h"

namespace tenon::frontends {

/// What a model family adds to the common import: a file `architectures/<Family>.cpp` that defines
/// `<family>Architecture`, which the build finds there.
struct Architecture {
  /// The canonical name, GGUF's `general.architecture`.
  std::string_view name;
  NormKind norm;
  /// Which elements of Q and K rotate together in the canonical layout; none where positions enter in another way.
  std::optional<RopePairing> pairing;
  /// Whether a file without `output.weight` uses the token embedding in its place.
  bool mayTieOutput;
  /// Whether the output layer has a bias, `output.bias`.
  bool hasOutputBias = false;
  /// Whether a file may lack the biases of norms.
  bool mayLackNormBias = false;
  /// What `attention.sliding_window` narrows.
  WindowedBlocks windowed = WindowedBlocks::None;
  /// The base of rotation in windowed blocks, where it is not that of the others and the file does not
  /// state it (`rope.freq_base_swa`); their frequencies are not scaled.
  std::optional<double> windowedRopeBase = {};
  /// Whether YaRN's ramp begins and ends at whole pairs where a file does not say
  /// (`rope.scaling.yarn_truncate`).
  bool truncatesYarn = true;
  /// Whether it is an encoder, in which each token of a text sees all others: it has no caches, and
  /// gives a vector of the text instead of logits.
  bool isEncoder = false;
  Experts experts = Experts::None;
  /// Whether the weights of the chosen experts are divided by their sum where a file does not say.
  bool normalisesExperts = false;
  /// Whether files may have a head that guesses the token after the next (`nextn_predict_layers`), one block
  /// behind the others with tensors `mtp_*`.
  bool mayHaveDraftHead = false;
  /// Metadata keys that the family honours beyond those that all do.
  std::span<const std::string_view> keys = {};
  /// Changes what the common import has read, where a family differs from its defaults; or null.
  absl::Status (*completeParameters)(const ModelSource& source,
                                     Hyperparameters& parameters) = nullptr;
  /// Makes the first block's input: [rows, hidden].
  Value (*buildEmbedding)(ModelGraph& graph) = [](ModelGraph& graph) {
    return graph.embedTokens();
  };
  /// Builds one block: [rows, hidden] to the same.
  Value (*buildBlock)(ModelGraph& graph, Value x);
};

/// Every architecture, in the order of the files' names.
std::span<const Architecture* const> allArchitectures();

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_ARCHITECTURE_H
