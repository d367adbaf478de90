#ifndef TENON_FRONTENDS_HF_INTERNAL_ENCODERKEYS_H
#define TENON_FRONTENDS_HF_INTERNAL_ENCODERKEYS_H

#include "absl/status/status.h"

#include "frontends/hf/HfKeys.h"

namespace tenon::frontends {

/// What becomes of the vectors of a text's tokens, as the files of sentence-transformers beside
/// config.json say it: modules.json (a transformer, its pooling, a norm, nothing else) and the
/// config.json of the pooling; without them the mean, as that library takes it. Refuses pooling
/// that is neither the mean nor the first token, and other modules.
absl::Status readPooling(HfKeys& keys);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_INTERNAL_ENCODERKEYS_H
