#include "frontends/models/Architecture.h"
#include "frontends/models/internal/Qwen3Block.h"

namespace tenon::frontends {

/// Yang et al. 2025, arXiv 2505.09388: Qwen3 with a mixture of experts.
extern const Architecture qwen3MoeArchitecture;
constexpr Architecture qwen3MoeArchitecture = {
    .name = "qwen3moe",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .experts = Experts::Required,
    .normalisesExperts = true,
    .buildBlock = buildQwen3Block,
};

} // namespace tenon::frontends
