#ifndef TENON_RUNTIME_TEXT_STOPTEXTS_H
#define TENON_RUNTIME_TEXT_STOPTEXTS_H

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// Looks for texts that end a generation in a text that comes in parts. Of several stop texts the one
/// that ends first counts, and of those the longest, so that the parts do not matter.
class StopTexts {
public:
  /// InvalidArgument where a stop text is empty.
  static absl::StatusOr<StopTexts> create(std::vector<std::string> texts);

  /// Takes the next part. Returns what is known to stand before any stop text; what may be the begin
  /// of one is held back. After a stop text there is nothing more.
  std::string push(std::string_view part);
  /// Ends the text: what was held back.
  std::string flush();

  /// Whether a stop text came.
  bool isFound() const { return found; }

private:
  explicit StopTexts(std::vector<std::string> texts) : texts(std::move(texts)) {}

  /// Bytes at the end of `pending` that a stop text begins with.
  size_t heldBack() const;

  std::vector<std::string> texts;
  std::string pending;
  bool found = false;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_STOPTEXTS_H
