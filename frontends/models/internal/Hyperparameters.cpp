#include "frontends/models/internal/Hyperparameters.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/models/Architecture.h"
#include "support/Status.h"

namespace tenon::frontends {

/// Far above any model, and low enough that products of two sizes, in bytes, fit an int64_t.
static constexpr int64_t highestSize = int64_t(1) << 28;
static constexpr int64_t highestHeads = int64_t(1) << 16;
static constexpr int64_t highestExperts = int64_t(1) << 16;

/// The number after `blk.` in a tensor's name, or nothing.
static std::optional<int64_t> blockNumber(std::string_view name) {
  if (!name.starts_with("blk."))
    return std::nullopt;
  std::string digits(name.substr(4, name.find('.', 4) - 4));
  int64_t number;
  return absl::SimpleAtoi(digits, &number) ? std::optional(number) : std::nullopt;
}

/// Too few blocks in the file show as a missing tensor; too many would go unnoticed.
static absl::Status checkBlockCount(const ModelSource& source, int64_t blocks) {
  for (const SourceTensor& tensor : source.tensors())
    if (std::optional<int64_t> number = blockNumber(tensor.name); number && *number >= blocks)
      return source.keyError("block_count",
                             absl::StrFormat("more than %d for tensor '%s'", *number, tensor.name),
                             absl::StrCat(blocks));
  return absl::OkStatus();
}

static absl::Status readHeads(const ModelSource& source, Hyperparameters& p) {
  TENON_ASSIGN_OR_RETURN(p.heads, source.count("attention.head_count", highestHeads));
  TENON_ASSIGN_OR_RETURN(p.kvHeads, source.count("attention.head_count_kv", highestHeads, p.heads));
  if (p.heads % p.kvHeads != 0)
    return source.keyError("attention.head_count_kv",
                           absl::StrFormat("a divisor of the %d heads", p.heads),
                           absl::StrCat(p.kvHeads));
  bool statesSizes = source.has("attention.key_length") && source.has("attention.value_length");
  if (!statesSizes && p.hidden % p.heads != 0)
    return source.keyError("attention.head_count",
                           absl::StrFormat("a divisor of the embedding length, %d", p.hidden),
                           absl::StrCat(p.heads));
  int64_t evenSize = p.hidden / p.heads;
  TENON_ASSIGN_OR_RETURN(p.headSize, source.count("attention.key_length", highestHeads, evenSize));
  TENON_ASSIGN_OR_RETURN(p.valueSize,
                         source.count("attention.value_length", highestHeads, evenSize));
  TENON_ASSIGN_OR_RETURN(p.rotarySize,
                         source.count("rope.dimension_count", highestHeads, p.headSize));
  if (p.rotarySize > p.headSize || p.rotarySize % 2 != 0)
    return source.keyError("rope.dimension_count",
                           absl::StrFormat("an even number up to the head size, %d", p.headSize),
                           absl::StrCat(p.rotarySize));
  TENON_ASSIGN_OR_RETURN(
      p.attentionScale,
      source.numberAbove(0, "attention.scale", 1.0 / std::sqrt(static_cast<double>(p.headSize))));
  return absl::OkStatus();
}

/// A window of 0, or none at all, leaves attention as it is.
static absl::Status readWindow(const ModelSource& source, const Architecture& architecture,
                               Hyperparameters& p) {
  TENON_ASSIGN_OR_RETURN(p.window, source.countOrZero("attention.sliding_window", highestSize));
  if (p.window != 0 && architecture.windowed == WindowedBlocks::None)
    return source.keyError("attention.sliding_window", "to be absent or 0", absl::StrCat(p.window));
  return absl::OkStatus();
}

static absl::Status readSoftcaps(const ModelSource& source, Hyperparameters& p) {
  TENON_ASSIGN_OR_RETURN(p.attentionSoftcap, source.numberAbove(0, "attn_logit_softcapping", 0.0));
  TENON_ASSIGN_OR_RETURN(p.logitSoftcap, source.numberAbove(0, "final_logit_softcapping", 0.0));
  return absl::OkStatus();
}

/// Zero, or nothing at all, leaves attention as it is.
static absl::StatusOr<double> readLimit(const ModelSource& source, const Architecture& architecture,
                                        std::string_view key) {
  if (std::ranges::find(architecture.keys, key) == architecture.keys.end())
    return 0;
  TENON_ASSIGN_OR_RETURN(double limit, source.numberAbove(-1, key, 0.0));
  if (limit < 0)
    return source.keyError(key, "a number of 0 or more", absl::StrCat(limit));
  return limit;
}

/// The vocabulary is the embedding's number of rows; whatever else states it must agree.
static absl::StatusOr<int64_t> readVocabulary(const ModelSource& source, int64_t hidden) {
  TENON_ASSIGN_OR_RETURN(const SourceTensor* table, source.requireTensor("token_embd.weight"));
  const std::vector<int64_t>& shape = table->shape;
  if (shape.size() != 2 || shape[1] != hidden || shape[0] > highestSize) {
    std::string found = absl::StrCat(shape.size(), " axes");
    if (shape.size() == 2)
      found = absl::StrFormat("[%d, %d]", shape[0], shape[1]);
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: tensor 'token_embd.weight' expects shape [vocabulary, %d], but got %s",
                        source.pathOf(*table), hidden, found));
  }
  int64_t rows = shape[0];
  std::string expected = absl::StrFormat("the %d rows of tensor 'token_embd.weight'", rows);
  TENON_ASSIGN_OR_RETURN(int64_t stated, source.count("vocab_size", highestSize, rows));
  if (stated != rows)
    return source.keyError("vocab_size", expected, absl::StrCat(stated));
  TENON_RETURN_IF_ERROR(source.checkVocabulary(rows));
  return rows;
}

/// Defaults as llama.cpp has them for families that state no sizes of their own.
static absl::Status readExperts(const ModelSource& source, const Architecture& architecture,
                                Hyperparameters& p) {
  if (architecture.experts == Experts::None)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(p.experts, source.countOrZero("expert_count", highestExperts));
  if (p.experts == 0 && architecture.experts == Experts::Required)
    return source.keyError("expert_count", "an integer of at least 1", "0 or none");
  if (p.experts == 0) {
    TENON_ASSIGN_OR_RETURN(int64_t chosen, source.countOrZero("expert_used_count", highestExperts));
    return chosen == 0 ? absl::OkStatus()
                       : source.keyError("expert_used_count", "to be absent or 0 without experts",
                                         absl::StrCat(chosen));
  }
  TENON_ASSIGN_OR_RETURN(p.chosenExperts, source.count("expert_used_count", p.experts));
  TENON_ASSIGN_OR_RETURN(p.expertFfn,
                         source.count("expert_feed_forward_length", highestSize, p.ffn));
  TENON_ASSIGN_OR_RETURN(p.sharedFfn,
                         source.countOrZero("expert_shared_feed_forward_length", highestSize));
  p.normalisesExperts = architecture.normalisesExperts;
  if (source.has("expert_weights_norm")) {
    TENON_ASSIGN_OR_RETURN(p.normalisesExperts, source.flag("expert_weights_norm"));
  }
  return absl::OkStatus();
}

/// Each token of an encoder sees all others, and their vectors become one.
static absl::Status readEncoder(const ModelSource& source, Hyperparameters& p) {
  constexpr std::string_view causal = "attention.causal", pooling = "pooling_type";
  if (source.has(causal)) {
    TENON_ASSIGN_OR_RETURN(bool isCausal, source.flag(causal));
    if (isCausal)
      return source.keyError(causal, "false for an encoder", "true");
  }
  TENON_ASSIGN_OR_RETURN(int64_t kind, source.countOrZero(pooling, highestSize));
  p.pooling = static_cast<Pooling>(kind);
  if (kind != static_cast<int64_t>(Pooling::Mean) && kind != static_cast<int64_t>(Pooling::First))
    return source.keyError(pooling, "1, the mean of all tokens, or 2, the first token",
                           kind == 0 ? "0 or none" : absl::StrCat(kind));
  return absl::OkStatus();
}

absl::StatusOr<Hyperparameters> readHyperparameters(const ModelSource& source,
                                                    const Architecture& architecture) {
  Hyperparameters p;
  int64_t tensors = static_cast<int64_t>(source.tensors().size());
  TENON_ASSIGN_OR_RETURN(p.blocks, source.count("block_count", tensors));
  TENON_RETURN_IF_ERROR(checkBlockCount(source, p.blocks));
  TENON_ASSIGN_OR_RETURN(p.hidden, source.count("embedding_length", highestSize));
  TENON_ASSIGN_OR_RETURN(p.ffn, source.count("feed_forward_length", highestSize));
  TENON_ASSIGN_OR_RETURN(p.contextLength, source.count("context_length", highestSize));
  TENON_RETURN_IF_ERROR(readHeads(source, p));
  TENON_ASSIGN_OR_RETURN(p.vocabulary, readVocabulary(source, p.hidden));
  TENON_ASSIGN_OR_RETURN(p.normEpsilon,
                         source.numberAbove(0, architecture.norm == NormKind::Rms
                                                   ? "attention.layer_norm_rms_epsilon"
                                                   : "attention.layer_norm_epsilon"));
  TENON_RETURN_IF_ERROR(readWindow(source, architecture, p));
  TENON_RETURN_IF_ERROR(readSoftcaps(source, p));
  TENON_RETURN_IF_ERROR(readExperts(source, architecture, p));
  TENON_ASSIGN_OR_RETURN(p.alibiBias, readLimit(source, architecture, "attention.max_alibi_bias"));
  TENON_ASSIGN_OR_RETURN(p.clampQkv, readLimit(source, architecture, "attention.clamp_kqv"));
  if (architecture.isEncoder)
    TENON_RETURN_IF_ERROR(readEncoder(source, p));
  if (architecture.mayHaveDraftHead) {
    TENON_ASSIGN_OR_RETURN(int64_t heads, source.countOrZero("nextn_predict_layers", tensors));
    if (heads > 1)
      return source.keyError("nextn_predict_layers", "at most one head", absl::StrCat(heads));
    p.hasDraftHead = heads == 1;
  }
  if (architecture.completeParameters)
    TENON_RETURN_IF_ERROR(architecture.completeParameters(source, p));
  return p;
}

} // namespace tenon::frontends
