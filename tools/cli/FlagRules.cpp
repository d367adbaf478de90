#include "tools/cli/FlagRules.h"

#include "absl/strings/str_format.h"
#include "tools/cli/FieldsFlag.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

static const char* describe(Need need) {
  switch (need) {
  case Need::Model:
    return "a model or a graph";
  case Need::Import:
    return "a GGUF file, a Hugging Face folder or a named shape";
  case Need::NamedShape:
    return "a shape that MODEL names (see random-model)";
  case Need::Fusion:
    return "operations that are still to be fused";
  case Need::Code:
    return "code that is still to be compiled";
  case Need::Gpu:
    return "GPUs";
  case Need::Sampling:
    return "a --temperature above 0";
  case Need::Text:
    return "text that is generated";
  case Need::Decode:
    return "decode";
  case Need::Position:
    return "decode and mixed";
  case Need::OneFunction:
    return "calls of one function";
  case Need::Language:
    return "language models";
  case Need::Functions:
    return "graphs in textual IR";
  case Need::Measuring:
    break;
  }
  return "--measure";
}

bool FlagRules::Rule::isGiven() const {
  return field ? hasField(*option, *field) : option->count() > 0;
}

std::string FlagRules::Rule::name() const {
  return option->get_name() + (field && !field->empty() ? "=" + *field : "");
}

void FlagRules::require(const CLI::Option* option, std::initializer_list<Need> needs) {
  rules.push_back({option, std::nullopt, needs});
}

void FlagRules::requireField(const CLI::Option* option, const std::string& field,
                             std::initializer_list<Need> needs) {
  rules.push_back({option, field, needs});
}

void FlagRules::deny(Need need, const std::string& reason) { denied.try_emplace(need, reason); }

absl::Status FlagRules::check() const {
  for (const Rule& rule : rules) {
    if (!rule.isGiven())
      continue;
    for (Need need : rule.needs)
      if (auto found = denied.find(need); found != denied.end())
        return usageError(absl::StrFormat("%s: applies to %s, but %s", rule.name(), describe(need),
                                          found->second));
  }
  return absl::OkStatus();
}

} // namespace tenon::tools
