#ifndef TENON_FRONTENDS_HF_CHANGEDTENSORS_H
#define TENON_FRONTENDS_HF_CHANGEDTENSORS_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "frontends/hf/HfFamily.h"
#include "frontends/models/ModelSource.h"
#include "ir/containers/PackedWeight.h"

namespace tenon::frontends {

/// Heads of queries, and of keys and values, which divide them.
struct HeadCounts {
  int64_t queries = 1;
  int64_t keys = 1;
};

/// Which rows of a tensor are taken, and in which order.
struct RowChoice {
  enum Kind : uint8_t {
    All,
    Even, ///< of a tensor [experts, rows, ...]
    Odd,  ///< the same
    /// All of a tensor [rows, ...], those of each part of as many as `order` in that order.
    Ordered,
  };
  Kind kind = All;
  /// Of `Ordered`: each number below its length once. Lives as long as what takes the rows.
  std::span<const int32_t> order = {};

  /// Whether every second row is taken.
  bool isHalf() const { return kind == Even || kind == Odd; }
  /// Which of the tensor's rows becomes row `row`.
  uint64_t rowFor(uint64_t row) const;
};

/// The tensors of a model that have another form in its files than architectures expect, in a file
/// of the cache folder. It is named by a hash of the configuration and of the files that it is made
/// of, so that it is written once.
class ChangedTensors {
public:
  /// `folder` stands for the model in messages, `configuration` is all of its config.json.
  ChangedTensors(std::string folder, std::string configuration)
      : folder(std::move(folder)), configuration(std::move(configuration)) {}

  /// Adds the `rows` of `tensor`, in an encoding of one element a block, in its changed form;
  /// refuses shapes that do not allow it. `heads` is for GroupHeads, `name` for messages.
  absl::Status add(TensorChange change, const SourceTensor& tensor, const ModelSource& source,
                   HeadCounts heads, const std::string& name, RowChoice rows = {});
  /// Adds tensors of one shape and of one encoding of one element a block, one after the other:
  /// [parts, ...].
  void add(std::span<const SourceTensor> parts, const ModelSource& source);
  /// Adds the `rows` of quantised weights of one encoding, one after the other as a tensor of `shape`,
  /// repacked into it when the file is written.
  absl::Status add(std::vector<containers::PackedWeight> weights, std::vector<int64_t> shape,
                   const std::string& name, RowChoice rows = {});
  /// Adds a vector of f32.
  void add(std::vector<float> values);

  /// Where they lie in the file, in the order in which they were added; `name` and `file` are not
  /// set.
  std::span<const SourceTensor> tensors() const { return places; }

  /// The file, written where it is not there. Fails where there is no cache folder.
  absl::StatusOr<std::shared_ptr<const MappedFile>>
  write(std::span<const std::shared_ptr<const MappedFile>> madeOf) const;

private:
  using Make = std::function<absl::StatusOr<std::vector<std::byte>>()>;
  void place(std::vector<int64_t> shape, const Encoding& encoding, Make make);
  /// The same of the `rows` of what `make` gives.
  absl::Status placeRows(std::vector<int64_t> shape, const Encoding& encoding, Make make,
                         RowChoice rows, const std::string& name);

  std::string folder;
  std::string configuration;
  std::vector<SourceTensor> places;
  std::vector<Make> makers; ///< the bytes of each
  uint64_t bytes = 0;       ///< of the file
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_HF_CHANGEDTENSORS_H
