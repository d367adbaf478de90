#ifndef TENON_RUNTIME_TEXT_INTERNAL_BPETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_BPETOKENIZER_H

#include <array>

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/MergeTable.h"
#include "runtime/text/internal/PreTokenizer.h"

namespace tenon::runtime::internal {

/// BPE over characters, as Hugging Face's `tokenizers` runs it for vocabularies that were
/// SentencePiece's (its model `BPE` without `ByteLevel`):
///   1. cut the text with the pre-tokeniser;
///   2. where merges may be ignored, take a piece that is a token as that token;
///   3. in each other piece start with one symbol a character; a character that is no token becomes
///      the tokens of its bytes where all of them exist, else the unknown token, where neighbours
///      may share one, or nothing where there is none;
///   4. merge neighbours by the rank of their merge, lowest first.
class BpeTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

private:
  BpeTokenizer(TokenizerSpec spec, PreTokenizer preTokenizer)
      : Tokenizer(std::move(spec)), preTokenizer(std::move(preTokenizer)) {}

  absl::Status indexTokens();
  absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decodeToken(size_t id) const override;
  /// Appends the symbols of a character or byte at `at` that is no token.
  void appendUnknown(std::string_view character, uint32_t at, std::vector<Symbol>& symbols) const;

  PreTokenizer preTokenizer;
  MergeTable merges;
  /// Normal tokens by text; views of the specification's texts.
  TextIndex idByText;
  /// Ids by byte, −1 where there is none.
  std::array<int32_t, 256> idByByte;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_BPETOKENIZER_H
