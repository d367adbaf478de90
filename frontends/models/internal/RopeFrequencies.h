#ifndef TENON_FRONTENDS_MODELS_INTERNAL_ROPEFREQUENCIES_H
#define TENON_FRONTENDS_MODELS_INTERNAL_ROPEFREQUENCIES_H

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

#include "frontends/models/internal/Hyperparameters.h"

namespace tenon::frontends {

/// The tensors of per-pair divisors: that of Llama 3.1 and later files; and LongRoPE's two, for
/// contexts beyond and within the original one (Ding et al. 2024, arXiv 2402.13753).
inline constexpr std::string_view ropeFactorsTensor = "rope_freqs.weight";
inline constexpr std::string_view longRopeFactorsTensor = "rope_factors_long.weight";
inline constexpr std::string_view shortRopeFactorsTensor = "rope_factors_short.weight";

/// What `tenon.rope` needs to rotate as the file's metadata say.
struct RopeFrequencies {
  std::vector<float> inverse;         ///< radians a position, by pair: rotarySize / 2
  std::vector<float> windowedInverse; ///< of windowed blocks, where theirs are others; else empty
  double magnitude = 1;               ///< factor of the rotated elements
};

/// Pair i of n turns by base^(−i/n) a position (Su et al. 2021, arXiv 2104.09864), with base
/// `rope.freq_base`, divided by element i of `rope_freqs.weight` where the file has it, or else of
/// LongRoPE's tensors where it has these: the long one if `contextLength`, the positions that the
/// caches hold, is above `rope.scaling.original_context_length`. The model's own code goes by the
/// length of the sequence at hand, and so rotates differently where a short sequence lies in long
/// caches; keys that are cached could not change with it. Then scaled as `rope.scaling.type` says:
///   linear (also where none is stated): divided by `rope.scaling.factor`, or by the older key
///     `rope.scale_linear` (Chen et al. 2023, arXiv 2306.15595);
///   yarn: divided by the factor where a pair turns less than `yarn_beta_slow` times in the
///     original context, as it is where it turns more than `yarn_beta_fast` times, a linear ramp
///     between, which begins and ends at whole pairs where `yarn_truncate` says so; magnitude
///     1 + 0.1 · ln factor (Peng et al. 2023, arXiv 2309.00071);
///   none, longrope: not scaled.
/// `rope.scaling.attn_factor` multiplies what is rotated.
/// `windowedBase` and `truncatesYarn` are the architecture's (`Architecture::windowedRopeBase`).
/// Key names and defaults as in llama.cpp, but for `yarn_truncate`, which GGUF has not: llama.cpp
/// always rounds. Other types are refused.
absl::StatusOr<RopeFrequencies> readRopeFrequencies(const ModelSource& source,
                                                    const Hyperparameters& parameters,
                                                    int64_t contextLength,
                                                    std::optional<double> windowedBase = {},
                                                    bool truncatesYarn = true);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_ROPEFREQUENCIES_H
