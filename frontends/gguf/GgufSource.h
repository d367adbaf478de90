#ifndef TENON_FRONTENDS_GGUF_GGUFSOURCE_H
#define TENON_FRONTENDS_GGUF_GGUFSOURCE_H

#include <functional>

#include "frontends/gguf/GgufModel.h"
#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// A GGUF model as a source: canonical keys are `general.architecture`, `general.name` and, for all
/// others, the key after the architecture's prefix (`llama.block_count`); tensors have their own
/// names.
class GgufSource : public ModelSource {
public:
  /// Opens the file at `path` and, if it is the first of several parts, the others beside it.
  static absl::StatusOr<std::unique_ptr<ModelSource>> open(const std::string& path);
  /// What a caller says otherwise of a tensor than its file does: an encoding of at most as many
  /// bytes, a permutation.
  using AdaptTensor = std::function<void(SourceTensor& tensor)>;
  /// The model in one file that is mapped already; `adapt` is called once for each tensor.
  static absl::StatusOr<std::unique_ptr<ModelSource>>
  create(std::shared_ptr<const MappedFile> mapped, const AdaptTensor& adapt = nullptr);

  const std::string& path() const override { return model.main().path(); }
  std::span<const std::shared_ptr<const MappedFile>> files() const override { return mappings; }
  std::vector<SourceKey> keys() const override;
  bool has(std::string_view key) const override { return model.main().has(fullKey(key)); }
  absl::StatusOr<bool> flag(std::string_view key) const override;
  absl::StatusOr<std::string_view> text(std::string_view key) const override;
  using ModelSource::text;
  absl::Status keyError(std::string_view key, const std::string& expected,
                        const std::string& found) const override;
  std::span<const SourceTensor> tensors() const override { return list; }
  bool hasTensor(std::string_view name) const override;
  absl::StatusOr<const SourceTensor*> requireTensor(std::string_view name,
                                                    std::span<const int64_t> shape) const override;
  absl::StatusOr<runtime::TokenizerSpec> tokenizer() const override;
  absl::Status checkVocabulary(int64_t rows) const override;

protected:
  absl::StatusOr<uint64_t> integer(std::string_view key, uint64_t highest) const override;
  absl::StatusOr<float> number(std::string_view key) const override;

private:
  explicit GgufSource(GgufModel model);
  std::string fullKey(std::string_view key) const;

  GgufModel model;
  /// The value of `general.architecture`, which its keys begin with; empty where there is none.
  std::string prefix;
  std::vector<std::shared_ptr<const MappedFile>> mappings;
  std::vector<SourceTensor> list;
  /// Where in `list` the tensors of each part begin.
  std::vector<size_t> firstOfPart;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_GGUFSOURCE_H
