#ifndef TENON_TESTS_RUNTIME_TEXT_TESTVOCABULARIES_H
#define TENON_TESTS_RUNTIME_TEXT_TESTVOCABULARIES_H

#include <string>

#include "absl/strings/str_format.h"

#include "runtime/program/TokenizerSpec.h"
#include "runtime/text/internal/ByteTable.h"

namespace tenon::runtime {

inline void addToken(TokenizerSpec& spec, std::string text, float score,
                     TokenKind kind = TokenKind::Normal) {
  spec.tokens.push_back(std::move(text));
  spec.scores.push_back(score);
  spec.kinds.push_back(kind);
}

/// 0 `<unk>`, 1 `<s>`, 2 `</s>`, 3 + byte: byte tokens, then from 259 on: ▁, a, b, c, ab, bc, abc,
/// ▁a, <tool>, <tool>s (both user-defined), ▁▁.
inline TokenizerSpec makeSentencePieceSpec() {
  TokenizerSpec spec;
  spec.model = TokenizerModel::SentencePiece;
  addToken(spec, "<unk>", 0, TokenKind::Unknown);
  addToken(spec, "<s>", 0, TokenKind::Control);
  addToken(spec, "</s>", 0, TokenKind::Control);
  for (int byte = 0; byte < 256; ++byte)
    addToken(spec, absl::StrFormat("<0x%02X>", byte), 0, TokenKind::Byte);
  addToken(spec, "▁", -10);                             // 259
  addToken(spec, "a", -11);                             // 260
  addToken(spec, "b", -12);                             // 261
  addToken(spec, "c", -13);                             // 262
  addToken(spec, "ab", -2);                             // 263
  addToken(spec, "bc", -1);                             // 264
  addToken(spec, "abc", -3);                            // 265
  addToken(spec, "▁a", -5);                             // 266
  addToken(spec, "<tool>", 0, TokenKind::UserDefined);  // 267
  addToken(spec, "<tool>s", 0, TokenKind::UserDefined); // 268
  addToken(spec, "▁▁", -4);                             // 269
  spec.bosId = 1;
  spec.eosId = 2;
  spec.unknownId = 0;
  spec.addBos = true;
  return spec;
}

/// 0 to 255: the bytes' characters, 256 `lo`, 257 `low`, 258 `er`, 259 `Ġlow`, 260 `ow`, 261 `Ġl`,
/// 262 `<|end|>` (control).
inline TokenizerSpec makeByteLevelBpeSpec() {
  TokenizerSpec spec;
  spec.model = TokenizerModel::ByteLevelBpe;
  spec.preTokenizer = "gpt-2";
  for (int byte = 0; byte < 256; ++byte)
    spec.tokens.push_back(internal::characterOfByte(uint8_t(byte)));
  for (const char* text : {"lo", "low", "er", "Ġlow", "ow", "Ġl", "<|end|>"})
    spec.tokens.push_back(text);
  spec.kinds.assign(spec.tokens.size(), TokenKind::Normal);
  spec.kinds.back() = TokenKind::Control;
  spec.merges = {"l o", "lo w", "e r", "Ġ low", "o w", "Ġ l"};
  spec.bosId = 262;
  spec.eosId = 262;
  return spec;
}

} // namespace tenon::runtime

#endif // TENON_TESTS_RUNTIME_TEXT_TESTVOCABULARIES_H
