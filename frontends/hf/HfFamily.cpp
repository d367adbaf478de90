#include "frontends/hf/HfFamily.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tenon::frontends {

const HfFamily* findHfFamily(std::string_view modelType) {
  for (const HfFamily* family : allHfFamilies())
    if (family->modelType == modelType)
      return family;
  return nullptr;
}

/// A tensor's name in its parts: `model.layers.3.mlp.up_proj.weight` is block 3, stem `mlp.up_proj`,
/// suffix `weight`.
struct NameParts {
  std::string_view block; ///< digits; empty outside of blocks
  std::string_view stem;
  std::string_view suffix;
  std::string_view whole; ///< stem, dot and suffix
};

static std::optional<NameParts> splitName(const HfFamily& family, std::string_view name) {
  NameParts parts;
  if (name.rfind('.') == name.npos)
    return std::nullopt;
  if (name.starts_with(family.prefix))
    name.remove_prefix(family.prefix.size());
  else if (name.starts_with(family.outputPrefix))
    name.remove_prefix(family.outputPrefix.size());
  if (name.starts_with(family.blocks)) {
    name.remove_prefix(family.blocks.size());
    parts.block = name.substr(0, name.find('.'));
    if (parts.block.empty() || parts.block.size() == name.size() ||
        parts.block.find_first_not_of("0123456789") != parts.block.npos)
      return std::nullopt;
    name.remove_prefix(parts.block.size() + 1);
  }
  size_t dot = name.rfind('.');
  if (dot == name.npos)
    return std::nullopt;
  parts.whole = name;
  parts.stem = name.substr(0, dot);
  parts.suffix = name.substr(dot + 1);
  return parts;
}

/// The number in `stem` where `pattern` has a `#`, of at most five digits; nothing where they
/// differ in anything else.
static std::optional<int64_t> expertIn(std::string_view stem, std::string_view pattern) {
  constexpr size_t mostDigits = 5;
  size_t at = pattern.find('#');
  if (at == pattern.npos || !stem.starts_with(pattern.substr(0, at)))
    return std::nullopt;
  std::string_view digits = stem.substr(at, stem.find_first_not_of("0123456789", at) - at);
  int64_t number;
  if (digits.size() > mostDigits || (digits.size() > 1 && digits.front() == '0') ||
      !absl::SimpleAtoi(std::string(digits), &number) ||
      stem.substr(at + digits.size()) != pattern.substr(at + 1))
    return std::nullopt;
  return number;
}

static bool isWhole(const TensorName& name) {
  return name.canonical.find('.') != name.canonical.npos;
}

std::optional<CanonicalName> canonicalTensorName(const HfFamily& family, std::string_view stored) {
  std::optional<NameParts> parts = splitName(family, stored);
  if (!parts)
    return CanonicalName{std::string(stored), {}};
  // Rotary frequencies and causal masks that old checkpoints keep.
  if (parts->suffix == "inv_freq" || parts->suffix == "masked_bias")
    return std::nullopt;
  std::string begin = parts->block.empty() ? "" : absl::StrFormat("blk.%s.", parts->block);
  for (const TensorName& name : family.names)
    if (isWhole(name) && name.stored == parts->whole)
      return CanonicalName{absl::StrCat(begin, std::string(name.canonical)), {}};
  for (const TensorName& name : family.names) {
    std::optional<int64_t> expert = expertIn(parts->stem, name.stored);
    if (isWhole(name) || (name.stored != parts->stem && !expert))
      continue;
    if (name.canonical.empty())
      return std::nullopt;
    return CanonicalName{absl::StrFormat("%s%s.%s", begin, name.canonical, parts->suffix), expert};
  }
  return CanonicalName{std::string(stored), {}};
}

std::string storedTensorName(const HfFamily& family, std::string_view canonical) {
  std::string_view rest = canonical;
  std::string begin(family.prefix);
  if (rest.starts_with("blk.")) {
    rest.remove_prefix(4);
    size_t dot = std::min(rest.find('.'), rest.size());
    absl::StrAppend(&begin, std::string(family.blocks), std::string(rest.substr(0, dot)), ".");
    rest.remove_prefix(std::min(dot + 1, rest.size()));
  }
  size_t dot = std::min(rest.rfind('.'), rest.size());
  for (const TensorName& name : family.names)
    if (name.canonical == rest.substr(0, dot) && !name.canonical.empty() && !isWhole(name))
      return absl::StrCat(name.canonical == "output" ? std::string(family.outputPrefix) : begin,
                          std::string(name.stored), std::string(rest.substr(dot)));
  for (const TensorName& name : family.names)
    if (name.canonical == rest)
      return absl::StrCat(begin, std::string(name.stored));
  return std::string(canonical);
}

} // namespace tenon::frontends
