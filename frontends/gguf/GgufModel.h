#ifndef TENON_FRONTENDS_GGUF_GGUFMODEL_H
#define TENON_FRONTENDS_GGUF_GGUFMODEL_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/gguf/GgufFile.h"
#include "support/TextHash.h"

namespace tenon::frontends {

/// A model in one GGUF file or split over several, as llama.cpp's gguf-split writes them: part
/// `i` of `n` is named `<prefix>-<i>-of-<n>.gguf`, both numbers with five digits, the first of
/// them 1. Each part states `split.count` = n and `split.no` = i − 1; the first holds the metadata
/// of the model and, as `split.tensors.count`, the number of tensors in all parts.
class GgufModel {
public:
  /// Opens the file at `path` and, if it is the first of several parts, the others beside it.
  /// Refuses another part than the first, parts that contradict the first, and tensors that are
  /// in two parts or missing from the count. Errors name the part.
  static absl::StatusOr<GgufModel> open(const std::string& path);
  /// The model in `file` alone, which is not split.
  static absl::StatusOr<GgufModel> create(std::shared_ptr<const GgufFile> file);

  /// The file or the first part: what holds the metadata.
  const GgufFile& main() const { return *files.front(); }
  /// All parts in their order, one where the model is not split.
  std::span<const std::shared_ptr<const GgufFile>> parts() const { return files; }
  /// The number of the part that holds the tensor of that name; 0 where none does, so that errors
  /// name the model's main file.
  size_t partWith(std::string_view tensor) const;
  const GgufFile& fileWith(std::string_view tensor) const { return *files[partWith(tensor)]; }
  /// Tensors in all parts.
  size_t tensorCount() const { return partOfTensor.size(); }

private:
  absl::Status openOthers(const std::string& path);
  absl::Status indexTensors();

  std::vector<std::shared_ptr<const GgufFile>> files;
  /// Names are views of the files.
  absl::flat_hash_map<std::string_view, size_t, TextHash> partOfTensor;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_GGUFMODEL_H
