#include "tools/driver/internal/SyntheticVocabulary.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"

namespace tenon::tools {

/// How SentencePiece writes a space: U+2581.
static constexpr const char* space = "\xE2\x96\x81";

/// `tokenizer.ggml.token_type`.
enum TokenType : int32_t { Normal = 1, Unknown = 2, Control = 3, Byte = 6 };

/// The word after `word`: a, …, z, aa, ab, …
static void advanceWord(std::string& word) {
  for (size_t i = word.size(); i-- > 0;) {
    if (word[i] != 'z') {
      ++word[i];
      return;
    }
    word[i] = 'a';
  }
  word.insert(word.begin(), 'a');
}

/// At least `size` made-up pieces, most frequent first.
static std::vector<std::string> makePieces(size_t size) {
  std::vector<std::string> pieces = {space};
  for (char character = '!'; character <= '~'; ++character)
    pieces.emplace_back(1, character);
  for (std::string word = "a"; pieces.size() < size; advanceWord(word)) {
    if (word.size() > 1)
      pieces.push_back(word);
    pieces.push_back(space + word);
  }
  return pieces;
}

void addSyntheticVocabulary(frontends::GgufWriter& writer, int64_t size) {
  assert(size >= smallestVocabulary);
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  std::vector<int32_t> types = {Unknown, Control, Control};
  for (int byte = 0; byte < 256; ++byte) {
    tokens.push_back(absl::StrFormat("<0x%02X>", byte));
    types.push_back(Byte);
  }
  std::vector<float> scores(tokens.size(), 0.0f);
  for (std::string& piece : makePieces(static_cast<size_t>(size))) {
    if (tokens.size() == static_cast<size_t>(size))
      break;
    scores.push_back(-static_cast<float>(tokens.size()));
    types.push_back(Normal);
    tokens.push_back(std::move(piece));
  }
  writer.addString("tokenizer.ggml.model", "llama");
  writer.addStrings("tokenizer.ggml.tokens", tokens);
  writer.addF32s("tokenizer.ggml.scores", scores);
  writer.addI32s("tokenizer.ggml.token_type", types);
  writer.addU32("tokenizer.ggml.unknown_token_id", 0);
  writer.addU32("tokenizer.ggml.bos_token_id", 1);
  writer.addU32("tokenizer.ggml.eos_token_id", 2);
  writer.addBool("tokenizer.ggml.add_bos_token", true);
  writer.addBool("tokenizer.ggml.add_eos_token", false);
}

} // namespace tenon::tools
