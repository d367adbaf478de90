#include "frontends/gguf/GgufFile.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include "frontends/gguf/internal/GgufParser.h"
#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

absl::StatusOr<std::shared_ptr<const GgufFile>> GgufFile::open(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const MappedFile> mapped, MappedFile::open(path));
  return create(std::move(mapped));
}

absl::StatusOr<std::shared_ptr<const GgufFile>>
GgufFile::create(std::shared_ptr<const MappedFile> mapped) {
  std::shared_ptr<GgufFile> file(new GgufFile(std::move(mapped)));
  TENON_RETURN_IF_ERROR(GgufParser(*file).parse());
  return file;
}

const GgufValue* GgufFile::find(std::string_view key) const {
  auto found = entryIndex.find(key);
  return found == entryIndex.end() ? nullptr : &entries[found->second].value;
}

absl::StatusOr<const GgufValue*> GgufFile::require(std::string_view key) const {
  if (const GgufValue* value = find(key))
    return value;
  return absl::NotFoundError(absl::StrFormat("%s: expects metadata key %s, but the file has none",
                                             path(), quoteName(key)));
}

absl::Status GgufFile::keyError(std::string_view key, std::string_view expected,
                                const std::string& found) const {
  return absl::InvalidArgumentError(absl::StrFormat("%s: metadata key %s expects %s, but got %s",
                                                    path(), quoteName(key), expected, found));
}

/// What a value is, for an error: `i32 -5`, `array of 3 f32`.
static std::string describe(const GgufValue& value) {
  if (value.type == GgufValueType::Array)
    return value.typeText();
  return absl::StrCat(absl::string_view(value.typeText()), " ", value.text());
}

absl::StatusOr<uint64_t> GgufFile::requireU64(std::string_view key, uint64_t highest) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  std::optional<uint64_t> number = value->asU64();
  if (!number)
    return keyError(key, "an integer of at least 0", describe(*value));
  if (*number > highest)
    return keyError(key, absl::StrCat("an integer of at most ", highest), describe(*value));
  return *number;
}

absl::StatusOr<uint64_t> GgufFile::optionalU64(std::string_view key, uint64_t otherwise,
                                               uint64_t highest) const {
  return has(key) ? requireU64(key, highest) : otherwise;
}

absl::StatusOr<float> GgufFile::requireF32(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  if (std::optional<double> number = value->asF64())
    return static_cast<float>(*number);
  return keyError(key, "a floating-point number", describe(*value));
}

absl::StatusOr<float> GgufFile::optionalF32(std::string_view key, float otherwise) const {
  return has(key) ? requireF32(key) : otherwise;
}

absl::StatusOr<bool> GgufFile::requireBool(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  if (std::optional<bool> truth = value->asBool())
    return *truth;
  return keyError(key, "a bool", describe(*value));
}

absl::StatusOr<bool> GgufFile::optionalBool(std::string_view key, bool otherwise) const {
  return has(key) ? requireBool(key) : otherwise;
}

absl::StatusOr<std::string_view> GgufFile::requireString(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  if (std::optional<std::string_view> text = value->asString())
    return *text;
  return keyError(key, "a string", describe(*value));
}

absl::StatusOr<std::string_view> GgufFile::optionalString(std::string_view key,
                                                          std::string_view otherwise) const {
  return has(key) ? requireString(key) : otherwise;
}

absl::StatusOr<std::vector<std::string_view>> GgufFile::requireStrings(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  if (std::optional<std::vector<std::string_view>> strings = value->asStrings())
    return *std::move(strings);
  return keyError(key, "an array of strings", describe(*value));
}

absl::StatusOr<std::vector<int64_t>> GgufFile::requireI64s(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  if (std::optional<std::vector<int64_t>> numbers = value->asI64s())
    return *std::move(numbers);
  return keyError(key, "an array of integers below 2^63", describe(*value));
}

absl::StatusOr<std::vector<float>> GgufFile::requireF32s(std::string_view key) const {
  TENON_ASSIGN_OR_RETURN(const GgufValue* value, require(key));
  if (std::optional<std::vector<float>> numbers = value->asF32s())
    return *std::move(numbers);
  return keyError(key, "an array of floating-point numbers", describe(*value));
}

const GgufTensor* GgufFile::findTensor(std::string_view name) const {
  auto found = tensorIndex.find(name);
  return found == tensorIndex.end() ? nullptr : &table[found->second];
}

absl::StatusOr<const GgufTensor*> GgufFile::requireTensor(std::string_view name) const {
  const GgufTensor* tensor = findTensor(name);
  if (!tensor)
    return absl::NotFoundError(
        absl::StrFormat("%s: expects tensor %s, but the file has none", path(), quoteName(name)));
  if (tensor->encoding)
    return tensor;
  std::string known;
  for (const Encoding* encoding : allEncodings())
    if (encoding->ggufType >= 0)
      absl::StrAppend(&known, known.empty() ? "" : ", ",
                      absl::string_view(encoding->name.data(), encoding->name.size()));
  return absl::InvalidArgumentError(absl::StrFormat(
      "%s: tensor %s expects one of the types %s, but got type %d (%s)", path(), quoteName(name),
      known, tensor->ggufType, ggufTensorTypeName(tensor->ggufType)));
}

absl::StatusOr<const GgufTensor*> GgufFile::requireTensor(std::string_view name,
                                                          std::span<const int64_t> shape) const {
  TENON_ASSIGN_OR_RETURN(const GgufTensor* tensor, requireTensor(name));
  std::vector<int64_t> found = tensor->shape();
  if (std::equal(found.begin(), found.end(), shape.begin(), shape.end()))
    return tensor;
  return absl::InvalidArgumentError(absl::StrFormat("%s: tensor %s expects shape %s, but got %s",
                                                    path(), quoteName(name), shapeText(shape),
                                                    shapeText(found)));
}

std::span<const std::byte> GgufFile::data(const GgufTensor& tensor) const {
  return file->bytes().subspan(tensor.offset, tensor.byteSize);
}

std::string_view ggufTensorTypeName(uint32_t ggufType) {
  // By number, as `enum ggml_type` stood in 2026; empty where a number is retired.
  static constexpr std::string_view names[] = {
      "f32",     "f16",   "q4_0",   "q4_1",  "",      "",       "q5_0", "q5_1",    "q8_0",
      "q8_1",    "q2_k",  "q3_k",   "q4_k",  "q5_k",  "q6_k",   "q8_k", "iq2_xxs", "iq2_xs",
      "iq3_xxs", "iq1_s", "iq4_nl", "iq3_s", "iq2_s", "iq4_xs", "i8",   "i16",     "i32",
      "i64",     "f64",   "iq1_m",  "bf16",  "",      "",       "",     "tq1_0",   "tq2_0",
      "",        "",      "",       "mxfp4", "nvfp4"};
  if (ggufType >= std::size(names) || names[ggufType].empty())
    return "unknown";
  return names[ggufType];
}

} // namespace tenon::frontends
