#ifndef TENON_RUNTIME_TEXT_TOKENIZER_H
#define TENON_RUNTIME_TEXT_TOKENIZER_H

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "runtime/program/TokenizerSpec.h"

namespace tenon::runtime {

namespace internal {
class SpecialTokens;
class TextRewriter;
} // namespace internal

/// How `Tokenizer::encode` treats special tokens.
struct EncodeOptions {
  /// Put the BOS token first and the EOS token last, where the model asks for them.
  bool addSpecial = true;
  /// Read the texts of control and unknown tokens in the input (`<s>`) as these tokens. Leave it
  /// out for text from outside: it could otherwise imitate the structure of a chat.
  bool parseSpecial = false;
};

/// Text to token ids and back. Immutable: any number of threads may use one.
class Tokenizer {
public:
  /// The longest text that `encode` takes, in bytes: what it counts in 32 bits.
  static constexpr size_t maxTextBytes = size_t(1) << 29;

  /// Checks `spec` and builds the tokeniser. InvalidArgument names the first thing that does not
  /// hold: lengths that differ, ids out of range, scores that are NaN, merges of unknown tokens,
  /// an unknown pre-tokeniser.
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

  virtual ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// The ids of `text`, which may be any bytes: what is not UTF-8 is encoded byte by byte.
  /// User-defined tokens are read before anything else, leftmost and longest first, and with
  /// `parseSpecial` control and unknown tokens too. The time is O(n log n) in the text.
  /// Byte-level BPE leaves out bytes that its vocabulary has no token for, as Hugging Face's does.
  /// InvalidArgument where the text is longer than `maxTextBytes`, or where a vocabulary of
  /// SentencePiece, Unigram or WordPiece has a token neither for a character, its bytes nor for the
  /// unknown.
  absl::StatusOr<std::vector<int32_t>> encode(std::string_view text,
                                              const EncodeOptions& options = {}) const;

  /// The bytes that token `id` stands for in a text: possibly part of a UTF-8 character (see
  /// `StreamingDetokenizer`); nothing for control, unknown and unused tokens. SentencePiece's
  /// leading space is kept. InvalidArgument where there is no such token.
  absl::StatusOr<std::string> decode(int32_t id) const;

  /// What the tokeniser was built from.
  const TokenizerSpec& spec() const { return description; }

protected:
  explicit Tokenizer(TokenizerSpec spec);

  /// The kind of token `id`, which must exist.
  TokenKind kind(size_t id) const;

  /// Appends the ids of a stretch of text, not empty, that lies between special tokens or the ends.
  virtual absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const = 0;
  /// The bytes that a normal or byte token stands for.
  virtual std::string decodeToken(size_t id) const = 0;

private:
  /// The tokens that are read from a text before anything else: those in the text as it stands, and
  /// those in what the normaliser makes of it.
  struct SpecialSets {
    std::unique_ptr<internal::SpecialTokens> given;
    std::unique_ptr<internal::SpecialTokens> normalized;
  };
  /// Compiles the normalisers and collects the special tokens.
  absl::Status prepare();
  absl::StatusOr<SpecialSets> makeSets(bool withControl) const;
  const AddedToken* flagsOf(int32_t id) const;
  /// Appends the ids of `text`; calls `encodeRest(part, isFirst)` for what lies between tokens of
  /// `special`.
  template <class EncodeRest>
  absl::Status encodeParts(std::string_view text, const internal::SpecialTokens& special,
                           std::vector<int32_t>& ids, EncodeRest encodeRest) const;

  TokenizerSpec description;
  SpecialSets userDefined;
  SpecialSets allSpecial;
  std::unique_ptr<internal::TextRewriter> normalizer;
  std::unique_ptr<internal::TextRewriter> pieceNormalizer;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_TOKENIZER_H
