#ifndef TENON_RUNTIME_PROGRAM_MODELPORTS_H
#define TENON_RUNTIME_PROGRAM_MODELPORTS_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/program/Program.h"

namespace tenon::runtime {

/// The ports that a function of a language model has, each once, beside outputs of no role.
struct ModelPorts {
  /// `ids`, `sequences` and `positions`, i32 [rows]; of Prefill one sequence, and of Prefill and Mixed
  /// `output_rows`, i32 [rows of logits]; where caches are paged `block_table`, i32 [sequences, blocks].
  std::vector<Port> inputs;
  /// `logits`, f32 [rows of logits, vocabulary]: of Decode all rows, of Prefill one, of Mixed one of each
  /// sequence that the states hold, as far as there are rows.
  Port logits;
  /// `next_ids`, i32 [rows of logits], which not every function has.
  Port nextIds;
  /// Of Decode, where its rows may be guesses: `accepted_ids`, `draft_ids`, `step_ids` and
  /// `step_positions`, each i32 [rows], of which a function may have any; the last two belong together, and to
  /// `accepted_ids`.
  std::vector<Port> guesses;
};

/// The ports of a Decode, Prefill or Mixed function of `rows` rows, from 0 on, of a model with that
/// vocabulary and those sequences, and where its caches are paged with that context and those pages.
ModelPorts modelPorts(Role role, int64_t rows, const ModelInfo& model);

/// `decode`, `prefill`, `mixed` or `other`.
const char* roleName(Role role);

/// Where the first port of that role is among `ports`; nothing where none has it.
std::optional<size_t> findPort(const std::vector<Port>& ports, PortRole role);

/// True where encoding, shape and bytes are the same; names are free.
bool holdsTheSame(const Port& a, const Port& b);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_MODELPORTS_H
