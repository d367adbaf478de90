#include "runtime/text/BertText.h"

#include <string>

namespace tenon::runtime {
namespace {

/// Controls, formats, characters of private use and the replacement character, but for the white space
/// among them.
constexpr const char* controlPattern = R"((?![\t\n\r])[\x{FFFD}\p{Cc}\p{Cf}\p{Co}])";
/// Unicode's category Punctuation, and all of ASCII that is no letter, digit, control or space.
constexpr const char* punctuationPattern = R"([\p{P}\$\+<=>\^~\|`])";
/// The blocks of CJK unified and compatibility ideographs.
constexpr const char* ideographPattern =
    R"([\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F}\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F}])";

} // namespace

void addBertNormalizer(const BertNormalizer& normalizer, TokenizerSpec& spec) {
  if (normalizer.cleans) {
    spec.normalizers.push_back({RewriteKind::Replace, controlPattern, ""});
    spec.normalizers.push_back({RewriteKind::Replace, R"(\s)", " "});
  }
  if (normalizer.cutsIdeographs)
    spec.splits.push_back({ideographPattern, SplitBehavior::Isolated, false});
  if (normalizer.stripsAccents) {
    spec.normalizers.push_back({RewriteKind::Nfd, "", ""});
    spec.normalizers.push_back({RewriteKind::Replace, R"(\p{Mn})", ""});
  }
  if (normalizer.lowers)
    spec.normalizers.push_back({RewriteKind::Lowercase, "", ""});
}

void addBertSplits(TokenizerSpec& spec) {
  spec.splits.push_back({R"(\s)", SplitBehavior::Removed, false});
  spec.splits.push_back({punctuationPattern, SplitBehavior::Isolated, false});
}

} // namespace tenon::runtime
