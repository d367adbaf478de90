#ifndef TENON_FRONTENDS_MODELS_INTERNAL_HEADNORMS_H
#define TENON_FRONTENDS_MODELS_INTERNAL_HEADNORMS_H

#include <string_view>

#include "absl/status/status.h"

#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// A bool: whether heads of Q and K are normed. GGUF has no such key, its tensors show it.
inline constexpr std::string_view headNormsKey = "attention.norms_heads";

/// Refuses a file that states another than its tensors show.
absl::Status checkHeadNorms(const ModelSource& source);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_HEADNORMS_H
