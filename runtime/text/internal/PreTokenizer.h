#ifndef TENON_RUNTIME_TEXT_INTERNAL_PRETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_PRETOKENIZER_H

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "runtime/text/PreTokenizers.h"

struct pcre2_real_code_8;

namespace tenon::runtime::internal {

/// The compiled patterns of one entry of `preTokenizers()`. Immutable: any number of threads may
/// use one.
class PreTokenizer {
public:
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
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  struct Pattern {
    std::string text;
    std::unique_ptr<pcre2_real_code_8, FreeCode> code;
  };
  class Matcher;

  std::vector<Pattern> patterns;
  bool takesWholeTokens = false;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_PRETOKENIZER_H
