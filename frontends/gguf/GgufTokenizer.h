#ifndef TENON_FRONTENDS_GGUF_GGUFTOKENIZER_H
#define TENON_FRONTENDS_GGUF_GGUFTOKENIZER_H

#include "absl/status/statusor.h"

#include "frontends/gguf/GgufFile.h"
#include "runtime/program/TokenizerSpec.h"

namespace tenon::frontends {

/// The tokeniser of a GGUF model, from its metadata `tokenizer.ggml.*` (docs/gguf.md of the ggml
/// project). Keys that are missing have llama.cpp's defaults: model `llama` puts BOS (id 1) and a
/// space before the text; model `gpt2` has no special tokens and the pre-tokeniser `default`, and
/// whether BOS stands first depends on the pre-tokeniser; model `t5` puts EOS (id 1) after the text;
/// model `bert` puts [CLS] and [SEP] (101, 102) around it, and makes letters small. A generation ends at EOS, at the ends of
/// turns and messages that the file names, and at control tokens with the texts of such. Ids of 2^32 − 1 stand for no token.
///
/// Errors name the file and the key. What the values mean together is checked by
/// `runtime::Tokenizer::create`.
absl::StatusOr<runtime::TokenizerSpec> readGgufTokenizer(const GgufFile& file);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_GGUFTOKENIZER_H
