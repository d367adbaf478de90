#include "ir/encoding/TransposeMatrices.h"

#include <algorithm>
#include <cstring>

namespace tenon {

/// Squares of so many elements keep the lines of both sides in a core's cache.
static constexpr int64_t side = 32;

template <int64_t elementBytes>
static void transposeMatrix(const std::byte* source, std::byte* result, int64_t rows,
                            int64_t columns) {
  for (int64_t top = 0; top < rows; top += side)
    for (int64_t left = 0; left < columns; left += side)
      for (int64_t column = left; column < std::min(left + side, columns); ++column)
        for (int64_t row = top; row < std::min(top + side, rows); ++row)
          std::memcpy(result + (column * rows + row) * elementBytes,
                      source + (row * columns + column) * elementBytes, elementBytes);
}

void transposeMatrices(std::span<const std::byte> source, std::span<std::byte> result, int64_t rows,
                       int64_t columns, int64_t elementBytes) {
  auto* transposeOne = elementBytes == 2 ? transposeMatrix<2> : transposeMatrix<4>;
  int64_t bytes = rows * columns * elementBytes;
  for (size_t offset = 0; offset < source.size(); offset += bytes)
    transposeOne(source.data() + offset, result.data() + offset, rows, columns);
}

} // namespace tenon
