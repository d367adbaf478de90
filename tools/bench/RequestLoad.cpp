#include "tools/bench/RequestLoad.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <random>

#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "runtime/text/Tokenizer.h"
#include "support/Status.h"
#include "tools/cli/CommandLine.h"

namespace tenon::tools {
namespace {

using nlohmann::json;

constexpr uint64_t seed = 1;

std::vector<int32_t> randomIds(std::mt19937_64& random, int64_t count, int64_t vocabulary) {
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (int32_t& id : ids)
    id = static_cast<int32_t>(random() % static_cast<uint64_t>(vocabulary));
  return ids;
}

absl::StatusOr<int64_t> readCount(const json& value, const std::string& key, int64_t least) {
  if (!value.is_number_integer() || value.get<int64_t>() < least)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects an integer from %d on, but got %s", key, least, value.dump()));
  return value.get<int64_t>();
}

absl::StatusOr<double> readSeconds(const json& value) {
  if (!value.is_number() || value.get<double>() < 0)
    return absl::InvalidArgumentError(
        absl::StrFormat("arrival: expects seconds from 0 on, but got %s", value.dump()));
  return value.get<double>();
}

/// Reads the lines of a file of requests for one program.
class LineReader {
public:
  explicit LineReader(const runtime::Program& program) : program(program), random(seed) {}

  absl::StatusOr<TimedRequest> read(const std::string& line) {
    // Without exceptions, a text that is no JSON comes out as "discarded"; what is nested deeper than
    // any request comes out as null, since messages print values.
    auto isShallow = [](int depth, json::parse_event_t, json&) { return depth <= 2; };
    json object = json::parse(line, isShallow, /*allow_exceptions=*/false);
    if (!object.is_object())
      return absl::InvalidArgumentError("expects a JSON object");
    TimedRequest request;
    int prompts = 0;
    bool hasOutput = false;
    for (const auto& [key, value] : object.items()) {
      if (key == "arrival") {
        TENON_ASSIGN_OR_RETURN(request.arrivalS, readSeconds(value));
      } else if (key == "output") {
        TENON_ASSIGN_OR_RETURN(request.maxTokens, readCount(value, key, 0));
        hasOutput = true;
      } else if (key == "ids" || key == "input" || key == "prompt") {
        TENON_ASSIGN_OR_RETURN(request.prompt, readPrompt(key, value));
        ++prompts;
      } else {
        return absl::InvalidArgumentError(absl::StrFormat(
            "expects the keys prompt, ids or input, output and arrival, but got '%s'", key));
      }
    }
    if (prompts != 1)
      return absl::InvalidArgumentError(
          absl::StrFormat("expects one of prompt, ids and input, but got %d of them", prompts));
    if (!hasOutput)
      return absl::InvalidArgumentError("expects the key output, the most tokens to make");
    return request;
  }

private:
  absl::StatusOr<std::vector<int32_t>> readPrompt(const std::string& key, const json& value) {
    if (key == "input") {
      TENON_ASSIGN_OR_RETURN(int64_t count, readCount(value, key, 1));
      if (count > program.model->context)
        return absl::InvalidArgumentError(
            absl::StrFormat("input: expects at most %d tokens (the context), but got %d",
                            program.model->context, count));
      return randomIds(random, count, program.model->vocabulary);
    }
    if (key == "ids")
      return readIds(value);
    if (!value.is_string())
      return absl::InvalidArgumentError(
          absl::StrFormat("prompt: expects a text, but got %s", value.dump()));
    TENON_RETURN_IF_ERROR(makeTokenizer());
    return tokenizer->encode(value.get<std::string>());
  }

  static absl::StatusOr<std::vector<int32_t>> readIds(const json& value) {
    constexpr int64_t highest = std::numeric_limits<int32_t>::max();
    auto isId = [](const json& id) {
      return id.is_number_integer() && id.get<int64_t>() >= 0 && id.get<int64_t>() <= highest;
    };
    if (!value.is_array() || !std::ranges::all_of(value, isId))
      return absl::InvalidArgumentError(
          absl::StrFormat("ids: expects an array of token ids, but got %s", value.dump()));
    return value.get<std::vector<int32_t>>();
  }

  absl::Status makeTokenizer() {
    if (tokenizer)
      return absl::OkStatus();
    if (!program.tokenizer)
      return absl::InvalidArgumentError(
          "prompt: expects a model with its tokeniser, but it has none; ids or input need none");
    TENON_ASSIGN_OR_RETURN(tokenizer, runtime::Tokenizer::create(*program.tokenizer));
    return absl::OkStatus();
  }

  const runtime::Program& program;
  std::mt19937_64 random;
  std::unique_ptr<runtime::Tokenizer> tokenizer;
};

} // namespace

std::vector<TimedRequest> makePoissonLoad(const PoissonLoad& load, int64_t vocabulary) {
  std::mt19937_64 random(seed);
  std::vector<TimedRequest> requests(static_cast<size_t>(load.requests));
  double arrivalS = 0;
  for (TimedRequest& request : requests) {
    // The time to the next arrival is exponential: -ln(u) / rate, u above 0 and at most 1.
    const double u = static_cast<double>((random() >> 11) + 1) * 0x1p-53;
    arrivalS -= std::log(u) / load.perSecond;
    request = {arrivalS, randomIds(random, load.inputTokens, vocabulary), load.outputTokens};
  }
  return requests;
}

absl::StatusOr<std::vector<TimedRequest>> readRequests(const std::string& path,
                                                       const runtime::Program& program) {
  if (!program.model)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects a language model to ask, but MODEL is none", path));
  TENON_ASSIGN_OR_RETURN(std::string text, readTextFile(path));
  LineReader reader(program);
  std::vector<TimedRequest> requests;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.find_first_not_of(" \t\r") == line.npos)
      continue;
    absl::StatusOr<TimedRequest> request = reader.read(std::string(line));
    if (!request.ok())
      return absl::Status(
          request.status().code(),
          absl::StrFormat("%s:%d: %s", path, number, std::string(request.status().message())));
    if (!requests.empty() && request->arrivalS < requests.back().arrivalS)
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s:%d: arrival: expects requests in the order of their arrival, but %g comes after %g",
          path, number, request->arrivalS, requests.back().arrivalS));
    requests.push_back(*std::move(request));
  }
  if (requests.empty())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects at least one request, a JSON object a line", path));
  return requests;
}

} // namespace tenon::tools
