// Weights in containers, as parts of an `HfSource`.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

#include "frontends/hf/HfSource.h"
#include "support/MessageText.h"
#include "support/Status.h"
#include "support/Warning.h"

namespace tenon::frontends {

/// The file's name of the layer that has the canonical name `base`.
static std::string moduleOf(const HfFamily& family, const std::string& base) {
  std::string module = storedTensorName(family, base + ".weight");
  module.resize(module.size() - std::string_view(".weight").size());
  return module;
}

/// Makes one matrix of gpt-oss's of all experts, their rows after one another, in each part that
/// has as many as the codes; the number of experts, 0 for other layouts.
static int64_t joinMatrices(const containers::WeightFormat& format,
                            std::vector<containers::PartTensor>& parts) {
  if (format.layout != containers::Layout::Mxfp4Blocks || parts.front().shape.size() != 4)
    return 0;
  const int64_t experts = parts.front().shape.front();
  for (containers::PartTensor& part : parts) {
    if (part.shape.size() < 3 || part.shape.front() != experts)
      continue;
    part.shape[1] *= experts;
    part.shape.erase(part.shape.begin());
  }
  return experts;
}

absl::StatusOr<HfSource::Packed> HfSource::openPackedWeight(const std::string& module,
                                                            FindPart find, bool keepsZeros) {
  TENON_ASSIGN_OR_RETURN(containers::WeightFormat format, quantization->formatOf(module));
  auto bytesOf = [&](const Part& part) {
    return files()[part.file]->bytes().subspan(part.tensor->offset, part.tensor->byteSize);
  };
  std::span<const PartName> names = quantization->parts();
  containers::WeightRequest request{.file = files()[find(names.front().suffix).file]->path(),
                                    .format = format,
                                    .rows = 0,
                                    .columns = 0,
                                    .parts = {},
                                    .keepsZeros = keepsZeros};
  for (const PartName& name : names) {
    Part part = find(name.suffix);
    if (!part.tensor)
      continue;
    const SafetensorsTensor& tensor = *part.tensor;
    std::optional<containers::ElementType> type = containers::findElementType(tensor.type);
    if (!type)
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: tensor %s expects a type that containers have, but got %s",
                          request.file, quoteName(tensor.name), quoteName(tensor.type)));
    request.parts.push_back({name.part, *type, tensor.shape, bytesOf(part), tensor.name});
  }
  const int64_t matrices = joinMatrices(format, request.parts);
  std::vector<int64_t> stated;
  if (Part shape = find("weight_shape"); shape.tensor) {
    stated.resize(shape.tensor->type == "I64" ? shape.tensor->byteSize / 8 : 0);
    std::memcpy(stated.data(), bytesOf(shape).data(), stated.size() * 8);
  }
  TENON_ASSIGN_OR_RETURN(
      std::vector<int64_t> extents,
      quantization->shapeOf(module, format, request.parts.front().shape, stated));
  request.rows = extents[0], request.columns = extents[1];
  TENON_ASSIGN_OR_RETURN(containers::PackedWeight weight,
                         containers::PackedWeight::create(request));
  if (matrices > 0)
    extents = {matrices, extents[0] / matrices, extents[1]};
  return Packed{{std::move(weight)}, std::move(extents)};
}

/// Says that zeros can be read in two ways.
static void warnOfZeros(const std::string& folder, const std::string& module,
                        std::span<const containers::PackedWeight> weights) {
  int64_t zeros = 0;
  for (const containers::PackedWeight& weight : weights)
    zeros += weight.ambiguousZeros();
  if (zeros > 0)
    warnOnce(absl::StrFormat("%s: layer %s stores %d zeros as the largest code, which stand for 0 "
                             "or for one more than it; they are read as the latter",
                             folder, quoteName(module), zeros));
}

const std::map<int64_t, HfSource::ExpertPart>*
HfSource::findExperts(const std::string& base, std::string_view suffix) const {
  auto found = experts.find(absl::StrCat(base, ".", std::string(suffix)));
  return found == experts.end() ? nullptr : &found->second;
}

absl::StatusOr<HfSource::Packed> HfSource::openEachExpert(const std::string& base,
                                                          bool keepsZeros) {
  std::string codes = absl::StrCat(base, ".", std::string(quantization->parts().front().suffix));
  Packed all;
  for (const auto& [number, part] : experts.find(codes)->second) {
    auto find = [&, expert = number](std::string_view suffix) -> Part {
      const std::map<int64_t, ExpertPart>* parts = findExperts(base, suffix);
      auto own = parts ? parts->find(expert) : std::map<int64_t, ExpertPart>::const_iterator();
      if (!parts || own == parts->end())
        return {};
      return {&own->second.tensor, own->second.place.file};
    };
    std::string module = absl::StrReplaceAll(moduleOf(family, base), {{"#", absl::StrCat(number)}});
    TENON_ASSIGN_OR_RETURN(Packed weight, openPackedWeight(module, find, keepsZeros));
    if (all.weights.empty())
      all.shape = weight.shape;
    if (weight.shape != all.shape)
      return expertsError(codes, absl::StrFormat("weights of shape %s", shapeText(all.shape)),
                          absl::StrFormat("%s for expert %d", shapeText(weight.shape), number));
    if (!weight.weights.front().permutation().empty())
      return expertsError(codes, "columns in the order of the inputs",
                          absl::StrFormat("another for expert %d (desc_act)", number));
    all.weights.push_back(std::move(weight.weights.front()));
  }
  all.shape.insert(all.shape.begin(), std::ssize(all.weights));
  return all;
}

absl::StatusOr<HfSource::Packed> HfSource::openPackedExperts(const std::string& base) {
  std::span<const PartName> names = quantization->parts();
  const size_t count = findExperts(base, names.front().suffix)->size();
  for (const PartName& part : names)
    if (const auto* parts = findExperts(base, part.suffix)) {
      std::string name = absl::StrCat(base, ".", std::string(part.suffix));
      TENON_RETURN_IF_ERROR(checkExperts(name, *parts));
      if (parts->size() > count)
        return expertsError(name, absl::StrFormat("%d experts", count),
                            absl::StrCat(parts->size()));
    }
  TENON_ASSIGN_OR_RETURN(Packed all, openEachExpert(base, /*keepsZeros=*/false));
  auto differs = [&](const containers::PackedWeight& weight) {
    return &weight.encoding() != &all.weights.front().encoding();
  };
  // Zeros of some may all be in the middle.
  if (std::ranges::any_of(all.weights, differs)) {
    TENON_ASSIGN_OR_RETURN(all, openEachExpert(base, /*keepsZeros=*/true));
  }
  for (const containers::PackedWeight& weight : all.weights)
    TENON_RETURN_IF_ERROR(weight.expectEncoding(all.weights.front().encoding()));
  warnOfZeros(folder, moduleOf(family, base), all.weights);
  return all;
}

absl::Status HfSource::findPackedExperts() {
  std::string codes = absl::StrCat(".", std::string(quantization->parts().front().suffix));
  std::vector<std::string> bases;
  for (const auto& [name, parts] : experts) {
    // Beside quantised layers there are weights of 16 bits by the same name.
    bool isPlain = codes == ".weight" && std::ranges::all_of(parts, [](const auto& part) {
                     return part.second.place.encoding != nullptr;
                   });
    if (name.ends_with(codes) && !isPlain)
      bases.push_back(name.substr(0, name.size() - codes.size()));
  }
  for (const std::string& base : bases) {
    TENON_ASSIGN_OR_RETURN(Packed weights, openPackedExperts(base));
    packed.emplace(base + ".weight", std::move(weights));
    for (const PartName& part : quantization->parts())
      experts.erase(absl::StrCat(base, ".", std::string(part.suffix)));
    for (std::string_view suffix : quantization->ignored())
      experts.erase(absl::StrCat(base, ".", std::string(suffix)));
  }
  return absl::OkStatus();
}

absl::Status HfSource::findPackedWeights() {
  config.use("quantization_config");
  TENON_ASSIGN_OR_RETURN(quantization, Quantization::read(folder, config.config()));
  if (!quantization)
    return absl::OkStatus();
  std::span<const PartName> parts = quantization->parts();
  std::string codes = absl::StrCat(".", std::string(parts.front().suffix));
  std::set<std::string, std::less<>> dropped;
  for (const SourceTensor& tensor : list) {
    // Beside quantised layers there are weights of 16 bits by the same name.
    bool isPlain = codes == ".weight" && tensor.encoding != nullptr;
    if (!tensor.name.ends_with(codes) || isPlain)
      continue;
    std::string base(tensor.name.substr(0, tensor.name.size() - codes.size()));
    auto find = [&](std::string_view suffix) -> Part {
      auto found = indexByName.find(absl::StrCat(base, ".", std::string(suffix)));
      if (found == indexByName.end())
        return {};
      return {&stored.find(found->first)->second, list[found->second].file};
    };
    std::string module = moduleOf(family, base);
    TENON_ASSIGN_OR_RETURN(Packed weight, openPackedWeight(module, find));
    warnOfZeros(folder, module, weight.weights);
    packed.emplace(base + ".weight", std::move(weight));
    for (const PartName& part : parts)
      dropped.insert(absl::StrCat(base, ".", std::string(part.suffix)));
    for (std::string_view suffix : quantization->ignored())
      dropped.insert(absl::StrCat(base, ".", std::string(suffix)));
  }
  drop(dropped);
  TENON_RETURN_IF_ERROR(findPackedExperts());
  for (const auto& [name, weight] : packed) {
    SourceTensor tensor;
    tensor.shape = weight.shape;
    tensor.encoding = &weight.weights.front().encoding();
    tensor.permutation = weight.weights.front().permutation();
    TENON_RETURN_IF_ERROR(addTensor(std::move(tensor), name));
  }
  return absl::OkStatus();
}

} // namespace tenon::frontends
