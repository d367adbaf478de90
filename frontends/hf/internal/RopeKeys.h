#ifndef TENON_FRONTENDS_HF_INTERNAL_ROPEKEYS_H
#define TENON_FRONTENDS_HF_INTERNAL_ROPEKEYS_H

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

#include "frontends/hf/HfKeys.h"

namespace tenon::frontends {

/// Makes the canonical keys and tensors of rotary embeddings from the object of rope parameters:
/// `rope_parameters` of transformers 5, `rope_scaling` of earlier ones, beside which the base stands
/// in a key of its own. `baseKey` and `shareKey` are the top-level names that the family uses for the
/// base and for the share of each head, of `headSize` elements, that is rotated.
absl::Status readRope(HfKeys& keys, int64_t headSize, std::string_view baseKey,
                      std::string_view shareKey);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_INTERNAL_ROPEKEYS_H
