#include "frontends/hf/JsonFile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "support/MappedFile.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

using nlohmann::json;

absl::StatusOr<JsonFile> JsonFile::open(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  std::span<const std::byte> bytes = file->bytes();
  return parse(path, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::StatusOr<JsonFile> JsonFile::parse(const std::string& path, std::string_view text) {
  if (text.size() > maxBytes)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects JSON of at most %d bytes, but got %d", path, maxBytes, text.size()));
  // What is nested deeper is not kept: printing and comparing values recurse.
  int deepest = 0;
  auto isShallow = [&](int depth, json::parse_event_t, json&) {
    deepest = std::max(deepest, depth);
    return depth <= maxDepth;
  };
  json value = json::parse(text, isShallow, /*allow_exceptions=*/false);
  if (deepest > maxDepth)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects JSON of at most %d levels, but got more", path, maxDepth));
  if (!value.is_object())
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: expects an object of JSON, but got %s", path,
                        value.is_discarded() ? "text that is no JSON" : describeJson(value)));
  return JsonFile(path, std::move(value));
}

const json* JsonFile::find(const json& object, std::string_view key) {
  if (!object.is_object())
    return nullptr;
  auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

JsonFile JsonFile::nested(std::string_view key, std::span<const std::string_view> left,
                          std::string_view prior, const json& defaults) const {
  const json& own = *find(key);
  JsonFile result(name, own);
  result.place = absl::StrCat(std::string(key), ".");
  for (const auto& [member, content] : value.items())
    if (member != key && !std::ranges::count(left, member) &&
        (member == prior || !own.contains(member))) {
      result.value[member] = content;
      result.outer.insert(member);
    }
  for (const auto& [member, content] : defaults.items())
    if (!result.value.contains(member))
      result.value[member] = content;
  return result;
}

JsonFile JsonFile::without(std::span<const std::string_view> left) const {
  JsonFile result(*this);
  for (std::string_view member : left)
    result.value.erase(std::string(member));
  return result;
}

absl::Status JsonFile::error(std::string_view key, std::string_view expected,
                             const std::string& found) const {
  bool isOuter = outer.contains(key.substr(0, key.find_first_of(".[")));
  std::string whole = absl::StrCat(isOuter ? "" : place, std::string(key));
  return absl::InvalidArgumentError(absl::StrFormat("%s: key %s expects %s, but got %s", name,
                                                    quoteName(whole), expected, found));
}

absl::Status JsonFile::error(std::string_view key, std::string_view expected,
                             const json& found) const {
  return error(key, expected, describeJson(found));
}

absl::StatusOr<double> JsonFile::number(const json& object, std::string_view place,
                                        std::string_view key, double otherwise) const {
  const json* found = find(object, key);
  if (!found)
    return otherwise;
  if (!found->is_number())
    return error(absl::StrCat(std::string(place), std::string(key)), "a number", *found);
  return found->get<double>();
}

absl::StatusOr<bool> JsonFile::flag(const json& object, std::string_view place,
                                    std::string_view key, bool otherwise) const {
  const json* found = find(object, key);
  if (!found)
    return otherwise;
  if (!found->is_boolean())
    return error(absl::StrCat(std::string(place), std::string(key)), "true or false", *found);
  return found->get<bool>();
}

absl::StatusOr<std::string> JsonFile::text(const json& object, std::string_view place,
                                           std::string_view key, std::string_view otherwise) const {
  const json* found = find(object, key);
  if (!found)
    return std::string(otherwise);
  if (!found->is_string())
    return error(absl::StrCat(std::string(place), std::string(key)), "a string", *found);
  return found->get<std::string>();
}

std::string describeJson(const json& value) {
  if (value.is_object())
    return absl::StrFormat("an object of %d members", value.size());
  if (value.is_array())
    return absl::StrFormat("a list of %d values", value.size());
  if (value.is_string())
    return quoteName(value.get_ref<const std::string&>());
  return value.dump();
}

} // namespace tenon::frontends
