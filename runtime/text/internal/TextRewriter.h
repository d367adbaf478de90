#ifndef TENON_RUNTIME_TEXT_INTERNAL_TEXTREWRITER_H
#define TENON_RUNTIME_TEXT_INTERNAL_TEXTREWRITER_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "runtime/program/TokenizerSpec.h"
#include "runtime/text/internal/Charsmap.h"
#include "runtime/text/internal/Pattern.h"

namespace tenon::runtime::internal {

/// The steps of a normaliser, compiled. Immutable: any number of threads may use one.
class TextRewriter {
public:
  /// Compiles the steps; InvalidArgument names a pattern that is none,
  /// and says what is wrong with a map of characters.
  static absl::StatusOr<TextRewriter> create(const std::vector<RewriteStep>& steps);

  bool isEmpty() const { return steps.empty(); }

  /// `text` after all steps. `isFirst` says that it begins a text. Steps of Unicode apply to what
  /// is valid UTF-8 and leave other bytes as they are. InvalidArgument where the text would grow
  /// beyond `Tokenizer::maxTextBytes`, or where a pattern takes too many steps.
  absl::StatusOr<std::string> rewrite(std::string_view text, bool isFirst) const;

private:
  struct Step {
    RewriteStep step;
    std::unique_ptr<Pattern> pattern;   ///< of Replace
    std::unique_ptr<Charsmap> charsmap; ///< of the kinds that have one
  };
  /// What a step of Unicode, a pattern or a map makes of `run`, valid UTF-8.
  static absl::StatusOr<std::string> rewriteRun(const Step& step, std::string_view run);

  std::vector<Step> steps;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_TEXTREWRITER_H
