#ifndef TENON_RUNTIME_TEXT_INTERNAL_PRETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_PRETOKENIZER_H

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "runtime/program/TokenizerSpec.h"
#include "runtime/text/PreTokenizers.h"
#include "runtime/text/internal/Pattern.h"

namespace tenon::runtime::internal {

/// The compiled patterns of one entry of `preTokenizers()`, or of a tokeniser that brings its own.
/// Immutable: any number of threads may use one.
class PreTokenizer {
public:
  /// Compiles what `spec` names, or its own splits where it names none.
  static absl::StatusOr<PreTokenizer> create(const TokenizerSpec& spec);
  /// Compiles the entry `name`. InvalidArgument lists the known ones if there is no such entry.
  static absl::StatusOr<PreTokenizer> create(std::string_view name);
  /// Compiles `entry`. InvalidArgument names the pattern that is not one.
  static absl::StatusOr<PreTokenizer> compile(const PreTokenizerEntry& entry);

  /// Cuts `text` into pieces, views of it that cover it in order. A run of bytes that is not UTF-8
  /// is a piece.
  absl::StatusOr<std::vector<std::string_view>> split(std::string_view text) const;

  /// The entry's `ignoreMerges`.
  bool ignoresMerges() const { return takesWholeTokens; }

private:
  struct Step {
    Pattern pattern;
    SplitBehavior behavior;
    bool invert;
  };
  /// The pieces of `run`, valid UTF-8.
  absl::StatusOr<std::vector<std::string_view>> splitRun(std::string_view run) const;

  std::vector<Step> steps;
  bool takesWholeTokens = false;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_PRETOKENIZER_H
