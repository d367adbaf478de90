#include "frontends/models/Architecture.h"
#include "frontends/models/internal/HeadNorms.h"
#include "support/Status.h"

namespace tenon::frontends {

static absl::Status completeCommandR(const ModelSource& source, Hyperparameters& p) {
  TENON_ASSIGN_OR_RETURN(p.logitScale, source.numberAbove(0, "logit_scale", 1.0));
  return checkHeadNorms(source);
}

/// Cohere's Command R (CohereDecoderLayer in Hugging Face's transformers): both halves of a block from
/// one norm without a bias, in parallel; logits times `logit_scale`. Command R+ has norms of the
/// heads of Q and K before they are rotated, a weight for each element of each.
///
///     n = attn_norm(x)
///     a = attn_output(attention(rope(attn_q(n)), rope(attn_k(n)), attn_v(n)))
///     y = (x + a) + ffn_down(silu(ffn_gate(n)) · ffn_up(n))
static Value buildCommandRBlock(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Value normed = graph.norm(x, "attn_norm");
  Value attention = graph.rotateAndAttend(
      graph.normHeadsApart(graph.projectHeads(normed, Bias::Optional)), Bias::Optional);
  Value mlp = graph.gatedMlp(normed, Activation::Silu);
  Value middle = builder.add(x, attention, {.name = "attn_residual"});
  return builder.add(middle, mlp, {.name = "ffn_residual"});
}

static constexpr std::string_view keys[] = {headNormsKey, "logit_scale"};

extern const Architecture commandRArchitecture;
constexpr Architecture commandRArchitecture = {
    .name = "command-r",
    .norm = NormKind::Layer,
    .pairing = RopePairing::Adjacent,
    .mayTieOutput = true,
    .mayLackNormBias = true,
    .keys = keys,
    .completeParameters = completeCommandR,
    .buildBlock = buildCommandRBlock,
};

} // namespace tenon::frontends
