#ifndef TENON_FRONTENDS_HF_INTERNAL_TOKENIZERSECTIONS_H
#define TENON_FRONTENDS_HF_INTERNAL_TOKENIZERSECTIONS_H

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/hf/JsonFile.h"
#include "runtime/program/TokenizerSpec.h"
#include "support/Status.h"

namespace tenon::frontends::internal {

/// A tokenizer.json and what was understood of it so far.
struct TokenizerJson {
  const JsonFile& file;
  runtime::TokenizerSpec spec = {};
  bool hasByteFallback = false; ///< tokens `<0x00>` to `<0xFF>` stand for bytes
};

/// Read the sections of a file in this order, each into `json`. What would give other ids if it were
/// left out is an error that names the file and the key.
absl::Status readModelSection(TokenizerJson& json);
absl::Status readAddedTokensSection(TokenizerJson& json);
absl::Status readNormalizerSection(TokenizerJson& json);
absl::Status readPreTokenizerSection(TokenizerJson& json);
absl::Status readPostProcessorSection(TokenizerJson& json);
absl::Status checkDecoderSection(TokenizerJson& json);

/// Makes the tokens that stand for bytes such.
void markByteTokens(TokenizerJson& json);

/// What the readers of sections share.
class SectionReader {
public:
  explicit SectionReader(TokenizerJson& whole)
      : file(whole.file), spec(whole.spec), hasByteFallback(whole.hasByteFallback) {}

protected:
  using json = nlohmann::json;

  absl::Status error(const std::string& place, std::string_view expected, const json& found) const {
    return file.error(place, expected, found);
  }
  /// The member `type` of a step.
  absl::StatusOr<std::string> typeOf(const json& step, const std::string& place) const;
  absl::StatusOr<bool> flag(const json& object, const std::string& place, std::string_view key,
                            bool otherwise) const {
    return file.flag(object, place + ".", key, otherwise);
  }
  absl::StatusOr<std::string> text(const json& object, const std::string& place,
                                   std::string_view key, std::string_view otherwise = "") const {
    return file.text(object, place + ".", key, otherwise);
  }
  /// The regular expression of a member `pattern`: {"Regex": …} or {"String": …}.
  absl::StatusOr<std::string> readPattern(const json& step, const std::string& place) const;

  /// Calls `readStep(step, place, depth)` for the members of a `Sequence`.
  template <class ReadStep>
  absl::Status readSequence(const json& step, const std::string& place, std::string_view key,
                            int depth, ReadStep readStep) const {
    const std::string listPlace = absl::StrCat(place, ".", std::string(key));
    const json* list = JsonFile::find(step, key);
    if (!list || !list->is_array() || depth >= deepestSequence)
      return error(listPlace,
                   absl::StrFormat("a list, at most %d within one another", deepestSequence),
                   list ? *list : json());
    for (size_t i = 0; i < list->size(); ++i)
      TENON_RETURN_IF_ERROR(
          readStep((*list)[i], absl::StrFormat("%s[%d]", listPlace, i), depth + 1));
    return absl::OkStatus();
  }

  void addNormalizer(runtime::RewriteKind kind, std::string pattern = "",
                     std::string content = "") {
    spec.normalizers.push_back({kind, std::move(pattern), std::move(content)});
  }
  void addPieceNormalizer(runtime::RewriteKind kind, std::string pattern, std::string content) {
    spec.pieceNormalizers.push_back({kind, std::move(pattern), std::move(content)});
  }
  void addSplit(std::string pattern, runtime::SplitBehavior behavior, bool invert = false) {
    spec.splits.push_back({std::move(pattern), behavior, invert});
  }

  const JsonFile& file;
  runtime::TokenizerSpec& spec;
  bool& hasByteFallback;

private:
  /// Lists of steps within lists of steps; files in use have one level.
  static constexpr int deepestSequence = 8;
};

/// U+2581, which stands for a space.
inline constexpr std::string_view spaceSymbol = "\u2581";

} // namespace tenon::frontends::internal

#endif // TENON_FRONTENDS_HF_INTERNAL_TOKENIZERSECTIONS_H
