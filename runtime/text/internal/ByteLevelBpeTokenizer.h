#ifndef TENON_RUNTIME_TEXT_INTERNAL_BYTELEVELBPETOKENIZER_H
#define TENON_RUNTIME_TEXT_INTERNAL_BYTELEVELBPETOKENIZER_H

#include <array>

#include "absl/container/flat_hash_map.h"

#include "runtime/text/Tokenizer.h"
#include "runtime/text/internal/MergeSymbols.h"
#include "runtime/text/internal/PreTokenizer.h"

namespace tenon::runtime::internal {

/// Byte-level BPE (Radford et al. 2019), GGUF's model `gpt2`:
///   1. cut the text with the pre-tokeniser;
///   2. in each piece start with one symbol a byte, the token of the byte's character;
///   3. merge neighbours by the rank of their merge, lowest first.
class ByteLevelBpeTokenizer final : public Tokenizer {
public:
  static absl::StatusOr<std::unique_ptr<Tokenizer>> create(TokenizerSpec spec);

private:
  ByteLevelBpeTokenizer(TokenizerSpec spec, PreTokenizer preTokenizer)
      : Tokenizer(std::move(spec)), preTokenizer(std::move(preTokenizer)) {}

  absl::Status indexTokens();
  absl::Status encodeText(std::string_view text, std::vector<int32_t>& ids) const override;
  std::string decodeToken(size_t id) const override;
  absl::StatusOr<int32_t> idOfByte(uint8_t byte) const;

  PreTokenizer preTokenizer;
  /// The merges by the ids of both sides: left << 32 | right. The priority is the rank.
  absl::flat_hash_map<uint64_t, Merge<int32_t>> mergeByPair;
  /// Ids by byte, −1 where there is none.
  std::array<int32_t, 256> idByByte;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_BYTELEVELBPETOKENIZER_H
