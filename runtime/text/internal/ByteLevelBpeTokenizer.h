#ifndef TENON_RUNTIME_TEXT_INTERNAL_BYTELEVELBPETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_BYTELEVELBPETOKENIZER_H

#include <array>

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/MergeTable.h"
#include "runtime/text/internal/PreTokenizer.h"

namespace tenon::runtime::internal {

/// Byte-level BPE (Radford et al. 2019), GGUF's model `gpt2`:
///   1. cut the text with the pre-tokeniser;
///   2. where the pre-tokeniser says so, take a piece that is a token as that token;
///   3. in each other piece start with one symbol a byte, the token of the byte's character; a
///      byte without one is left out (vocabularies trained on UTF-8 lack bytes that it has not);
///   4. merge neighbours by the rank of their merge, lowest first.
class ByteLevelBpeTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

private:
  ByteLevelBpeTokenizer(TokenizerSpec spec, PreTokenizer preTokenizer)
      : Tokenizer(std::move(spec)), preTokenizer(std::move(preTokenizer)) {}

  absl::Status indexTokens();
  absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decodeToken(size_t id) const override;
  /// Whether token `id` is text, not an added token that only looks like bytes.
  bool standsForBytes(int32_t id) const;
  /// The token that `piece` is as it stands, where the pre-tokeniser ignores merges; else −1.
  int32_t idOfPiece(std::string_view piece) const;
  void encodePiece(std::string_view piece, std::vector<Symbol>& symbols,
                   std::vector<Candidate<int32_t>>& queue, std::vector<int32_t>& ids) const;

  PreTokenizer preTokenizer;
  MergeTable merges;
  /// Ids by byte, −1 where there is none.
  std::array<int32_t, 256> idByByte;
  /// Tokens that stand for bytes, by text; views of `spec().tokens`; filled if the pre-tokeniser
  /// ignores merges.
  TextIndex idByPiece;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_BYTELEVELBPETOKENIZER_H
