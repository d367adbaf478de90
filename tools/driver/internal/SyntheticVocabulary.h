#ifndef TENON_TOOLS_DRIVER_INTERNAL_SYNTHETICVOCABULARY_H
#define TENON_TOOLS_DRIVER_INTERNAL_SYNTHETICVOCABULARY_H

#include <cstdint>

#include "frontends/gguf/GgufWriter.h"

namespace tenon::tools {

/// The fewest tokens that a vocabulary with byte fallback has: 3 special ones and 256 bytes.
inline constexpr int64_t smallestVocabulary = 259;

/// Adds the metadata of a SentencePiece-style tokeniser of `size` tokens, at least
/// `smallestVocabulary`: `<unk>`, `<s>`, `</s>`, the 256 bytes, the printable ASCII characters, and
/// then made-up pieces: all words of one, two, three … small letters, each with and without a
/// leading space, scored in falling order, so that any text can be tokenised and merges happen.
void addSyntheticVocabulary(frontends::GgufWriter& writer, int64_t size);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_INTERNAL_SYNTHETICVOCABULARY_H
