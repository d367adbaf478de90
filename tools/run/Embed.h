#ifndef TENON_TOOLS_RUN_EMBED_H
#define TENON_TOOLS_RUN_EMBED_H

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/Executor.h"

namespace tenon::tools {

/// The shapes to compile of an encoder for texts of tokens, as `--shapes` has them: for each the
/// next power of two from 16 rows on, `context` rows at most, each once. InvalidArgument where a
/// text has more tokens than `context`.
absl::StatusOr<std::vector<std::string>> shapesOfTexts(std::span<const std::vector<int32_t>> texts,
                                                       int64_t context);

/// The vector of a text, of length 1, by the smallest function `encode_<rows>` of an encoder that
/// takes its tokens. Where the model gives zeros alone, they stay. InvalidArgument where the
/// program is no encoder's or none of its functions takes so many tokens.
absl::StatusOr<std::vector<float>> embedText(runtime::Executor& executor,
                                             std::span<const int32_t> tokens);

} // namespace tenon::tools

#endif // TENON_TOOLS_RUN_EMBED_H
