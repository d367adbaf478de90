#include "runtime/text/internal/PreTokenizer.h"

#include "absl/strings/str_format.h"

#include "runtime/text/internal/Utf8.h"
#include "support/Status.h"

namespace tenon::runtime::internal {
namespace {

/// The pieces that a step cuts `text` into: matches and what lies between them.
struct Cut {
  std::string_view text;
  bool isMatch;
};

/// Joins the cuts as the behaviour says (Hugging Face's `SplitDelimiterBehavior`), which takes
/// matches for delimiters.
void appendPieces(const std::vector<Cut>& cuts, SplitBehavior behavior,
                  std::vector<std::string_view>& pieces) {
  const auto join = [](std::string_view left, std::string_view right) {
    return std::string_view(left.data(), left.size() + right.size());
  };
  bool previousIsMatch = false;
  bool isOpen = false; // whether the last piece may still grow
  for (const Cut& cut : cuts) {
    bool joins = false;
    switch (behavior) {
    case SplitBehavior::Isolated:
      break;
    case SplitBehavior::Removed:
      if (cut.isMatch)
        continue;
      break;
    case SplitBehavior::MergedWithPrevious:
      joins = isOpen && cut.isMatch && !previousIsMatch;
      break;
    case SplitBehavior::MergedWithNext:
      joins = isOpen && !cut.isMatch && previousIsMatch;
      break;
    case SplitBehavior::Contiguous:
      joins = isOpen && cut.isMatch == previousIsMatch;
      break;
    }
    if (joins)
      pieces.back() = join(pieces.back(), cut.text);
    else
      pieces.push_back(cut.text);
    isOpen = true;
    previousIsMatch = cut.isMatch;
  }
}

} // namespace

absl::StatusOr<PreTokenizer> PreTokenizer::create(const TokenizerSpec& spec) {
  PreTokenizer preTokenizer;
  preTokenizer.takesWholeTokens = spec.ignoreMerges;
  if (spec.preTokenizer.empty()) {
    for (const SplitStep& step : spec.splits) {
      if (step.behavior > SplitBehavior::Contiguous)
        return absl::InvalidArgumentError(
            absl::StrFormat("tokenizer: expects behaviours of splits from 0 to %d, but got %d",
                            int(SplitBehavior::Contiguous), int(step.behavior)));
      TENON_ASSIGN_OR_RETURN(Pattern pattern, Pattern::compile("pre-tokenizer", step.pattern));
      preTokenizer.steps.push_back({std::move(pattern), step.behavior, step.invert});
    }
    return preTokenizer;
  }
  if (const PreTokenizerEntry* entry = findPreTokenizer(spec.preTokenizer))
    return compile(*entry);
  std::string known;
  for (const PreTokenizerEntry& entry : preTokenizers()) {
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "tokenizer: expects one of the pre-tokenizers %s, but got '%s'", known, spec.preTokenizer));
}

absl::StatusOr<PreTokenizer> PreTokenizer::create(std::string_view name) {
  TokenizerSpec spec;
  spec.preTokenizer = std::string(name);
  return create(spec);
}

absl::StatusOr<PreTokenizer> PreTokenizer::compile(const PreTokenizerEntry& entry) {
  PreTokenizer preTokenizer;
  preTokenizer.takesWholeTokens = entry.ignoreMerges;
  const std::string owner = absl::StrFormat("pre-tokenizer '%s'", entry.name);
  for (std::string_view text : entry.patterns) {
    TENON_ASSIGN_OR_RETURN(Pattern pattern, Pattern::compile(owner, text));
    preTokenizer.steps.push_back({std::move(pattern), SplitBehavior::Isolated, false});
  }
  return preTokenizer;
}

absl::StatusOr<std::vector<std::string_view>> PreTokenizer::splitRun(std::string_view run) const {
  std::vector<std::string_view> pieces = {run};
  for (const Step& step : steps) {
    std::vector<std::string_view> next;
    for (std::string_view piece : pieces) {
      std::vector<Cut> cuts;
      size_t at = 0;
      const auto add = [&](size_t end, bool isMatch) {
        if (end > at)
          cuts.push_back({piece.substr(at, end - at), isMatch != step.invert});
        at = end;
      };
      TENON_RETURN_IF_ERROR(step.pattern.forEachMatch(piece, [&](size_t begin, size_t end) {
        add(begin, false);
        add(end, true);
      }));
      add(piece.size(), false);
      appendPieces(cuts, step.behavior, next);
    }
    pieces = std::move(next);
  }
  return pieces;
}

absl::StatusOr<std::vector<std::string_view>> PreTokenizer::split(std::string_view text) const {
  std::vector<std::string_view> pieces;
  TENON_RETURN_IF_ERROR(
      forEachUtf8Run(text, [&](std::string_view run, bool isValid) -> absl::Status {
        if (!isValid) {
          pieces.push_back(run);
          return absl::OkStatus();
        }
        TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> found, splitRun(run));
        pieces.insert(pieces.end(), found.begin(), found.end());
        return absl::OkStatus();
      }));
  return pieces;
}

} // namespace tenon::runtime::internal
