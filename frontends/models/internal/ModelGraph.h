#ifndef TENON_FRONTENDS_MODELS_INTERNAL_MODELGRAPH_H
#define TENON_FRONTENDS_MODELS_INTERNAL_MODELGRAPH_H

#include <cstdint>
#include <string>
#include <string_view>

#include "frontends/builder/GraphBuilder.h"
#include "frontends/models/internal/Hyperparameters.h"
#include "frontends/models/internal/RopeFrequencies.h"
#include "frontends/models/internal/WeightTable.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tenon::frontends {

struct Architecture;

/// Whether a linear layer has a bias.
enum class Bias {
  Optional, ///< where the file has the tensor
  Required
};

/// The heads of an attention layer, each [rows, heads or KV heads, size].
struct Heads {
  Value query;
  Value key;
  Value value;
  Value sinks = {}; ///< [heads]: scores without a value that join the softmax; or empty
};

/// One entry function while it is built, and the layers that model families share. Names of
/// tensors are those after the block's prefix: `attn_q` is `blk.3.attn_q.weight` and
/// `blk.3.attn_q.bias` in block 3. Errors stay in the builder, so families check nothing.
class ModelGraph {
public:
  /// What the functions of a model share.
  struct Shared {
    const Architecture& architecture;
    const ModelSource& source;
    const Hyperparameters& parameters;
    const RopeFrequencies& frequencies;
    WeightTable& weights;
    GraphBuilder& builder;
    mlir::Type cacheType; ///< null: that of the activations
    RingShape ring = {};  ///< without a window where the caches are dense
    /// Whether caches hold heads in a Hadamard transform, and queries meet them in one.
    bool transformsHeads = false;
  };
  /// The inputs of the open function, each i32 [rows], `sequences` possibly [1].
  struct Inputs {
    Value ids;
    Value sequences;
    Value positions;
    Value mask = {};        ///< of an encoder, f32 [rows]: 1 for tokens, 0 for rows without one
    bool areChunks = false; ///< whether rows beside each other are mostly of one sequence
  };
  ModelGraph(const Shared& shared, const Inputs& inputs);

  GraphBuilder& builder() { return shared.builder; }
  const Hyperparameters& parameters() const { return shared.parameters; }
  /// Whether the file has that tensor of the block, `attn_norm_2.weight`.
  bool has(std::string_view tensor) const { return shared.weights.has(tensorName(tensor, "")); }
  /// The tensor `name` of the block, a vector of f32 or of the activation type: [length].
  Value vector(std::string_view name, int64_t length);
  /// The architecture's metadata key of that name, a bool; false after an error.
  bool flag(std::string_view key);

  /// Number of the block that is being built.
  int64_t blockIndex() const { return layer; }

  /// The token embedding times `Hyperparameters::embeddingScale`: [rows, hidden].
  Value embedTokens();
  /// The embedding of the positions, learned with the model: [rows, hidden].
  Value embedPositions();
  /// What the row 0 of `token_types` adds to every token of a text that stands alone: [1, hidden].
  Value embedFirstType();
  /// Block `layer` of the architecture applied to `x` [rows, hidden], in scope `blk.<layer>`.
  Value block(int64_t layer, Value x);
  /// The final norm of the blocks' result: [rows, hidden] to the same.
  Value normOutput(Value x) { return norm(x, "output_norm"); }
  /// The output layer of what is normed, its bias where the family has one, the factor of the logits
  /// and the soft-cap: [rows, hidden] to f32 [rows, vocabulary].
  Value logits(Value normed);
  /// What the file's head (Gloeckle et al. 2024, arXiv 2404.19737; DeepSeek-AI 2024, arXiv 2412.19437)
  /// makes of the rows' `normOutput` and of the ids [rows] of the tokens behind them, with caches of
  /// its own at the rows' positions: normed for `logits` of the tokens after those, [rows, hidden].
  ///
  ///     x = mtp_input([mtp_hidden_norm(hidden), mtp_token_norm(token_embd(next))])
  ///     y = mtp_output_norm(block(x)), of tensors `mtp_*`
  Value draftHidden(Value hidden, Value next);

  /// What the pooling of the parameters makes of the vectors of an encoder's tokens: [rows, hidden]
  /// to f32 [1, hidden].
  Value pool(Value x);

  /// The architecture's norm over the innermost axis.
  Value norm(Value x, std::string_view name);
  /// x · Wᵀ + bias: [rows, inputs] to [rows, outputs].
  Value linear(Value x, std::string_view name, int64_t outputs, Bias bias);
  /// The same with rows `part` of the fused tensors `fused`, which have `outputs` rows in all.
  Value linearPart(Value x, std::string_view name, std::string_view fused, int64_t outputs,
                   RowRange part, Bias bias);
  /// `attn_q`, `attn_k` and `attn_v` of `x` [rows, hidden]; where the file has `attn_qkv`, from that, in
  /// which the rows of the three lie after one another.
  Heads projectHeads(Value x, Bias bias);
  /// The same of a file that has `attn_qkv` alone.
  Heads projectFusedHeads(Value x, Bias bias);
  /// The same without biases, and Q and K, all heads of a row at once, normed by `attn_q_norm` and
  /// `attn_k_norm`.
  Heads projectNormedHeads(Value x);
  /// The same heads with each of Q and K normed by `attn_q_norm` and `attn_k_norm`.
  Heads normEachHead(Heads heads);
  /// The same heads, each of Q and K normed over its mean and variance, times a row of its own of
  /// `attn_q_norm` and `attn_k_norm`, [heads, size]; as they are where the file has none.
  Heads normHeadsApart(Heads heads);
  /// Rotates Q and K as the metadata say, stores K and V in the block's cache, attends to it within
  /// the block's window and projects: attn_output(attention(rope(q), rope(k), v)), [rows, hidden].
  Value rotateAndAttend(Heads heads, Bias bias);
  /// The same of heads that stay as they are: attn_output(attention(q, k, v)).
  Value attend(Heads heads, Bias bias);
  /// `x` and what a half of a block makes of it, times `Hyperparameters::residualScale`.
  Value addResidual(Value x, Value change, std::string_view name);
  /// The rest of a block whose halves follow one another, with r the factor of `addResidual`:
  ///
  ///     h = x + r · attention
  ///     y = h + r · mlp(ffn_norm(h))
  Value addHalves(Value x, Value attention, llvm::function_ref<Value(Value)> mlp);
  /// The same with `feedForward`.
  Value addHalves(Value x, Value attention, Activation activation);
  /// `expertMlp` where the file has experts, else `gatedMlp`.
  Value feedForward(Value x, Activation activation);
  /// ffn_down(activation(ffn_gate(x)) · ffn_up(x)): [rows, hidden] to the same.
  Value gatedMlp(Value x, Activation activation);
  /// The same where the rows of gate and up lie after one another in `ffn_up`.
  Value fusedGatedMlp(Value x, Activation activation);
  /// ffn_down(gelu(ffn_up(x))) with the tanh form of GELU: [rows, hidden] to the same.
  Value geluTanhMlp(Value x, Bias bias);
  /// The same with `outputs` rows of gate and up, and tensors that end in `suffix`.
  Value gatedMlp(Value x, Activation activation, std::string_view suffix, int64_t outputs);
  /// The mixture of the experts that `ffn_gate_inp` chooses for each row: [rows, hidden] to the
  /// same. With p the softmax of ffn_gate_inp(x) over all experts, C the experts with the largest p
  /// (ties: the lower number) and, where the weights are normalised, p divided by its sum over C:
  ///
  ///     y = Σ_{e in C} p_e · ffn_down_exps_e(unit(ffn_gate_exps_e(x), ffn_up_exps_e(x)))
  ///
  /// Each product has a bias where the file has one.
  Value expertMlp(Value x, llvm::function_ref<Value(Value gate, Value up)> unit);
  /// The same with activation(gate) · up as the unit.
  Value expertMlp(Value x, Activation activation);

private:
  /// The same of other tokens than those of the call, i32 [rows].
  Value embedTokens(Value ids);
  std::string tensorName(std::string_view name, std::string_view suffix) const;
  /// `x` [rows, inputs] with its columns in the order of those of the tensor `weight`.
  Value inOrderOf(Value x, const std::string& weight);
  /// [rows, heads · size] to [rows, heads, size].
  Value splitHeads(Value x, int64_t heads, std::string_view name);
  Value normHeadsApart(Value heads, std::string_view name);
  /// Flat projections [rows, heads · size] as heads.
  Heads splitHeads(const Heads& flat);
  /// `x` within the bounds that the parameters state, if they do.
  Value clampHeads(Value x, std::string_view name);
  Heads projectFlat(Value x, Bias bias, bool isFused);
  /// Of each expert that `ids` [rows, chosen] name its row of the bias of `name`, [experts,
  /// outputs]; empty where the file has none.
  Value expertBias(std::string_view name, Value ids, int64_t outputs);
  bool isWindowed() const;
  /// Positions that the block looks back, its own included; 0: all.
  int64_t window() const;

  /// Queries as attention takes them: for a ring its three views, [3 · rows, heads, head size], of which
  /// each is rotated for other keys.
  Value inViews(Value query);
  /// Rotates the heads of `x` at `positions` as the metadata say.
  Value rotate(Value x, Value positions, std::string_view name);
  /// Attention of the block's window to its caches, in which keys and values are stored; [rows,
  /// heads, value size].
  Value attendToCaches(const Heads& heads);
  /// That of an encoder, to the tokens of the call: the same shape.
  Value attendToTokens(const Heads& heads);
  /// `attend`, of queries in views.
  Value attendInViews(const Heads& heads, Bias bias);
  /// Rounds heads to the element type of the caches, where they have one of a plain type.
  Value roundToCache(Value x, std::string_view name);

  Shared shared;
  Inputs inputs;
  Value inverseFrequencies;
  Value windowedFrequencies; ///< of windowed blocks, where theirs are others
  Value alibiSlopes;
  Value keyPositions, queryPositions; ///< at which keys and queries are rotated
  /// `blk.<layer>.` inside a block, `mtp_` inside the head that guesses.
  std::string prefix;
  int64_t layer = 0;
};

/// What the names of the tensors of a head that guesses begin with.
inline constexpr std::string_view draftTensors = "mtp_";

/// The names of a block's caches.
std::string keyStateName(int64_t layer);
std::string valueStateName(int64_t layer);

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_MODELGRAPH_H
