#ifndef TENON_FRONTENDS_HF_HFTOKENIZER_H
#define TENON_FRONTENDS_HF_HFTOKENIZER_H

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

#include "frontends/hf/JsonFile.h"
#include "runtime/program/TokenizerSpec.h"

namespace tenon::frontends {

/// The tokeniser of a tokenizer.json (Hugging Face's `tokenizers`, version 1.0): model BPE, byte-level
/// or over characters, with its normaliser, pre-tokeniser, added tokens, and the BOS and EOS tokens
/// that its post-processor adds. What would give other ids if it were left out is refused by name.
absl::StatusOr<runtime::TokenizerSpec> readTokenizerJson(const JsonFile& file);

/// The same for the tokeniser of `folder`, with the tokens that end a generation as
/// generation_config.json, `config` (config.json) and tokenizer_config.json name them, the chat template of
/// chat_template.jinja or tokenizer_config.json, and as many
/// tokens as the model has: what its vocabulary lacks is unused. NotFound where the folder has no
/// tokenizer.json.
absl::StatusOr<runtime::TokenizerSpec> readHfTokenizer(const std::string& folder,
                                                       const JsonFile& config);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_HFTOKENIZER_H
