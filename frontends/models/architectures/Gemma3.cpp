#include <cmath>

#include "absl/strings/str_cat.h"

#include "frontends/models/Architecture.h"
#include "frontends/models/internal/GemmaEmbedding.h"
#include "support/Status.h"

namespace tenon::frontends {

/// What files do not state: the largest, of 62 blocks, scales attention by the even share of the hidden
/// size instead of by its head size, as llama.cpp derives it. A stated pattern must be the family's.
static absl::Status completeGemma3(const ModelSource& source, Hyperparameters& p) {
  constexpr int64_t period = 6;
  if (!source.has("attention.scale") && p.blocks == 62)
    p.attentionScale =
        1.0 / std::sqrt(static_cast<double>(p.hidden) / static_cast<double>(p.heads));
  TENON_ASSIGN_OR_RETURN(
      int64_t stated, source.count("attention.sliding_window_pattern", int64_t(1) << 16, period));
  if (stated != period)
    return source.keyError("attention.sliding_window_pattern", absl::StrCat(period),
                           absl::StrCat(stated));
  return absl::OkStatus();
}

/// Gemma Team 2025, arXiv 2503.19786: Gemma 2's block with norms of the heads of Q and K in place of the
/// soft-cap. Five of six blocks attend within the window, rotated with a base of 10,000.
///
///     n = attn_norm(x)
///     q = rope(attn_q_norm(attn_q(n))), k = rope(attn_k_norm(attn_k(n)))
///     h = x + post_attention_norm(attn_output(attention(q, k, attn_v(n))))
///     m = ffn_norm(h)
///     y = h + post_ffw_norm(ffn_down(gelu_tanh(ffn_gate(m)) · ffn_up(m)))
static Value buildGemma3Block(ModelGraph& graph, Value x) {
  GraphBuilder& builder = graph.builder();
  Heads heads = graph.normEachHead(graph.projectHeads(graph.norm(x, "attn_norm"), Bias::Optional));
  Value attention = graph.rotateAndAttend(heads, Bias::Optional);
  Value middle =
      builder.add(x, graph.norm(attention, "post_attention_norm"), {.name = "attn_residual"});
  Value mlp = graph.gatedMlp(graph.norm(middle, "ffn_norm"), Activation::GeluTanh);
  return builder.add(middle, graph.norm(mlp, "post_ffw_norm"), {.name = "ffn_residual"});
}

static constexpr std::string_view keys[] = {"attention.sliding_window_pattern",
                                            "rope.freq_base_swa"};

extern const Architecture gemma3Architecture;
constexpr Architecture gemma3Architecture = {
    .name = "gemma3",
    .norm = NormKind::Rms,
    .pairing = RopePairing::Halves,
    .mayTieOutput = true,
    .windowed = WindowedBlocks::FiveOfSix,
    .windowedRopeBase = 10000,
    .keys = keys,
    .completeParameters = completeGemma3,
    .buildEmbedding = buildGemmaEmbedding,
    .buildBlock = buildGemma3Block,
};

} // namespace tenon::frontends
