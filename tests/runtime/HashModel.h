#ifndef TENON_TESTS_RUNTIME_HASHMODEL_H
#define TENON_TESTS_RUNTIME_HASHMODEL_H

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include <gtest/gtest.h>

#include "runtime/Executor.h"
#include "tests/runtime/ModelProgram.h"

namespace tenon::runtime {

/// A model whose caches hold the ids that they were fed, and whose next token is a hash of them. A row
/// may overwrite what its sequence held, from there on, but leave no gap. Where its caches are paged, a
/// sequence holds what its pages do.
class HashModel : public Executor {
public:
  static constexpr int64_t vocabulary = 64, context = 48;

  /// `memory`: the last tokens that matter.
  HashModel(std::vector<Function> functions, int64_t sequences, size_t memory = size_t(-1))
      : HashModel(std::move(functions), infoOf(sequences), memory) {}
  HashModel(std::vector<Function> functions, const ModelInfo& model, size_t memory = size_t(-1))
      : held(makeModelProgram(std::move(functions), model)), caches(size_t(model.sequences)),
        pool(size_t(model.pages * model.pagePositions), -1), memory(memory) {}

  /// Of paged caches where there are `pages`.
  static ModelInfo infoOf(int64_t sequences, int64_t pages = 0, int64_t pagePositions = 0) {
    return {"hash", "hash", vocabulary, context, sequences, pages, pagePositions};
  }

  const Program& program() const override { return held; }

  absl::Status run(size_t index, std::span<const std::span<const std::byte>> inputs,
                   std::span<const std::span<std::byte>> outputs) override {
    const Function& function = held.functions[index];
    calls.push_back(function.name);
    if (calls.size() == failingCall)
      return absl::InternalError("the device is on fire");
    const std::vector<int32_t> ids = read(inputs[0]), sequences = read(inputs[1]),
                               positions = read(inputs[2]);
    const bool isDecode = function.role == Role::Decode;
    const std::vector<int32_t> outputRows = isDecode ? std::vector<int32_t>() : read(inputs[3]);
    std::vector<float> logits(function.outputs[0].bytes / sizeof(float), -1);
    if (function.role == Role::Mixed)
      expectChunks(sequences, positions);
    for (size_t row = 0; row < ids.size(); ++row) {
      if (positions[row] < 0)
        continue;
      const bool isPrefill = function.role == Role::Prefill;
      const int32_t sequence = sequences[isPrefill ? 0 : row];
      EXPECT_LT(positions[row], context);
      const int32_t id = ids[row] + (marksFunctions ? int32_t(index * vocabulary) : 0);
      const std::vector<int32_t> cache =
          held.model->isPaged() ? write(read(inputs.back()), sequence, positions[row], id)
                                : write(sequence, positions[row], id);
      auto write = [&](size_t place) {
        writeLogits(std::span(logits).subspan(place * vocabulary, vocabulary), cache);
      };
      if (isDecode)
        write(row);
      for (size_t place = 0; place < outputRows.size(); ++place)
        if (outputRows[place] == int32_t(row))
          write(place);
    }
    if (!outputs[0].empty()) {
      ++logitsCalls;
      std::memcpy(outputs[0].data(), logits.data(), outputs[0].size());
    }
    std::vector<int32_t> chosen;
    for (size_t row = 0; row < logits.size() / vocabulary; ++row)
      chosen.push_back(mostLikely(std::span(logits).subspan(row * vocabulary, vocabulary)));
    writeIds(PortRole::NextIds, function, chosen, outputs);
    if (findPort(function.outputs, PortRole::AcceptedIds))
      writeGuesses(function, ids, positions, chosen, outputs);
    return absl::OkStatus();
  }

  absl::Status resetStates() override {
    caches.assign(caches.size(), {});
    pool.assign(pool.size(), -1);
    return absl::OkStatus();
  }

  /// What it prefers after these ids.
  int32_t nextOf(std::span<const int32_t> ids) const {
    uint64_t hash = 1469598103934665603ull;
    for (int32_t id : ids.last(std::min(ids.size(), memory)))
      hash = (hash ^ uint64_t(id)) * 1099511628211ull;
    return int32_t((hash >> 20) % (vocabulary - 1));
  }

  /// What it answers to `prompt` alone.
  std::vector<int32_t> answerOf(std::vector<int32_t> prompt, int64_t count) const {
    const auto begin = ptrdiff_t(prompt.size());
    for (int64_t i = 0; i < count; ++i)
      prompt.push_back(nextOf(prompt));
    return {prompt.begin() + begin, prompt.end()};
  }

  Program held;
  std::vector<std::vector<int32_t>> caches;
  std::vector<int32_t> pool; ///< [pages, positions of a page]: what they hold, -1 for nothing
  size_t memory;
  std::vector<std::string> calls;
  size_t logitsCalls = 0; ///< those whose logits were wanted
  size_t failingCall = 0;
  std::optional<int32_t> brokenId; ///< a token after which the logits are NaN
  /// Whether what the caches hold of a token tells by which function it came, as where kernels of few
  /// and of many rows add in another order.
  bool marksFunctions = false;

private:
  /// The rows of each sequence stand beside each other, at positions that follow each other.
  static void expectChunks(const std::vector<int32_t>& sequences,
                           const std::vector<int32_t>& positions) {
    std::vector<int32_t> seen;
    for (size_t row = 0; row < positions.size() && positions[row] >= 0; ++row) {
      if (row > 0 && sequences[row] == sequences[row - 1]) {
        EXPECT_EQ(positions[row], positions[row - 1] + 1);
        continue;
      }
      EXPECT_EQ(std::ranges::count(seen, sequences[row]), 0) << "two chunks of a sequence";
      seen.push_back(sequences[row]);
    }
  }

  /// Writes an id; what the sequence then holds.
  std::vector<int32_t> write(int32_t sequence, int32_t position, int32_t id) {
    std::vector<int32_t>& cache = caches.at(size_t(sequence));
    EXPECT_LE(size_t(position), cache.size()) << "a gap";
    cache.resize(size_t(position));
    cache.push_back(id);
    return cache;
  }
  /// The same in the pages that the block table has for it.
  std::vector<int32_t> write(const std::vector<int32_t>& blockTable, int32_t sequence,
                             int32_t position, int32_t id) {
    const ModelInfo& model = *held.model;
    auto cell = [&](int32_t at) -> int32_t& {
      const int64_t page = blockTable[size_t(sequence * model.blocks() + at / model.pagePositions)];
      return pool.at(size_t(page * model.pagePositions + at % model.pagePositions));
    };
    cell(position) = id;
    std::vector<int32_t> ids;
    for (int32_t at = 0; at <= position; ++at)
      EXPECT_GE(ids.emplace_back(cell(at)), 0) << "a gap";
    return ids;
  }

  void writeLogits(std::span<float> logits, const std::vector<int32_t>& cache) const {
    logits[size_t(nextOf(cache))] = 3;
    if (cache.back() == brokenId)
      logits[5] = std::numeric_limits<float>::quiet_NaN();
  }

  static void writeIds(PortRole role, const Function& function, std::vector<int32_t> values,
                       std::span<const std::span<std::byte>> outputs) {
    if (auto port = findPort(function.outputs, role); port && !outputs[*port].empty())
      std::memcpy(outputs[*port].data(), values.data(), outputs[*port].size());
  }

  /// Which rows are right, all of one sequence in dense caches; the head of the model guesses right
  /// behind even tokens.
  void writeGuesses(const Function& function, const std::vector<int32_t>& ids,
                    const std::vector<int32_t>& positions, const std::vector<int32_t>& chosen,
                    std::span<const std::span<std::byte>> outputs) const {
    std::vector<int32_t> accepted(ids.size(), -2), drafts;
    for (size_t row = 0; row < ids.size(); ++row) {
      const bool isRight =
          row == 0 ? positions[0] >= 0
                   : accepted[row - 1] == ids[row] && positions[row] == positions[row - 1] + 1;
      accepted[row] = isRight ? chosen[row] : -2;
      if (positions[row] >= 0) {
        std::vector<int32_t> text(caches[0].begin(), caches[0].begin() + positions[row]);
        text.insert(text.end(), {ids[row], chosen[row]});
        drafts.push_back(chosen[row] % 2 == 0 ? nextOf(text) : 60);
      }
    }
    drafts.resize(ids.size());
    writeIds(PortRole::AcceptedIds, function, accepted, outputs);
    writeIds(PortRole::DraftIds, function, drafts, outputs);
  }

  static int32_t mostLikely(std::span<const float> logits) {
    const bool isBroken = std::ranges::any_of(logits, [](float x) { return std::isnan(x); });
    return isBroken ? -1 : int32_t(std::ranges::max_element(logits) - logits.begin());
  }

  static std::vector<int32_t> read(std::span<const std::byte> bytes) {
    std::vector<int32_t> values(bytes.size() / sizeof(int32_t));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

} // namespace tenon::runtime

#endif // TENON_TESTS_RUNTIME_HASHMODEL_H
