#ifndef TENON_RUNTIME_TEXT_INTERNAL_WORDPIECETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_WORDPIECETOKENIZER_H

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/PreTokenizer.h"
#include "runtime/text/internal/PrefixIndex.h"

namespace tenon::runtime::internal {

/// WordPiece (Wu et al. 2016) as BERT's tokenization.py and Hugging Face's `tokenizers` run it:
///   1. cut the text into words with the pre-tokeniser;
///   2. take the longest token that a word begins with, then the longest that goes on, of those
///      written with `##` in front, and so on;
///   3. a word that comes to no end so, or of more than 100 characters, is the unknown token.
class WordPieceTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

private:
  WordPieceTokenizer(TokenizerSpec spec, PreTokenizer preTokenizer);

  absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decodeToken(size_t id) const override;
  /// Appends the tokens of `word`; false where it has none.
  bool encodeWord(std::string_view word, std::vector<int32_t>& ids) const;

  PreTokenizer preTokenizer;
  PrefixIndex firsts;
  PrefixIndex continuing; ///< by their texts without `##`
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_WORDPIECETOKENIZER_H
