#ifndef TENON_FRONTENDS_MODELS_INTERNAL_METADATAKEYS_H
#define TENON_FRONTENDS_MODELS_INTERNAL_METADATAKEYS_H

#include <span>
#include <string>

#include "absl/status/status.h"

#include "frontends/models/Architecture.h"

namespace tenon::frontends {

/// Refuses a model that states a key which may change what it computes and which neither the common
/// import nor the architecture honours. Of such keys those in `ignored`, named as the file or as
/// Tenon names them, and those whose value changes nothing (a scale of 1) are passed over. Refuses
/// a name in `ignored` that is no such key of the model.
absl::Status checkKeys(const ModelSource& source, const Architecture& architecture,
                       std::span<const std::string> ignored);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_METADATAKEYS_H
