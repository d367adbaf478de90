#ifndef TENON_RUNTIME_TEXT_INTERNAL_PATTERN_H
#define TENON_RUNTIME_TEXT_INTERNAL_PATTERN_H

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct pcre2_real_code_8;

namespace tenon::runtime::internal {

/// A regular expression of a tokeniser: PCRE2's syntax, where `\s` is Unicode's White_Space.
/// Immutable: any number of threads may use one.
class Pattern {
public:
  /// The longest text of one, far above those in use (400 bytes).
  static constexpr size_t maxBytes = 1 << 14;

  /// Compiles `text`; InvalidArgument names it, and `owner`, whose it is.
  static absl::StatusOr<Pattern> compile(std::string_view owner, std::string_view text);

  /// Calls `match` with the first and the last byte + 1 of each match in `text`, valid UTF-8, from
  /// left to right; matches of nothing are left out. InvalidArgument where the pattern takes more
  /// steps than PCRE2 allows.
  absl::Status forEachMatch(std::string_view text,
                            const std::function<void(size_t begin, size_t end)>& match) const;

private:
  struct FreeCode {
    void operator()(pcre2_real_code_8* code) const;
  };
  std::string text;
  std::unique_ptr<pcre2_real_code_8, FreeCode> code;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_PATTERN_H
