#include "tools/run/Embed.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>

#include "absl/strings/str_format.h"
#include "runtime/program/Program.h"
#include "support/Status.h"

namespace tenon::tools {

absl::StatusOr<std::vector<std::string>> shapesOfTexts(std::span<const std::vector<int32_t>> texts,
                                                       int64_t context) {
  constexpr size_t least = 16;
  const auto most = static_cast<size_t>(context);
  std::vector<size_t> rows;
  for (size_t i = 0; i < texts.size(); ++i) {
    const size_t tokens = texts[i].size();
    if (tokens > most)
      return absl::InvalidArgumentError(
          absl::StrFormat("text %u expects at most %u tokens, the model's context, but has %u",
                          i + 1, most, tokens));
    rows.push_back(std::min(std::bit_ceil(std::max(tokens, least)), most));
  }
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  std::vector<std::string> shapes;
  for (size_t count : rows)
    shapes.push_back(absl::StrFormat("prefill:%u", count));
  return shapes;
}

/// Rows of an encoder's function; nothing of another.
static std::optional<size_t> encodedRows(const runtime::Function& function) {
  bool isEncoder = function.name.starts_with("encode_") && function.inputs.size() == 2 &&
                   !function.outputs.empty() && function.inputs[0].encoding == "i32" &&
                   function.inputs[1].encoding == "f32" && function.outputs[0].encoding == "f32" &&
                   function.inputs[0].shape.size() == 1 &&
                   function.inputs[0].shape == function.inputs[1].shape;
  return isEncoder ? std::optional(static_cast<size_t>(function.inputs[0].shape[0])) : std::nullopt;
}

/// The smallest function for that many tokens.
static absl::StatusOr<size_t> findEncoder(const runtime::Program& program, size_t tokens) {
  std::optional<size_t> found;
  size_t most = 0, best = 0;
  for (size_t i = 0; i < program.functions.size(); ++i) {
    std::optional<size_t> rows = encodedRows(program.functions[i]);
    most = std::max(most, rows.value_or(0));
    if (rows && *rows >= tokens && (!found || *rows < best))
      found = i, best = *rows;
  }
  if (found)
    return *found;
  return absl::InvalidArgumentError(absl::StrFormat(
      "expects a text of at most %u tokens, those that the encoder was compiled for, but got %u",
      most, tokens));
}

absl::StatusOr<std::vector<float>> embedText(runtime::Executor& executor,
                                             std::span<const int32_t> tokens) {
  TENON_ASSIGN_OR_RETURN(size_t index, findEncoder(executor.program(), tokens.size()));
  const runtime::Function& function = executor.program().functions[index];
  auto rows = static_cast<size_t>(function.inputs[0].shape[0]);
  std::vector<int32_t> ids(tokens.begin(), tokens.end());
  ids.resize(rows);
  std::vector<float> mask(tokens.size(), 1.0f);
  mask.resize(rows);
  std::vector<std::vector<std::byte>> results;
  for (const runtime::Port& port : function.outputs)
    results.emplace_back(port.bytes);
  std::vector<std::span<std::byte>> outputs(results.begin(), results.end());
  const std::span<const std::byte> inputs[] = {std::as_bytes(std::span(ids)),
                                               std::as_bytes(std::span(mask))};
  TENON_RETURN_IF_ERROR(executor.run(index, inputs, outputs));
  std::vector<float> vector(results[0].size() / sizeof(float));
  std::memcpy(vector.data(), results[0].data(), results[0].size());
  double sum = 0;
  for (float number : vector)
    sum += static_cast<double>(number) * number;
  for (float& number : vector)
    number = static_cast<float>(number / std::max(std::sqrt(sum), 1e-12));
  return vector;
}

} // namespace tenon::tools
