#ifndef TENON_RUNTIME_TEXT_INTERNAL_SENTENCEPIECETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_SENTENCEPIECETOKENIZER_H

#include <array>
#include <functional>

#include "absl/container/flat_hash_map.h"

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/MergeSymbols.h"
#include "support/TextHash.h"

namespace tenon::runtime::internal {

/// SentencePiece's BPE (Kudo and Richardson 2018) as llama.cpp runs it for GGUF's model `llama`:
///   1. put a space before the text if the model asks for it, write spaces as U+2581;
///   2. start with one symbol a character, one a byte where the text is not UTF-8;
///   3. merge neighbours whose joint text is a normal or user-defined token, highest score first
///      (word by word where no token spans words: the same result from short queues);
///   4. write symbols that are no token as their bytes' tokens, else as the unknown token.
class SentencePieceTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

private:
  explicit SentencePieceTokenizer(TokenizerSpec spec) : Tokenizer(std::move(spec)) {}

  absl::Status indexTokens();
  absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decodeToken(size_t id) const override;
  absl::Status encodeWord(std::string_view word, std::vector<Symbol>& symbols,
                          std::vector<Candidate<float>>& queue, std::vector<int32_t>& ids) const;
  /// The token with this text, or −1.
  int32_t find(std::string_view text) const;
  absl::Status appendBytes(std::string_view symbol, std::vector<int32_t>& ids) const;

  /// Ids by text, of the tokens that merging may form. Views of the specification's texts.
  absl::flat_hash_map<std::string_view, int32_t, TextHash> idByText;
  /// The longest of those texts in bytes.
  size_t longestText = 0;
  /// Whether some token goes on after the end of a word.
  bool tokensSpanWords = false;
  /// Ids by byte, −1 where there is none.
  std::array<int32_t, 256> idByByte;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_SENTENCEPIECETOKENIZER_H
