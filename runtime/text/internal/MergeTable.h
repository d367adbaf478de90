#ifndef TENON_RUNTIME_TEXT_INTERNAL_MERGETABLE_H
#define TENON_RUNTIME_TEXT_INTERNAL_MERGETABLE_H

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"

#include "runtime/program/TokenizerSpec.h"
#include "runtime/text/internal/MergeSymbols.h"
#include "support/TextHash.h"

namespace tenon::runtime::internal {

/// Token ids by text.
using TextIndex = absl::flat_hash_map<std::string_view, int32_t, TextHash>;

/// The merges of a BPE by the ids of both sides. The priority is the rank.
class MergeTable {
public:
  /// Reads `spec.merges`; `idByText` has all tokens. InvalidArgument names a merge that is not `left
  /// right` or whose parts or result are no tokens.
  static absl::StatusOr<MergeTable> create(const TokenizerSpec& spec, const TextIndex& idByText);

  /// The merge of two neighbours, each a token.
  std::optional<Merge<int32_t>> find(const Symbol& left, const Symbol& right) const;

private:
  /// left << 32 | right.
  absl::flat_hash_map<uint64_t, Merge<int32_t>> mergeByPair;
};

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_TEXT_INTERNAL_MERGETABLE_H
