#ifndef TENON_RUNTIME_TEXT_BERTTEXT_H
#define TENON_RUNTIME_TEXT_BERTTEXT_H

#include "runtime/program/TokenizerSpec.h"

namespace tenon::runtime {

/// What BERT does to a text before it cuts words (Devlin et al. 2018, its tokenization.py). Categories of
/// characters are those of the Unicode Standard that PCRE2 knows; Hugging Face's `tokenizers` have older
/// ones, of version 8, and know no punctuation and no accents that came later.
struct BertNormalizer {
  bool cleans = true;         ///< white space becomes spaces, control characters go
  bool cutsIdeographs = true; ///< ideographs of Chinese are words of their own
  bool stripsAccents = true;
  bool lowers = true;
};

/// Adds these steps to `spec`. Ideographs are cut by a split: the splits after it are to cut at white
/// space.
void addBertNormalizer(const BertNormalizer& normalizer, TokenizerSpec& spec);

/// Adds the cuts at white space, which goes, and around each character of punctuation.
void addBertSplits(TokenizerSpec& spec);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_TEXT_BERTTEXT_H
