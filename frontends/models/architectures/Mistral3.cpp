#include <algorithm>

#include "frontends/models/Architecture.h"
#include "support/Status.h"

namespace tenon::frontends {

static constexpr std::string_view temperatureScale = "attention.temperature_scale";
static constexpr std::string_view temperatureLength = "attention.temperature_length";
static constexpr std::string_view logMultiplier = "rope.scaling.yarn_log_multiplier";

/// Queries are multiplied by 1 + s · ln(1 + ⌊position / length⌋), which is 1 within the original
/// context: the model is one of so many positions here.
static absl::Status completeMistral3(const ModelSource& source, Hyperparameters& p) {
  TENON_ASSIGN_OR_RETURN(p.yarnLogMultiplier, source.numberAbove(-1, logMultiplier, 0.0));
  if (p.yarnLogMultiplier < 0)
    return source.keyError(logMultiplier, "a number of 0 or more", "one below");
  TENON_ASSIGN_OR_RETURN(double scale, source.numberAbove(-1, temperatureScale, 0.0));
  if (scale == 0)
    return absl::OkStatus();
  constexpr int64_t longest = int64_t(1) << 40;
  TENON_ASSIGN_OR_RETURN(int64_t original, source.count("rope.scaling.original_context_length",
                                                        longest, p.contextLength));
  TENON_ASSIGN_OR_RETURN(int64_t length, source.count(temperatureLength, longest, original));
  p.contextLength = std::min(p.contextLength, length);
  return absl::OkStatus();
}

/// Mistral AI 2025, Ministral 3: Llama's block, its rotation scaled by YaRN.
///
///     n = attn_norm(x)
///     h = x + attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     y = h + ffn_down(silu(ffn_gate(m)) · ffn_up(m))
static Value buildMistral3Block(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
}

static constexpr std::string_view keys[] = {temperatureLength, temperatureScale, logMultiplier};

extern const Architecture mistral3Architecture;
constexpr Architecture mistral3Architecture = {
    .name = "mistral3",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .keys = keys,
    .completeParameters = completeMistral3,
    .buildBlock = buildMistral3Block,
};

} // namespace tenon::frontends
