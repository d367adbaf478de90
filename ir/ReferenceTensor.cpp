#include "ir/ReferenceTensor.h"

#include <cassert>
#include <cmath>

#include "ir/Interfaces.h"
#include "ir/Types.h"

namespace tenon {

ReferenceTensor::ReferenceTensor(mlir::RankedTensorType type)
    : type(type), values(std::make_shared<std::vector<double>>(type.getNumElements())) {}

ReferenceTensor::ReferenceTensor(mlir::RankedTensorType type, std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner)
    : type(type), encoded(bytes), owner(std::move(owner)) {
  assert(getStorageBytes(type) == static_cast<int64_t>(bytes.size()) && "size of the type");
}

int64_t ReferenceTensor::getRowLength() const {
  return type.getRank() == 0 ? 1 : type.getShape().back();
}

int64_t ReferenceTensor::getNumRows() const {
  int64_t length = getRowLength();
  return length == 0 ? 0 : type.getNumElements() / length;
}

llvm::ArrayRef<double> ReferenceTensor::getRow(int64_t index, std::vector<double>& scratch) const {
  int64_t length = getRowLength();
  if (!isEncoded())
    return llvm::ArrayRef(*values).slice(index * length, length);
  const Encoding* encoding = getEncoding(type.getElementType());
  int64_t rowBytes = encoding->bytesFor(length);
  scratch.resize(length);
  encoding->decode(encoded.subspan(index * rowBytes, rowBytes), scratch);
  return scratch;
}

llvm::ArrayRef<double> ReferenceTensor::getAll(std::vector<double>& scratch) const {
  if (!isEncoded())
    return *values;
  scratch = toVector();
  return scratch;
}

std::vector<double> ReferenceTensor::toVector() const {
  if (!isEncoded())
    return *values;
  std::vector<double> all(type.getNumElements());
  getEncoding(type.getElementType())->decode(encoded, all);
  return all;
}

void ReferenceTensor::roundToElementType() {
  if (isEncoded())
    return;
  if (type.getElementType().isInteger()) {
    for (double& value : *values)
      if (std::abs(value) < 0x1p63)
        value = static_cast<double>(
            detail::wrapInteger(static_cast<int64_t>(value), type.getElementType()));
    return;
  }
  std::vector<std::byte> bytes = encode();
  getEncoding(type.getElementType())->decode(bytes, *values);
}

std::vector<std::byte> ReferenceTensor::encode() const {
  if (isEncoded())
    return {encoded.begin(), encoded.end()};
  std::vector<std::byte> bytes(*getStorageBytes(type));
  getEncoding(type.getElementType())->encode(*values, bytes);
  return bytes;
}

} // namespace tenon
