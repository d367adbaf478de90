#include "frontends/gguf/GgufModel.h"

#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

/// What five digits in a file name allow.
static constexpr uint64_t highestPart = 99999;

/// How the name of part `part`, counted from 0, ends.
static std::string nameEnding(uint64_t part, uint64_t count) {
  return absl::StrFormat("-%05d-of-%05d.gguf", part + 1, count);
}

/// `<path>: metadata key '<key>' expects <expected>, but got <found>`.
static absl::Status keyError(const GgufFile& file, std::string_view key,
                             const std::string& expected, uint64_t found) {
  return absl::InvalidArgumentError(absl::StrFormat("%s: metadata key '%s' expects %s, but got %d",
                                                    file.path(), key, expected, found));
}

static absl::Status checkKey(const GgufFile& file, std::string_view key, uint64_t expected) {
  TENON_ASSIGN_OR_RETURN(uint64_t found, file.requireU64(key, highestPart));
  if (found != expected)
    return keyError(file, key, absl::StrFormat("%d", expected), found);
  return absl::OkStatus();
}

absl::StatusOr<GgufModel> GgufModel::open(const std::string& path) {
  GgufModel model;
  TENON_ASSIGN_OR_RETURN(model.files.emplace_back(), GgufFile::open(path));
  TENON_RETURN_IF_ERROR(model.openOthers(path));
  TENON_RETURN_IF_ERROR(model.indexTensors());
  return model;
}

absl::StatusOr<GgufModel> GgufModel::create(std::shared_ptr<const GgufFile> file) {
  GgufModel model;
  model.files.push_back(std::move(file));
  TENON_RETURN_IF_ERROR(model.indexTensors());
  return model;
}

absl::Status GgufModel::openOthers(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(uint64_t count, main().optionalU64("split.count", 1, highestPart));
  if (count <= 1)
    return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(uint64_t number, main().requireU64("split.no", highestPart));
  if (number != 0)
    return keyError(main(), "split.no",
                    absl::StrFormat("0, that of the part named '*%s'", nameEnding(0, count)),
                    number);
  if (!std::string_view(path).ends_with(nameEnding(0, count)))
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: expects the name of part 1 of %d to end in '%s'", path, count, nameEnding(0, count)));
  std::string prefix = path.substr(0, path.size() - nameEnding(0, count).size());
  for (uint64_t part = 1; part < count; ++part) {
    TENON_ASSIGN_OR_RETURN(files.emplace_back(), GgufFile::open(prefix + nameEnding(part, count)));
    TENON_RETURN_IF_ERROR(checkKey(*files.back(), "split.count", count));
    TENON_RETURN_IF_ERROR(checkKey(*files.back(), "split.no", part));
  }
  return absl::OkStatus();
}

absl::Status GgufModel::indexTensors() {
  for (size_t part = 0; part < files.size(); ++part)
    for (const GgufTensor& tensor : files[part]->tensors())
      if (auto [other, isNew] = partOfTensor.emplace(tensor.name, part); !isNew)
        return absl::InvalidArgumentError(absl::StrFormat(
            "%s: expects each tensor in one part, but got %s in %s, too", files[part]->path(),
            quoteName(tensor.name), files[other->second]->path()));
  TENON_ASSIGN_OR_RETURN(uint64_t count, main().optionalU64("split.tensors.count", tensorCount()));
  if (count != tensorCount())
    return keyError(main(), "split.tensors.count",
                    absl::StrFormat("the %d tensors of all parts", tensorCount()), count);
  return absl::OkStatus();
}

size_t GgufModel::partWith(std::string_view tensor) const {
  auto found = partOfTensor.find(tensor);
  return found == partOfTensor.end() ? 0 : found->second;
}

} // namespace tenon::frontends
