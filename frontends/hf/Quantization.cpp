#include "frontends/hf/Quantization.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include <pcre2.h>

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

using containers::Layout;
using containers::Part;
using containers::WeightFormat;
using nlohmann::json;

namespace {

constexpr PartName gptqParts[] = {{"qweight", Part::Codes},
                                  {"qzeros", Part::Zeros},
                                  {"scales", Part::Scales},
                                  {"g_idx", Part::GroupIndex}};
constexpr PartName packedParts[] = {{"weight_packed", Part::Codes},
                                    {"weight_scale", Part::Scales},
                                    {"weight_zero_point", Part::Zeros},
                                    {"weight_g_idx", Part::GroupIndex},
                                    {"weight_global_scale", Part::TensorScale}};
constexpr PartName plainParts[] = {{"weight", Part::Codes},
                                   {"weight_scale", Part::Scales},
                                   {"weight_scale_inv", Part::Scales},
                                   {"weight_zero_point", Part::Zeros}};
/// Of all experts (`Layout::Mxfp4Blocks`).
constexpr PartName blockParts[] = {{"blocks", Part::Codes}, {"scales", Part::Scales}};
/// Scales of activations, which stay as they are here, and the shape, which is read apart.
constexpr std::string_view ignoredParts[] = {"input_scale", "activation_scale", "weight_shape",
                                             "input_zero_point", "input_global_scale"};

/// Whether `pattern` matches the beginning of `text`, as Python's `re.match`.
absl::StatusOr<bool> matches(const std::string& pattern, const std::string& text) {
  constexpr size_t mostBytes = 1 << 12;
  int code = 0;
  size_t at = 0;
  auto bytes = reinterpret_cast<PCRE2_SPTR>(pattern.data());
  pcre2_code* compiled =
      pattern.size() > mostBytes
          ? nullptr
          : pcre2_compile(bytes, pattern.size(), PCRE2_ANCHORED, &code, &at, nullptr);
  if (!compiled)
    return absl::InvalidArgumentError("expects a regular expression of at most 4096 bytes");
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  absl::Cleanup release = [&] {
    pcre2_match_data_free(data);
    pcre2_code_free(compiled);
  };
  int found = pcre2_match(compiled, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0,
                          data, nullptr);
  if (found < 0 && found != PCRE2_ERROR_NOMATCH)
    return absl::InvalidArgumentError("expects a regular expression of fewer steps");
  return found >= 0;
}

} // namespace

absl::StatusOr<std::optional<Quantization>> Quantization::read(const std::string& folder,
                                                               const JsonFile& config) {
  if (const json* settings = config.find("quantization_config")) {
    if (!settings->is_object())
      return config.error("quantization_config", "an object", *settings);
    Quantization quantization(config);
    quantization.place = "quantization_config.";
    quantization.object = *settings;
    TENON_RETURN_IF_ERROR(quantization.readMethod(""));
    return std::optional(std::move(quantization));
  }
  // AutoGPTQ's and AutoAWQ's own files.
  constexpr std::pair<const char*, const char*> files[] = {{"quantize_config.json", "gptq"},
                                                           {"quant_config.json", "awq"}};
  for (auto [name, method] : files) {
    std::error_code ignored;
    std::filesystem::path path = std::filesystem::path(folder) / name;
    if (!std::filesystem::exists(path, ignored))
      continue;
    TENON_ASSIGN_OR_RETURN(JsonFile settings, JsonFile::open(path.string()));
    Quantization quantization(settings);
    quantization.object = settings.root();
    TENON_RETURN_IF_ERROR(quantization.readMethod(method));
    return std::optional(std::move(quantization));
  }
  return std::optional<Quantization>();
}

absl::StatusOr<int64_t> Quantization::integer(const json& from, const std::string& where,
                                              std::string_view key, int64_t least, int64_t most,
                                              int64_t otherwise) const {
  const json* value = JsonFile::find(from, key);
  if (!value)
    return otherwise;
  bool isInRange = value->is_number_integer() && *value >= least && *value <= most;
  if (!isInRange)
    return file.error(where + std::string(key),
                      absl::StrFormat("an integer from %d to %d", least, most), *value);
  return value->get<int64_t>();
}

absl::Status Quantization::readMethod(std::string_view otherwise) {
  TENON_ASSIGN_OR_RETURN(std::string name, file.text(object, place, "quant_method", otherwise));
  if (name == "gptq")
    return readGptq();
  if (name == "awq")
    return readAwq();
  if (name == "compressed-tensors")
    return readCompressedTensors();
  if (name == "fp8")
    return readFloat8();
  if (name == "mxfp4") {
    method = Method::Mxfp4;
    common = {.layout = Layout::Mxfp4Blocks, .bits = 4};
    return absl::OkStatus();
  }
  return file.error(place + "quant_method", "'gptq', 'awq', 'compressed-tensors', 'fp8' or 'mxfp4'",
                    quoteName(name));
}

/// The first of `keys` that `object` has; the first where it has none.
static std::string_view present(const json& object, std::span<const std::string_view> keys) {
  for (std::string_view key : keys)
    if (JsonFile::find(object, key))
      return key;
  return keys.front();
}

constexpr std::string_view bitKeys[] = {"bits", "wbits", "w_bit"};
constexpr std::string_view groupKeys[] = {"group_size", "q_group_size", "groupsize"};
constexpr std::string_view formatKeys[] = {"checkpoint_format", "format"};
constexpr int64_t mostGroup = int64_t(1) << 31;

/// Whether `meta.quantizer` says GPTQModel from 0.9 on, whose zeros of version 1 lend to each other.
static bool isBorrowingQuantizer(const json& object) {
  const json* meta = JsonFile::find(object, "meta");
  const json* quantizer = meta ? JsonFile::find(*meta, "quantizer") : nullptr;
  if (quantizer && quantizer->is_array() && !quantizer->empty())
    quantizer = &quantizer->front();
  if (!quantizer || !quantizer->is_string())
    return false;
  std::vector<std::string> parts =
      absl::StrSplit(quantizer->get<std::string>(), absl::ByAnyChar(":."));
  int major = 0, minor = 0;
  return parts.size() >= 3 && parts[0] == "gptqmodel" && absl::SimpleAtoi(parts[1], &major) &&
         absl::SimpleAtoi(parts[2], &minor) && (major > 0 || minor >= 9);
}

absl::Status Quantization::readGptq() {
  method = Method::Gptq;
  std::string_view formatKey = present(object, formatKeys);
  TENON_ASSIGN_OR_RETURN(std::string format, file.text(object, place, formatKey, "gptq"));
  if (format != "gptq" && format != "gptq_v2")
    return file.error(place + std::string(formatKey), "'gptq' or 'gptq_v2'", quoteName(format));
  TENON_ASSIGN_OR_RETURN(bool isMarlin, file.flag(object, place, "is_marlin_format", false));
  if (isMarlin)
    return file.error(place + "is_marlin_format", "weights in their own order",
                      std::string("true"));
  TENON_ASSIGN_OR_RETURN(std::string pack, file.text(object, place, "pack_dtype", "int32"));
  if (pack != "int32")
    return file.error(place + "pack_dtype", "'int32'", quoteName(pack));
  common.layout = format == "gptq" ? Layout::Gptq : Layout::GptqV2;
  TENON_ASSIGN_OR_RETURN(int64_t bits, integer(object, place, present(object, bitKeys), 2, 8, 4));
  common.bits = static_cast<int32_t>(bits);
  TENON_ASSIGN_OR_RETURN(common.groupSize,
                         integer(object, place, present(object, groupKeys), -1, mostGroup, 128));
  TENON_ASSIGN_OR_RETURN(bool isSymmetric, file.flag(object, place, "sym", false));
  common.borrowsAcrossZeros =
      common.layout == Layout::Gptq && !isSymmetric && isBorrowingQuantizer(object);
  const json* dynamic = JsonFile::find(object, "dynamic");
  return dynamic ? readDynamic(*dynamic) : absl::OkStatus();
}

/// GPTQModel's map of regular expressions: `-:` in front keeps a layer, `+:` or nothing overrides
/// what it names.
absl::Status Quantization::readDynamic(const json& dynamic) {
  std::string where = place + "dynamic";
  if (!dynamic.is_object())
    return file.error(where, "an object", dynamic);
  for (const auto& [key, value] : dynamic.items()) {
    Rule rule{.pattern = key, .format = common};
    rule.keeps = key.starts_with("-:");
    if (rule.keeps || key.starts_with("+:"))
      rule.pattern = key.substr(2);
    std::string inRule = absl::StrCat(where, ".", key, ".");
    if (!value.is_object())
      return file.error(absl::StrCat(where, ".", key), "an object", value);
    TENON_ASSIGN_OR_RETURN(int64_t bits, integer(value, inRule, "bits", 2, 8, common.bits));
    rule.format.bits = static_cast<int32_t>(bits);
    TENON_ASSIGN_OR_RETURN(rule.format.groupSize,
                           integer(value, inRule, "group_size", -1, mostGroup, common.groupSize));
    rules.push_back(std::move(rule));
  }
  return absl::OkStatus();
}

absl::Status Quantization::readAwq() {
  method = Method::Awq;
  TENON_ASSIGN_OR_RETURN(std::string version, file.text(object, place, "version", "gemm"));
  std::ranges::transform(version, version.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  if (version != "gemm" && version != "gemv")
    return file.error(place + "version", "'gemm' or 'gemv'", quoteName(version));
  common.layout = version == "gemm" ? Layout::AwqGemm : Layout::AwqGemv;
  TENON_ASSIGN_OR_RETURN(int64_t bits, integer(object, place, present(object, bitKeys), 4, 4, 4));
  common.bits = static_cast<int32_t>(bits);
  TENON_ASSIGN_OR_RETURN(common.groupSize,
                         integer(object, place, present(object, groupKeys), -1, mostGroup, 128));
  return absl::OkStatus();
}

/// The format of `config_groups.<group>`.
absl::StatusOr<WeightFormat> Quantization::readGroup(const std::string& where, const json& group) {
  TENON_ASSIGN_OR_RETURN(std::string whole, file.text(object, place, "format", ""));
  TENON_ASSIGN_OR_RETURN(std::string format, file.text(group, where, "format", whole));
  const json* weights = JsonFile::find(group, "weights");
  if (!weights || !weights->is_object())
    return file.error(where + "weights", "an object", weights ? describeJson(*weights) : "none");
  std::string of = where + "weights.";
  TENON_ASSIGN_OR_RETURN(std::string strategy, file.text(*weights, of, "strategy", "tensor"));
  TENON_ASSIGN_OR_RETURN(int64_t bits, integer(*weights, of, "num_bits", 2, 8, 8));
  WeightFormat result{.bits = static_cast<int32_t>(bits)};
  bool isFloat = format == "float-quantized";
  if (format == "nvfp4-pack-quantized" || format == "mxfp4-pack-quantized") {
    bool isNvfp4 = format.starts_with("nv");
    result.layout = isNvfp4 ? Layout::Nvfp4Packed : Layout::Mxfp4Packed;
    std::string expected = isNvfp4 ? "tensor_group" : "group";
    if (strategy != expected)
      return file.error(of + "strategy", quoteName(expected), quoteName(strategy));
    int64_t size = isNvfp4 ? 16 : 32;
    TENON_RETURN_IF_ERROR(integer(*weights, of, "group_size", size, size, size).status());
    TENON_RETURN_IF_ERROR(integer(*weights, of, "num_bits", 4, 4, 4).status());
    result.bits = 4;
    return result;
  }
  if (format == "pack-quantized")
    result.layout = Layout::PackQuantized;
  else if (format == "int-quantized")
    result.layout = Layout::IntQuantized;
  else if (isFloat)
    result.layout = Layout::Float8;
  else
    return file.error(where + "format",
                      "'pack-quantized', 'int-quantized', 'float-quantized', "
                      "'nvfp4-pack-quantized' or 'mxfp4-pack-quantized'",
                      quoteName(format));
  if (strategy == "group" && !isFloat) {
    TENON_ASSIGN_OR_RETURN(result.groupSize,
                           integer(*weights, of, "group_size", 1, mostGroup, 128));
  } else if (strategy == "channel") {
    result.blockRows = isFloat ? 1 : 0;
  } else if (strategy == "block" && isFloat) {
    const json* block = JsonFile::find(*weights, "block_structure");
    bool isPair = block && block->is_array() && block->size() == 2 &&
                  std::ranges::all_of(*block, [](const json& side) {
                    return side.is_number_integer() && side >= 1 && side <= mostGroup;
                  });
    if (!isPair)
      return file.error(of + "block_structure", "two integers above 0",
                        block ? describeJson(*block) : "none");
    result.blockRows = block->at(0), result.blockColumns = block->at(1);
  } else if (strategy != "tensor" || !isFloat) {
    return file.error(of + "strategy",
                      isFloat ? "'tensor', 'channel' or 'block'" : "'channel' or 'group'",
                      quoteName(strategy));
  }
  return result;
}

absl::Status Quantization::readCompressedTensors() {
  method = Method::CompressedTensors;
  needsRule = true;
  const json* groups = JsonFile::find(object, "config_groups");
  if (!groups || !groups->is_object())
    return file.error(place + "config_groups", "an object",
                      groups ? describeJson(*groups) : "none");
  for (const auto& [name, group] : groups->items()) {
    std::string where = absl::StrCat(place, "config_groups.", name, ".");
    TENON_ASSIGN_OR_RETURN(WeightFormat format, readGroup(where, group));
    common = format;
    const json* targets = JsonFile::find(group, "targets");
    if (!targets || !targets->is_array())
      return file.error(where + "targets", "a list", targets ? describeJson(*targets) : "none");
    for (const json& target : *targets) {
      if (!target.is_string())
        return file.error(where + "targets", "a list of names", target);
      auto text = target.get<std::string>();
      Rule rule{.pattern = text, .isName = !text.starts_with("re:"), .format = format};
      if (!rule.isName)
        rule.pattern = text.substr(3);
      rules.push_back(std::move(rule));
    }
  }
  return absl::OkStatus();
}

absl::Status Quantization::readFloat8() {
  method = Method::Float8;
  common = {.layout = Layout::Float8, .bits = 8};
  TENON_ASSIGN_OR_RETURN(std::string format, file.text(object, place, "fmt", "e4m3"));
  if (format != "e4m3")
    return file.error(place + "fmt", "'e4m3'", quoteName(format));
  const json* block = JsonFile::find(object, "weight_block_size");
  if (!block)
    return absl::OkStatus();
  bool isPair =
      block->is_array() && block->size() == 2 && std::ranges::all_of(*block, [](const json& side) {
        return side.is_number_integer() && side >= 1 && side <= mostGroup;
      });
  if (!isPair)
    return file.error(place + "weight_block_size", "two integers above 0", *block);
  common.blockRows = block->at(0), common.blockColumns = block->at(1);
  return absl::OkStatus();
}

std::span<const PartName> Quantization::parts() const {
  if (method == Method::Gptq)
    return gptqParts;
  if (method == Method::Awq)
    return std::span(gptqParts).first(3);
  if (method == Method::Mxfp4)
    return blockParts;
  return common.layout == Layout::PackQuantized || common.isFp4()
             ? std::span<const PartName>(packedParts)
             : std::span<const PartName>(plainParts);
}

std::span<const std::string_view> Quantization::ignored() const { return ignoredParts; }

absl::StatusOr<WeightFormat> Quantization::formatOf(const std::string& module) const {
  const Rule* found = nullptr;
  for (const Rule& rule : rules) {
    bool isMatch = rule.pattern == "Linear" || rule.pattern == module;
    if (!rule.isName) {
      absl::StatusOr<bool> matched = matches(rule.pattern, module);
      if (!matched.ok())
        return file.error(absl::StrCat(place, "'", rule.pattern, "'"),
                          std::string(matched.status().message()), std::string("another"));
      isMatch = *matched;
    }
    if (!isMatch)
      continue;
    // JSON's members have no order that could say which comes first.
    if (found && (found->keeps != rule.keeps || found->format != rule.format))
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s: layer %s expects one format, but both %s and %s apply to it", file.path(),
          quoteName(module), quoteName(found->pattern), quoteName(rule.pattern)));
    found = &rule;
  }
  if (found && found->keeps)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: layer %s expects a weight that is not quantised, as %s says, but got codes",
        file.path(), quoteName(module), quoteName(found->pattern)));
  if (!found && needsRule)
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: layer %s expects a group of 'config_groups' that it belongs to, but "
                        "none does",
                        file.path(), quoteName(module)));
  return found ? found->format : common;
}

absl::StatusOr<std::vector<int64_t>> Quantization::shapeOf(const std::string& module,
                                                           const WeightFormat& format,
                                                           std::span<const int64_t> shape,
                                                           std::span<const int64_t> stated) const {
  constexpr int64_t wordBits = 32, most = int64_t(1) << 31;
  auto isExtent = [](int64_t extent) { return extent > 0 && extent <= most; };
  if (format.layout == Layout::Mxfp4Blocks && shape.size() == 3 &&
      std::ranges::all_of(shape, isExtent))
    return std::vector<int64_t>{shape[0], shape[1] * 32};
  bool isPacked = format.layout == Layout::PackQuantized;
  if (shape.size() != 2 || !std::ranges::all_of(shape, isExtent) ||
      (isPacked && (stated.size() != 2 || !std::ranges::all_of(stated, isExtent))))
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: layer %s expects codes of two axes%s, but got shapes %s and %s", file.path(),
        quoteName(module), isPacked ? " and a tensor 'weight_shape' of two numbers" : "",
        shapeText(shape), shapeText(stated)));
  switch (format.layout) {
  case Layout::Gptq:
  case Layout::GptqV2:
    return std::vector<int64_t>{shape[1], shape[0] * wordBits / format.bits};
  case Layout::AwqGemm:
    return std::vector<int64_t>{shape[1] * 8, shape[0]};
  case Layout::AwqGemv:
    return std::vector<int64_t>{shape[0], shape[1] * 8};
  case Layout::PackQuantized:
    return std::vector<int64_t>{stated[0], stated[1]};
  case Layout::Nvfp4Packed:
  case Layout::Mxfp4Packed:
    return std::vector<int64_t>{shape[0], shape[1] * 2};
  case Layout::Mxfp4Blocks:
  case Layout::IntQuantized:
  case Layout::Float8:
    break;
  }
  return std::vector<int64_t>{shape[0], shape[1]};
}

} // namespace tenon::frontends
