#include "runtime/LanguageModel.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime {

/// An entry of a block table that names no page.
constexpr int32_t noPage = -1;
/// Bounds what is allocated for a block table.
constexpr int64_t maxTableEntries = int64_t(1) << 28;

LanguageModel::LanguageModel(Executor& executor, std::string_view caller)
    : executor(&executor), caller(caller), blockTable(std::make_unique<std::vector<int32_t>>()) {
  if (!info().isPaged())
    return;
  blockTable->resize(size_t(info().sequences * info().blocks()));
  for (size_t entry = 0; entry < blockTable->size(); ++entry)
    (*blockTable)[entry] = int64_t(entry) < info().pages ? int32_t(entry) : noPage;
}

void LanguageModel::setPages(int32_t sequence, std::span<const int32_t> pages) {
  const auto row =
      std::span(*blockTable).subspan(size_t(sequence * info().blocks()), size_t(info().blocks()));
  std::ranges::fill(std::ranges::copy(pages, row.begin()).out, row.end(), noPage);
}

absl::StatusOr<LanguageModel> LanguageModel::create(Executor& executor, std::string_view caller) {
  const Program& program = executor.program();
  if (!program.model)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects the program of a language model, but it describes no model", caller));
  const int64_t context = program.model->context;
  if (context < 1 || context > std::numeric_limits<int32_t>::max())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects a context of 1 to 2147483647, but got %d", caller, context));
  const ModelInfo& info = *program.model;
  if (info.isPaged() && info.sequences > maxTableEntries / info.blocks())
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects a block table of at most %d entries, but got %d sequences of %d", caller,
        maxTableEntries, info.sequences, info.blocks()));
  LanguageModel model(executor, caller);
  for (size_t index = 0; index < program.functions.size(); ++index) {
    const Role role = program.functions[index].role;
    if (role == Role::Other)
      continue;
    TENON_ASSIGN_OR_RETURN(ModelFunction function,
                           ModelFunction::create(executor, index, *model.blockTable));
    model.functionsOf(role).push_back(std::move(function));
  }
  for (std::vector<ModelFunction>* functions : {&model.decodes, &model.prefills, &model.mixes})
    std::ranges::sort(*functions, {}, &ModelFunction::rows);
  return model;
}

std::vector<ModelFunction>& LanguageModel::functionsOf(Role role) {
  return role == Role::Decode ? decodes : role == Role::Prefill ? prefills : mixes;
}

bool LanguageModel::endsAt(int32_t id) const {
  const std::optional<TokenizerSpec>& tokenizer = executor->program().tokenizer;
  return tokenizer && tokenizer->endsGeneration(id);
}

absl::Status LanguageModel::checkIds(std::span<const int32_t> ids) const {
  if (ids.empty() || int64_t(ids.size()) > info().context)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects from 1 to %d ids (the context), but got %d", caller,
                        info().context, ids.size()));
  for (size_t i = 0; i < ids.size(); ++i)
    if (ids[i] < 0 || ids[i] >= info().vocabulary)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: expects ids from 0 to %d, but got %d at position %d", caller,
                          info().vocabulary - 1, ids[i], i));
  return absl::OkStatus();
}

ModelFunction& LanguageModel::decode(int64_t rows) {
  return *std::ranges::lower_bound(decodes, rows, {}, &ModelFunction::rows);
}

/// Of functions by rows, the one for the next of `count` tokens (`LanguageModel::prefill`).
static ModelFunction& chooseFor(std::span<ModelFunction> functions, int64_t count) {
  auto larger = std::ranges::lower_bound(functions, count, {}, &ModelFunction::rows);
  if (larger == functions.begin())
    return *larger;
  ModelFunction& filled = *std::prev(larger);
  if (larger == functions.end())
    return filled;
  const bool isPredicted = larger->predictedNs() > 0 && filled.predictedNs() > 0;
  auto costOf = [&](const ModelFunction& function) {
    return static_cast<double>(isPredicted ? function.predictedNs() : function.rows());
  };
  const int64_t calls = (count + filled.rows() - 1) / filled.rows();
  return costOf(*larger) <= static_cast<double>(calls) * costOf(filled) ? *larger : filled;
}

ModelFunction& LanguageModel::prefill(int64_t count) { return chooseFor(chunkFunctions(), count); }

ModelFunction& LanguageModel::mixed(int64_t least, int64_t count) {
  auto first = std::ranges::lower_bound(mixes, least, {}, &ModelFunction::rows);
  return chooseFor({first, mixes.end()}, count);
}

absl::StatusOr<std::span<const float>> LanguageModel::feed(std::span<const int32_t> ids,
                                                           int64_t first) {
  std::span<const float> logits;
  std::vector<TokenRow> rows;
  for (size_t at = 0; at < ids.size(); at += rows.size()) {
    const size_t left = ids.size() - at;
    // One token, which most calls have, is a step of decode.
    ModelFunction& function = hasPrefill() && left > 1 ? prefill(int64_t(left)) : decode(1);
    rows.resize(std::min(size_t(function.rows()), left));
    for (size_t row = 0; row < rows.size(); ++row)
      rows[row] = {.id = ids[at + row], .position = int32_t(first + int64_t(at + row))};
    TENON_RETURN_IF_ERROR(function.run(rows));
    logits = function.logits();
  }
  return logits;
}

} // namespace tenon::runtime
