#include "runtime/batching/internal/SchedulerImpl.h"
#include "support/Status.h"

namespace tenon::runtime {

using internal::ChunkOfSequence;
using internal::elapsedNs;
using internal::RowsOfSequence;
using internal::Sequence;
using internal::Sequences;

absl::Status BatchScheduler::Impl::runNext() {
  if (mixesNext()) {
    prefilledLast = false;
    return runMixed();
  }
  // Those that began first are first among the prompts: turns move sequences of decode alone.
  auto prompt =
      model.hasPrefill() ? std::ranges::find_if(running, &Sequence::needsPrefill) : running.end();
  const bool hasDecode =
      !model.hasPrefill() || !std::ranges::all_of(running, &Sequence::needsPrefill);
  const bool isPrefill = prompt != running.end() && !(prefilledLast && hasDecode);
  prefilledLast = isPrefill;
  return isPrefill ? runPrefill(prompt) : runDecode();
}

bool BatchScheduler::Impl::mixesNext() const {
  if (options.isBatchInvariant || model.mostMixedRows() == 0)
    return false;
  auto prompt = std::ranges::find_if(running, &Sequence::needsPrefill);
  if (prompt == running.end())
    return false;
  const int64_t prompts = std::ranges::count_if(running, &Sequence::needsPrefill);
  const int64_t decoding = int64_t(running.size()) - prompts;
  if (decoding > 0)
    return decoding < model.mostMixedRows();
  // One that fills the call by itself goes through Prefill.
  return prompts > 1 && int64_t(prompt->unfedPrefill()) < model.mostMixedRows();
}

absl::Status BatchScheduler::Impl::runMixed() {
  if (pages)
    growPages(model.mostMixedRows() - 1);
  std::vector<ChunkOfSequence> chunks;
  int64_t promptTokens = 0;
  for (auto sequence = running.begin(); sequence != running.end(); ++sequence) {
    if (!decodesNext(*sequence))
      promptTokens += int64_t(sequence->unfedPrefill());
    else if (hasPlace(*sequence))
      chunks.push_back({sequence});
  }
  // The prompts may all have given up their pages for tokens of older requests.
  if (promptTokens == 0)
    return runDecode();
  const auto decoding = int64_t(chunks.size());
  ModelFunction& function = model.mixed(decoding + 1, decoding + promptTokens);
  auto left = size_t(function.rows() - decoding);
  for (auto sequence = running.begin(); sequence != running.end() && left > 0; ++sequence)
    if (!decodesNext(*sequence)) {
      chunks.push_back({sequence, std::min(left, sequence->unfedPrefill())});
      left -= chunks.back().rows;
    }
  return runChunks(chunks, function);
}

absl::Status BatchScheduler::Impl::runChunks(std::span<const ChunkOfSequence> chunks,
                                             ModelFunction& function) {
  std::vector<TokenRow> rows;
  bool wantsLogits = false;
  for (const auto& [sequence, count] : chunks) {
    for (size_t row = 0; row < count; ++row)
      rows.push_back(sequence->row(sequence->fed + row));
    wantsLogits |=
        sequence->fed + count == sequence->tokens.size() && sequence->wantsLogits(function);
  }
  TENON_RETURN_IF_ERROR(function.run(rows, wantsLogits));
  ++counts.mixedCalls;
  counts.mixedTokens += int64_t(rows.size());
  for (size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const auto& [sequence, count] = chunks[chunk];
    advance(*sequence, count);
    if (sequence->fed == sequence->tokens.size())
      choose(sequence, function, chunk);
  }
  return absl::OkStatus();
}

absl::Status BatchScheduler::Impl::runPrefill(Sequences::iterator sequence) {
  const size_t left = sequence->unfedPrefill();
  ModelFunction& function = prefillFor(int64_t(left));
  std::vector<TokenRow> rows(std::min(size_t(function.rows()), left));
  for (size_t row = 0; row < rows.size(); ++row)
    rows[row] = sequence->row(sequence->fed + row);
  const bool wantsLogits = sequence->wantsLogits(function);
  TENON_RETURN_IF_ERROR(function.run(rows, wantsLogits));
  ++counts.prefillCalls;
  counts.prefillTokens += int64_t(rows.size());
  advance(*sequence, rows.size());
  if (sequence->fed == sequence->tokens.size())
    choose(sequence, function, /*row=*/0);
  return absl::OkStatus();
}

absl::Status BatchScheduler::Impl::addGuesses(std::vector<RowsOfSequence>& chosen,
                                              std::vector<TokenRow>& rows, int64_t mostRows) {
  for (RowsOfSequence& of : chosen) {
    const Sequence& sequence = *of.sequence;
    of.firstGuess = rows.size();
    // A token of a prompt has its successor.
    if (sequence.fed + 1 < sequence.tokens.size())
      continue;
    const auto known = int64_t(sequence.tokens.size());
    int64_t room = std::min(mostRows - int64_t(rows.size()), model.info().context - known);
    if (pages)
      room = std::min(room, pages->room(sequence.pages) - known);
    TENON_ASSIGN_OR_RETURN(const std::span<const int32_t> guesses,
                           of.sequence->drafter.draft(room));
    for (size_t i = 0; i < guesses.size(); ++i)
      rows.push_back({guesses[i], sequence.slot, int32_t(known + int64_t(i))});
    of.guesses = guesses.size();
  }
  return absl::OkStatus();
}

absl::Status BatchScheduler::Impl::runDecode() {
  if (pages)
    growPages(model.mostDecodeRows());
  std::vector<RowsOfSequence> chosen;
  std::vector<TokenRow> rows;
  for (auto sequence = running.begin();
       sequence != running.end() && int64_t(chosen.size()) < model.mostDecodeRows(); ++sequence)
    if (decodesNext(*sequence) && hasPlace(*sequence)) {
      chosen.push_back({sequence});
      rows.push_back(sequence->row(sequence->fed));
    }
  // Those that decoded may all have given up their pages for prompts of older requests.
  if (rows.empty())
    return absl::OkStatus();
  ModelFunction& function = decodeFor(int64_t(rows.size()));
  if (options.guessesInIdleRows)
    TENON_RETURN_IF_ERROR(addGuesses(chosen, rows, function.rows()));
  const bool wantsLogits = std::ranges::any_of(
      chosen, [&](const RowsOfSequence& of) { return of.sequence->wantsLogits(function); });
  TENON_RETURN_IF_ERROR(function.run(rows, wantsLogits));
  ++counts.decodeCalls;
  counts.decodeTokens += int64_t(chosen.size());
  counts.draftedTokens += int64_t(rows.size() - chosen.size());
  for (size_t row = 0; row < chosen.size(); ++row) {
    running.splice(running.end(), running, chosen[row].sequence);
    takeTokens(chosen[row], function, row, rows);
  }
  return absl::OkStatus();
}

void BatchScheduler::Impl::takeTokens(const RowsOfSequence& of, const ModelFunction& function,
                                      size_t row, std::span<const TokenRow> rows) {
  Sequence& sequence = *of.sequence;
  advance(sequence, 1);
  if (sequence.fed < sequence.tokens.size() || !choose(of.sequence, function, row))
    return;
  for (size_t guess = of.firstGuess; guess < of.firstGuess + of.guesses; ++guess) {
    if (rows[guess].id != sequence.tokens.back())
      return;
    // The states hold the guess already, and its row says what follows.
    advance(sequence, 1);
    ++counts.acceptedTokens;
    if (!choose(of.sequence, function, guess))
      return;
  }
}

bool BatchScheduler::Impl::choose(Sequences::iterator sequence, const ModelFunction& function,
                                  size_t row) {
  auto stop = [&](absl::Status status, StopReason reason) {
    end(sequence, std::move(status), reason);
    return false;
  };
  RequestResult& result = sequence->result;
  const int64_t limit = sequence->request.maxTokens;
  if (limit == 0)
    return stop(absl::OkStatus(), StopReason::TokenLimit);
  const absl::StatusOr<int32_t> id = sequence->next(function, row);
  if (!id.ok())
    return stop(id.status(), StopReason::Callback);
  if (result.firstTokenNs == 0)
    result.firstTokenNs = elapsedNs(sequence->submitted);
  if (model.endsAt(*id))
    return stop(absl::OkStatus(), StopReason::EndOfSequence);
  result.ids.push_back(*id);
  sequence->tokens.push_back(*id);
  sequence->drafter.push(*id);
  if (sequence->request.onToken && !sequence->request.onToken(*id))
    return stop(absl::OkStatus(), StopReason::Callback);
  if (int64_t(result.ids.size()) == limit)
    return stop(absl::OkStatus(), StopReason::TokenLimit);
  if (int64_t(sequence->tokens.size()) > model.info().context)
    return stop(absl::OkStatus(), StopReason::ContextEnd);
  return true;
}

} // namespace tenon::runtime
