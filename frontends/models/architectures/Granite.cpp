#include "frontends/models/Architecture.h"
#include "support/Status.h"

namespace tenon::frontends {

/// Logits are divided by `logit_scale`; the other factors multiply.
static absl::Status completeGranite(const ModelSource& source, Hyperparameters& p) {
  TENON_ASSIGN_OR_RETURN(p.embeddingScale, source.numberAbove(0, "embedding_scale", 1.0));
  TENON_ASSIGN_OR_RETURN(p.residualScale, source.numberAbove(0, "residual_scale", 1.0));
  TENON_ASSIGN_OR_RETURN(double divisor, source.numberAbove(0, "logit_scale", 1.0));
  p.logitScale = 1 / divisor;
  return absl::OkStatus();
}

/// Granite Team 2024, "Granite 3.0 Language Models": Llama's block with factors of the embedding, of
/// what each half adds, of the scores and of the logits (maximal update parametrisation).
///
///     n = attn_norm(x)
///     h = x + r · attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     m = ffn_norm(h)
///     y = h + r · ffn_down(silu(ffn_gate(m)) · ffn_up(m))
static Value buildGraniteBlock(ModelGraph& graph, Value x) {
  Heads heads = graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional);
  return graph.addHalves(x, graph.rotateAndAttend(heads, Bias::Optional), Activation::Silu);
}

static constexpr std::string_view keys[] = {"embedding_scale", "logit_scale", "residual_scale"};

extern const Architecture graniteArchitecture;
constexpr Architecture graniteArchitecture = {
    .name = "granite",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .keys = keys,
    .completeParameters = completeGranite,
    .buildBlock = buildGraniteBlock,
};

} // namespace tenon::frontends
