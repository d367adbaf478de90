#ifndef TENON_RUNTIME_PROGRAM_TOKENIZERSPEC_H
#define TENON_RUNTIME_PROGRAM_TOKENIZERSPEC_H

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::runtime {

/// What a token stands for, as GGUF's `tokenizer.ggml.token_type` numbers it.
enum class TokenKind : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6
};

enum class TokenizerModel : uint8_t {
  /// SentencePiece-style: merges by score, with byte fallback. Called `llama` in GGUF.
  SentencePiece = 0,
  /// Byte-level BPE: merges by rank after a pre-tokeniser. Called `gpt2` in GGUF.
  ByteLevelBpe = 1,
};

/// Everything that a tokeniser is built from; what a Program stores. Plain data: whoever fills it
/// from a file need not have checked it, `Tokenizer::create` does.
struct TokenizerSpec {
  TokenizerModel model = TokenizerModel::SentencePiece;
  /// The pre-tokeniser of byte-level BPE by its GGUF name (`gpt-2`, `llama-bpe`, …).
  std::string preTokenizer;
  /// Texts by id. SentencePiece writes a space as U+2581; byte-level BPE maps every byte to a
  /// printable code point (GPT-2's table).
  std::vector<std::string> tokens;
  /// Scores by id (SentencePiece) or empty.
  std::vector<float> scores;
  /// Kinds by id, or empty: all normal.
  std::vector<TokenKind> kinds;
  /// Merges of byte-level BPE, `left right`, best first.
  std::vector<std::string> merges;
  /// Ids of the special tokens; −1 where the model has none.
  int32_t bosId = -1;
  int32_t eosId = -1;
  int32_t unknownId = -1;
  /// Tokens beside EOS at which a generation ends, such as the end of a turn.
  std::vector<int32_t> extraEndIds;
  /// Whether encoding for the model puts the BOS token first, the EOS token last.
  bool addBos = false;
  bool addEos = false;
  /// Whether SentencePiece puts a space before the text.
  bool addSpacePrefix = true;

  /// Whether a generation ends at token `id`.
  bool endsGeneration(int32_t id) const {
    return id == eosId ||
           std::find(extraEndIds.begin(), extraEndIds.end(), id) != extraEndIds.end();
  }

  bool operator==(const TokenizerSpec&) const = default;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_TOKENIZERSPEC_H
