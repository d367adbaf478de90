#ifndef TENON_FRONTENDS_GGUF_ARCHITECTURES_ARCHITECTURE_H
#define TENON_FRONTENDS_GGUF_ARCHITECTURES_ARCHITECTURE_H

#include <optional>
#include <span>
#include <string_view>

#include "frontends/gguf/internal/ModelGraph.h"

namespace tenon::frontends {

/// What a model family adds to the common import: one file in this folder and one line in the
/// list in `Architectures.cpp`.
struct Architecture {
  /// The value of `general.architecture`, and the prefix of its metadata keys.
  std::string_view name;
  NormKind norm;
  /// Which elements of Q and K rotate together; none where positions enter in another way.
  std::optional<RopePairing> pairing;
  /// Whether a file without `output.weight` uses the token embedding in its place.
  bool mayTieOutput;
  /// What `attention.sliding_window` narrows.
  WindowedBlocks windowed = WindowedBlocks::None;
  /// Changes what the common import has read, where a family differs from its defaults; or null.
  void (*completeParameters)(const MetadataReader& reader, Hyperparameters& parameters) = nullptr;
  /// Makes the first block's input: [rows, hidden].
  Value (*buildEmbedding)(ModelGraph& graph) = [](ModelGraph& graph) {
    return graph.embedTokens();
  };
  /// Builds one block: [rows, hidden] to the same.
  Value (*buildBlock)(ModelGraph& graph, Value x);
};

/// Every architecture, in a fixed order.
std::span<const Architecture* const> allArchitectures();

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_ARCHITECTURES_ARCHITECTURE_H
