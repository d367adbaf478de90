#ifndef TENON_FRONTENDS_MODELS_MODELSOURCE_H
#define TENON_FRONTENDS_MODELS_MODELSOURCE_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "ir/encoding/Encoding.h"
#include "runtime/program/TokenizerSpec.h"
#include "support/MappedFile.h"

namespace tenon::frontends {

/// A tensor of a model: its type and shape, and where its bytes lie.
struct SourceTensor {
  /// The canonical name; lives as long as the source.
  std::string_view name;
  /// Row-major: a linear layer's weight is [outputs, inputs].
  std::vector<int64_t> shape;
  /// How the values are stored, or null where Tenon does not know the type.
  const Encoding* encoding = nullptr;
  /// Its file, a position in `ModelSource::files`.
  size_t file = 0;
  /// Where the data start, in bytes from the file's first.
  uint64_t offset = 0;
  /// Length of the data in bytes; 0 where the encoding is not known.
  uint64_t byteSize = 0;
  /// Of a weight whose columns were ordered by activations: column i stands for input
  /// `permutation[i]`. Empty where they have the inputs' order. Lives as long as the source.
  std::span<const int32_t> permutation = {};
};

/// A metadata key that describes the architecture, and its value.
struct SourceKey {
  std::string canonical;
  std::string stored; ///< the key as the file has it
  std::string value;  ///< the value for messages
  /// The value where it is a number or a bool, which is 0 or 1.
  std::optional<double> number;
};

/// A model as architectures see it, whatever its file format: hyperparameters by canonical key,
/// tensors by canonical name, a tokeniser. A file format implements this interface and knows no
/// architecture; an architecture knows no file format. No MLIR.
///
/// Canonical keys are `architecture` (`llama`), `name`, and those of GGUF's specification without
/// the architecture's prefix: `block_count`, `attention.head_count`. Canonical names of tensors are
/// GGUF's: `blk.3.attn_q.weight`; so are the layouts that architectures expect of them.
///
/// Every error names the file and the key or tensor as the file has it, what was expected and what
/// was found. A missing key or tensor is NotFound, everything else InvalidArgument.
class ModelSource {
public:
  virtual ~ModelSource() = default;

  /// The model's main file, which stands for it in messages.
  virtual const std::string& path() const = 0;
  /// The files that hold tensors, the main one first.
  virtual std::span<const std::shared_ptr<const MappedFile>> files() const = 0;

  /// All keys of the architecture, in the file's order: those that `has` knows, but for
  /// `architecture` and `name`, and those that no architecture may know.
  virtual std::vector<SourceKey> keys() const = 0;
  virtual bool has(std::string_view key) const = 0;
  /// An integer in [1, highest]; `otherwise` where the model has none, if that is given.
  absl::StatusOr<int64_t> count(std::string_view key, int64_t highest,
                                std::optional<int64_t> otherwise = std::nullopt) const;
  /// An integer in [0, highest]; 0 where the model has none.
  absl::StatusOr<int64_t> countOrZero(std::string_view key, int64_t highest) const;
  /// A finite number above `least`; `otherwise` where the model has none, if that is given.
  absl::StatusOr<double> numberAbove(double least, std::string_view key,
                                     std::optional<double> otherwise = std::nullopt) const;
  virtual absl::StatusOr<bool> flag(std::string_view key) const = 0;
  virtual absl::StatusOr<std::string_view> text(std::string_view key) const = 0;
  /// The same; `otherwise` where the model has none.
  absl::StatusOr<std::string_view> text(std::string_view key, std::string_view otherwise) const;
  /// `<path>: metadata key '<key>' expects <expected>, but got <found>`.
  virtual absl::Status keyError(std::string_view key, const std::string& expected,
                                const std::string& found) const = 0;

  /// All tensors, in the files' order.
  virtual std::span<const SourceTensor> tensors() const = 0;
  virtual bool hasTensor(std::string_view name) const = 0;
  /// The tensor of that name, in an encoding that Tenon knows; refuses any shape but `shape`, if
  /// that is not empty.
  virtual absl::StatusOr<const SourceTensor*>
  requireTensor(std::string_view name, std::span<const int64_t> shape = {}) const = 0;
  /// Whether the rows of Q and K have the order of the model's own code, where elements of the first
  /// half of a head rotate with those of the second, also where the canonical layout has them
  /// beside one another.
  virtual bool keepsHalves() const { return false; }
  /// The path of the tensor's file.
  const std::string& pathOf(const SourceTensor& tensor) const {
    return files()[tensor.file]->path();
  }
  /// The tensor's data: `byteSize` bytes of its file.
  std::span<const std::byte> data(const SourceTensor& tensor) const {
    return files()[tensor.file]->bytes().subspan(tensor.offset, tensor.byteSize);
  }

  /// What the model's tokeniser is built from. What its values mean together is checked by
  /// `runtime::Tokenizer::create`.
  virtual absl::StatusOr<runtime::TokenizerSpec> tokenizer() const = 0;
  /// Refuses a model whose tokeniser has another number of tokens than the `rows` of its embedding.
  /// A model without a tokeniser passes.
  virtual absl::Status checkVocabulary(int64_t rows) const = 0;

protected:
  /// Any integer from 0 to `highest`.
  virtual absl::StatusOr<uint64_t> integer(std::string_view key, uint64_t highest) const = 0;
  virtual absl::StatusOr<float> number(std::string_view key) const = 0;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_MODELSOURCE_H
