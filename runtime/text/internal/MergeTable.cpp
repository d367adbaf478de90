#include "runtime/text/internal/MergeTable.h"

#include <limits>

#include "absl/strings/str_format.h"

#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

uint64_t pairKey(int32_t left, int32_t right) {
  return uint64_t(uint32_t(left)) << 32 | uint32_t(right);
}

absl::StatusOr<int32_t> mergeToken(const TextIndex& idByText, size_t rank, std::string_view text) {
  const auto found = idByText.find(text);
  if (found == idByText.end())
    return absl::InvalidArgumentError(absl::StrFormat(
        "tokenizer: expects the parts and the result of merge %d to be tokens, but '%s' is none",
        rank, text));
  return found->second;
}

} // namespace

absl::StatusOr<MergeTable> MergeTable::create(const TokenizerSpec& spec,
                                              const TextIndex& idByText) {
  const std::vector<std::string>& merges = spec.merges;
  if (merges.size() > size_t(std::numeric_limits<int32_t>::max()))
    return absl::InvalidArgumentError(
        absl::StrFormat("tokenizer: expects at most 2147483647 merges, but got %d", merges.size()));
  MergeTable table;
  table.mergeByPair.reserve(merges.size());
  for (size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view merge = merges[rank];
    const size_t space = merge.find(' ', 1); // the left part may itself start with a space
    if (space == std::string_view::npos || space + 1 == merge.size())
      return absl::InvalidArgumentError(absl::StrFormat(
          "tokenizer: expects merge %d to be 'left right', but got '%s'", rank, merge));
    const std::string_view left = merge.substr(0, space);
    const std::string_view right = merge.substr(space + 1);
    TENON_ASSIGN_OR_RETURN(const int32_t leftId, mergeToken(idByText, rank, left));
    TENON_ASSIGN_OR_RETURN(const int32_t rightId, mergeToken(idByText, rank, right));
    TENON_ASSIGN_OR_RETURN(const int32_t mergedId,
                           mergeToken(idByText, rank, std::string(left) + std::string(right)));
    table.mergeByPair.try_emplace(pairKey(leftId, rightId),
                                  Merge<int32_t>{int32_t(rank), mergedId});
  }
  return table;
}

std::optional<Merge<int32_t>> MergeTable::find(const Symbol& left, const Symbol& right) const {
  const auto found = mergeByPair.find(pairKey(left.id, right.id));
  if (found == mergeByPair.end())
    return std::nullopt;
  return found->second;
}

} // namespace tenon::runtime::internal
