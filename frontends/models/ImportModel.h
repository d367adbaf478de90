#ifndef TENON_FRONTENDS_MODELS_IMPORTMODEL_H
#define TENON_FRONTENDS_MODELS_IMPORTMODEL_H

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "frontends/models/ModelSource.h"
#include "ir/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tenon::frontends {

/// The element type of activations and KV caches.
enum class ActivationType {
  F32,
  F16,
  BF16,
  /// bf16 where more bytes of the weights are bf16 than f16, otherwise f16: for devices whose
  /// arithmetic is widest in 16 bits.
  SuitsWeights
};

/// What the KV caches hold.
enum class CacheType {
  Activations, ///< the element type of activations
  F32,
  F16,
  BF16,
  Q8,  ///< 8-bit integers, one scale a head of a position (ir/encoding/CacheEncoding.h)
  FP8, ///< E4M3 numbers, the same
  Q4   ///< 4-bit integers, the same, of heads that a Hadamard transform spreads out
};

/// A function to make: decode with `rows` tokens of any sequences, prefill with a chunk of `rows`
/// tokens, or mixed, with chunks of several sequences, `rows` tokens together.
struct EntryShape {
  Role role;
  int64_t rows;
};

/// More rows than any entry has use for, and few enough for every size to fit an int64_t.
inline constexpr int64_t highestRows = 1 << 16;

/// What to make of a model file.
struct ImportOptions {
  ActivationType activations = ActivationType::F32;
  /// At least one; functions are named `decode_<rows>`, `prefill_<rows>` and `mixed_<rows>`.
  std::vector<EntryShape> entries = {{Role::Decode, 1}, {Role::Prefill, 32}};
  /// Whether prefill entries of more rows than the caches hold positions, or than the window of a
  /// stream has, are left out.
  bool fitEntries = false;
  /// Positions that the KV caches hold. 0: the model's context length, at most
  /// `defaultContextLength`. More than the model's context length is an error.
  int64_t contextLength = 0;
  /// Sequences that the KV caches hold. 0: as many as the largest decode entry has rows. Fewer are
  /// enough where rows are tokens of one sequence.
  int64_t sequences = 0;
  CacheType cache = CacheType::Activations;
  /// Where `window` is not 0, the caches are rings of a stream without end: a row attends to the
  /// first `keptTokens` tokens of its sequence and to the last `window`, itself included, at the
  /// places that they have among these (docs/decisions/0012). `contextLength` must be 0 then.
  int64_t keptTokens = 0;
  int64_t window = 0;
  /// Whether each function also returns every block's output, `blk.<n>.output`
  /// [rows, hidden] in the activation type.
  bool blockOutputs = false;
  /// Whether each function also returns the most likely token after each row of logits,
  /// `next_ids` i32 [rows of logits], so that greedy decoding needs no logits on the host.
  bool nextIds = false;
  /// Whether decode functions of 2 to 32 rows also return `accepted_ids` i32 [rows], what
  /// `tenon.accept` says of rows that are one sequence's last token and guesses behind it.
  bool acceptedIds = false;
  /// Whether the file's head that guesses the token after the next is part of the functions. Decode also
  /// returns `next_ids` and `draft_ids` i32 [rows], what may follow after the next, and decode of two
  /// rows `accepted_ids`, `step_ids` and `step_positions` i32 [2], the ids and positions of its next call. An
  /// error where the file has none.
  bool draftIds = false;
  /// Metadata keys, as the file or as Tenon names them, that are passed over although they may
  /// change what the model computes.
  std::vector<std::string> ignoredKeys = {};
};

/// The capacity of the caches where nothing states one: models allow up to 128K positions, whose
/// caches can exceed the weights.
inline constexpr int64_t defaultContextLength = 4096;

/// Makes a module of the model in `source`, in phase `input`.
///
/// Each entry is a function with the inputs `ids` i32 [rows], `sequences` i32 [rows] (prefill:
/// [1]), `positions` i32 [rows] and `output_rows`, the rows whose logits are wanted: for prefill i32
/// [1], for mixed i32 [sequences or rows, whichever is fewer], one of each sequence; decode has those
/// of all rows. Its first result is `logits` f32 [that many, vocabulary]. The functions share the states
/// `kv.<n>.k` and `kv.<n>.v` [sequences, context, KV heads, head size]. Weights have the canonical
/// names of the source's tensors and refer to their bytes in its files.
///
/// An encoder has a function `encode_<rows>` instead of each prefill, and none for decode, with the
/// inputs `ids` i32 [rows] and `mask` f32 [rows], 1 for the tokens of a text and 0 for rows after
/// them. Its first result is `embedding` f32 [1, hidden], the text's vector as pooling makes it. It
/// has neither caches nor a `tenon.model`.
///
/// Errors name the file and the key or tensor, what was expected and what was found: keys and
/// tensors that are missing, of another type or shape, that contradict one another, or that the
/// architecture has no use for or does not honour, so that no model is silently computed in another way than meant.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext& context,
                                                              const ModelSource& source,
                                                              const ImportOptions& options = {});

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_IMPORTMODEL_H
