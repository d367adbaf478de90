#ifndef TENON_FRONTENDS_MODELS_INTERNAL_WEIGHTTABLE_H
#define TENON_FRONTENDS_MODELS_INTERNAL_WEIGHTTABLE_H

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "frontends/builder/GraphBuilder.h"
#include "frontends/models/ModelSource.h"

namespace tenon::frontends {

/// Rows [first, first + count) of a tensor that has more.
struct RowRange {
  int64_t first;
  int64_t count;
};

/// Declares a model's tensors as weights when they are first asked for, each once, and remembers
/// which were. Errors go to the builder and name the file and the tensor.
class WeightTable {
public:
  /// `fileSymbols` are the declared `tenon.file`s, one for each of `source.files()`.
  WeightTable(const ModelSource& source, GraphBuilder& builder,
              std::vector<std::string> fileSymbols)
      : source(source), builder(builder), fileSymbols(std::move(fileSymbols)) {}

  bool has(std::string_view tensor) const { return source.hasTensor(tensor); }
  /// `SourceTensor::permutation` of a tensor; empty where there is no such tensor.
  std::span<const int32_t> permutation(std::string_view tensor) const;

  /// The weight in the open function: matrices in any encoding, [rows, columns] or [experts, rows,
  /// columns], or a vector of floating-point numbers [length].
  Value get(std::string_view tensor, llvm::ArrayRef<int64_t> shape);
  /// Rows of a fused tensor of `shape`, as a weight of its own named `name`.
  Value getRows(std::string_view name, std::string_view tensor, llvm::ArrayRef<int64_t> shape,
                RowRange rows);

  /// Counts the tensor as used.
  void markUsed(std::string_view tensor) { used.emplace(tensor); }
  /// Refuses a tensor of the model that nothing asked for.
  absl::Status checkAllUsed(std::string_view architecture) const;

private:
  absl::Status declare(std::string_view name, std::string_view tensor,
                       llvm::ArrayRef<int64_t> shape, RowRange rows);

  const ModelSource& source;
  GraphBuilder& builder;
  std::vector<std::string> fileSymbols;
  std::set<std::string, std::less<>> used;
};

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_INTERNAL_WEIGHTTABLE_H
