#include "frontends/models/internal/WeightTable.h"

#include "absl/strings/str_format.h"

#include "support/MessageText.h"
#include "support/Status.h"

namespace tenon::frontends {

std::span<const int32_t> WeightTable::permutation(std::string_view tensor) const {
  absl::StatusOr<const SourceTensor*> found = source.requireTensor(tensor);
  return found.ok() ? (*found)->permutation : std::span<const int32_t>();
}

Value WeightTable::get(std::string_view tensor, llvm::ArrayRef<int64_t> shape) {
  return getRows(tensor, tensor, shape, {0, shape.front()});
}

Value WeightTable::getRows(std::string_view name, std::string_view tensor,
                           llvm::ArrayRef<int64_t> shape, RowRange rows) {
  if (!builder.getStatus().ok())
    return {};
  if (!builder.hasSymbol(name))
    builder.fail(declare(name, tensor, shape, rows));
  return builder.weight(name);
}

absl::Status WeightTable::declare(std::string_view name, std::string_view tensorName,
                                  llvm::ArrayRef<int64_t> shape, RowRange rows) {
  TENON_ASSIGN_OR_RETURN(const SourceTensor* tensor, source.requireTensor(tensorName));
  // GGUF stores a matrix of one row as a vector.
  bool isVector = shape.size() == 2 && shape.front() == 1 && tensor->shape.size() == 1;
  llvm::ArrayRef<int64_t> stored = shape.drop_front(isVector ? 1 : 0);
  TENON_RETURN_IF_ERROR(
      source.requireTensor(tensorName, std::span(stored.data(), stored.size())).status());
  const Encoding& encoding = *tensor->encoding;
  mlir::Type elementType = getElementType(builder.getActivationType().getContext(), encoding);
  bool isFloat = llvm::isa<mlir::FloatType>(elementType);
  if (!isFloat && (shape.size() == 1 || !llvm::isa<BlockType>(elementType)))
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: tensor %s expects floating-point numbers, but got type %s",
                        source.pathOf(*tensor), quoteName(tensorName), encoding.name));
  int64_t rowElements = 1; // of an index of the first axis
  for (int64_t extent : shape.drop_front())
    rowElements *= extent;
  int64_t rowBytes = encoding.bytesFor(rowElements);
  llvm::SmallVector<int64_t> partShape(shape);
  partShape.front() = rows.count;
  WeightRange range{.file = fileSymbols[tensor->file],
                    .offset = static_cast<int64_t>(tensor->offset) + rows.first * rowBytes,
                    .bytes = rows.count * rowBytes};
  builder.declareWeight(name, partShape, elementType, range);
  used.emplace(tensorName);
  return absl::OkStatus();
}

absl::Status WeightTable::checkAllUsed(std::string_view architecture) const {
  for (const SourceTensor& tensor : source.tensors())
    if (!used.contains(tensor.name))
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: expects the tensors of architecture '%s', but got %s, which it "
                          "has no use for",
                          source.pathOf(tensor), architecture, quoteName(tensor.name)));
  return absl::OkStatus();
}

} // namespace tenon::frontends
