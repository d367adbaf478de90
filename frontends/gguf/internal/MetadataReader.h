#ifndef TENON_FRONTENDS_GGUF_INTERNAL_METADATAREADER_H
#define TENON_FRONTENDS_GGUF_INTERNAL_METADATAREADER_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/gguf/GgufModel.h"

namespace tenon::frontends {

/// Reads one architecture's hyperparameters: keys without their prefix, `block_count` for
/// `llama.block_count`.
class MetadataReader {
public:
  MetadataReader(const GgufModel& model, std::string_view architecture)
      : model(model), architecture(architecture) {}

  const GgufModel& getModel() const { return model; }
  bool has(std::string_view key) const { return file().has(fullKey(key)); }

  /// An integer in [1, highest]; `otherwise` where the file has none, if that is given.
  absl::StatusOr<int64_t> count(std::string_view key, int64_t highest,
                                std::optional<int64_t> otherwise = std::nullopt) const;
  /// An integer in [0, highest]; 0 where the file has none.
  absl::StatusOr<int64_t> countOrZero(std::string_view key, int64_t highest) const;
  /// A finite number; `otherwise` where the file has none, if that is given. The result is above
  /// `least`.
  absl::StatusOr<double> numberAbove(double least, std::string_view key,
                                     std::optional<double> otherwise = std::nullopt) const;
  absl::StatusOr<bool> flag(std::string_view key) const { return file().requireBool(fullKey(key)); }
  absl::StatusOr<std::string_view> text(std::string_view key, std::string_view otherwise) const {
    return file().optionalString(fullKey(key), otherwise);
  }

  /// `<path>: metadata key '<prefix>.<key>' expects <expected>, but got <found>`.
  absl::Status error(std::string_view key, const std::string& expected,
                     const std::string& found) const;

private:
  const GgufFile& file() const { return model.main(); }
  std::string fullKey(std::string_view key) const;

  const GgufModel& model;
  std::string architecture;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_GGUF_INTERNAL_METADATAREADER_H
