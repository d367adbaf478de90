#ifndef TENON_RUNTIME_TEXT_INTERNAL_UNIGRAMTOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_UNIGRAMTOKENIZER_H

#include <array>

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/PreTokenizer.h"
#include "runtime/text/internal/PrefixIndex.h"

namespace tenon::runtime::internal {

/// SentencePiece's unigram language model (Kudo 2018; its unigram_model.cc):
///   1. cut the text with the pre-tokeniser, where there is one;
///   2. of all ways to write a piece as tokens take the one of highest score together (Viterbi), where
///      a character may also be unknown, with the lowest score of all tokens less 10;
///   3. of ways with equal scores take the one whose last token begins first;
///   4. unknown characters after one another are one: the tokens of their bytes where all of them
///      exist, else the unknown token.
/// Scores are added in double, from left to right.
class UnigramTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

private:
  UnigramTokenizer(TokenizerSpec spec, PreTokenizer preTokenizer)
      : Tokenizer(std::move(spec)), preTokenizer(std::move(preTokenizer)) {}

  /// The best way to write the text up to a byte: its last token, where that begins, the score.
  struct Step {
    double score = 0;
    uint32_t begin = 0;
    int32_t id = none;
  };
  /// No way was found yet; the token is unknown.
  static constexpr int32_t none = -1;
  static constexpr int32_t unknown = -2;

  absl::Status indexTokens();
  absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decodeToken(size_t id) const override;
  /// Fills `steps`, one for each byte of `piece` and one for its end.
  void findBest(std::string_view piece, std::vector<Step>& steps) const;
  absl::Status appendUnknown(std::string_view text, std::vector<int32_t>& ids) const;

  PreTokenizer preTokenizer;
  PrefixIndex tokens; ///< normal ones
  double unknownScore = 0;
  /// Ids by byte, −1 where there is none.
  std::array<int32_t, 256> idByByte;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_UNIGRAMTOKENIZER_H
