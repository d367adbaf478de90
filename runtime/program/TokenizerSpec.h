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
  /// BPE over characters: merges by rank, with byte fallback. Hugging Face's form of SentencePiece.
  Bpe = 2,
  /// SentencePiece's unigram language model: the tokens of highest score together. `t5` in GGUF.
  Unigram = 3,
  /// BERT's: the longest tokens of each word, `##` before those that continue one. `bert` in GGUF.
  WordPiece = 4,
};

/// What a step of a normaliser does.
enum class RewriteKind : uint8_t {
  Nfc = 0, ///< Unicode's normalisation forms (annex 15)
  Nfd = 1,
  Nfkc = 2,
  Nfkd = 3,
  Lowercase = 4,
  StripMarks = 5,  ///< without combining marks
  Replace = 6,     ///< `content` in place of each match of `pattern`
  Prepend = 7,     ///< `content` before a text that is not empty
  Prefix = 8,      ///< `content` before a text that does not begin with it
  PrefixFirst = 9, ///< the same, where nothing stands before the text
  /// SentencePiece's `precompiled_charsmap`, the bytes of `content`: at each place the longest text of
  /// the map.
  Charsmap = 10,
  /// The same as Hugging Face's `tokenizers` do it: the shortest text of the map that a grapheme
  /// cluster of less than 6 bytes begins with, in place of the cluster; else character by character.
  CharsmapOfClusters = 11,
};

struct RewriteStep {
  RewriteKind kind = RewriteKind::Nfc;
  std::string pattern; ///< of Replace: a regular expression
  std::string content; ///< of a map of characters: any bytes

  bool operator==(const RewriteStep&) const = default;
};

/// What becomes of the matches of a split (`SplitDelimiterBehavior` of Hugging Face's `tokenizers`).
enum class SplitBehavior : uint8_t {
  Isolated = 0, ///< pieces of their own
  Removed = 1,
  MergedWithPrevious = 2,
  MergedWithNext = 3,
  Contiguous = 4, ///< matches after one another are one piece
};

struct SplitStep {
  std::string pattern; ///< a regular expression
  SplitBehavior behavior = SplitBehavior::Isolated;
  bool invert = false; ///< what lies between matches counts as a match

  bool operator==(const SplitStep&) const = default;
};

/// How a control or user-defined token is found in a text.
struct AddedToken {
  int32_t id = 0;
  bool wholeWord = false;   ///< only where no word goes on before or after it
  bool stripsLeft = false;  ///< with the white space before it
  bool stripsRight = false; ///< with the white space after it
  bool normalized = false;  ///< in what the normaliser makes of the text

  bool operator==(const AddedToken&) const = default;
};

/// Everything that a tokeniser is built from; what a Program stores. Plain data: whoever fills it
/// from a file need not have checked it, `Tokenizer::create` does.
struct TokenizerSpec {
  TokenizerModel model = TokenizerModel::SentencePiece;
  /// The pre-tokeniser of byte-level BPE by its GGUF name (`gpt-2`, `llama-bpe`, …); empty where
  /// `splits` and `ignoreMerges` are it.
  std::string preTokenizer;
  /// Each cuts every piece that the one before left.
  std::vector<SplitStep> splits;
  /// A piece that is a token as it stands becomes that token, even if merges do not lead to it.
  bool ignoreMerges = false;
  /// What is done to a text before it is cut: first between the tokens that are read from it as it
  /// stands, then between those that are read from the result.
  std::vector<RewriteStep> normalizers;
  std::vector<RewriteStep> pieceNormalizers;
  /// How tokens are read from a text, by id in ascending order; others just as they are.
  std::vector<AddedToken> added;
  /// Whether unknown characters after one another are one unknown token (BPE over characters; with
  /// Unigram they always are).
  bool fuseUnknown = false;
  /// Texts by id. SentencePiece and Unigram write a space as U+2581; byte-level BPE maps every byte to
  /// a printable code point (GPT-2's table).
  std::vector<std::string> tokens;
  /// Scores by id (SentencePiece, Unigram) or empty.
  std::vector<float> scores;
  /// Kinds by id, or empty: all normal.
  std::vector<TokenKind> kinds;
  /// Merges of BPE, `left right`, best first.
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
  /// How the turns of a chat become a text: a template in Jinja's language, or empty.
  std::string chatTemplate;

  /// Whether a generation ends at token `id`.
  bool endsGeneration(int32_t id) const {
    return id == eosId ||
           std::find(extraEndIds.begin(), extraEndIds.end(), id) != extraEndIds.end();
  }

  bool operator==(const TokenizerSpec&) const = default;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_TOKENIZERSPEC_H
