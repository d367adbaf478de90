#include "ir/encoding/TransposeMatrices.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace tenon {
namespace {

/// Transposes `count` matrices of rows · columns ascending numbers and compares each element.
template <typename T> void expectTransposes(int64_t count, int64_t rows, int64_t columns) {
  SCOPED_TRACE(testing::Message() << count << "x" << rows << "x" << columns);
  std::vector<T> source(count * rows * columns), result(source.size());
  std::iota(source.begin(), source.end(), T{1});
  transposeMatrices(std::as_bytes(std::span(source)), std::as_writable_bytes(std::span(result)),
                    rows, columns, sizeof(T));
  for (int64_t matrix = 0; matrix < count; ++matrix)
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        ASSERT_EQ(result[(matrix * columns + column) * rows + row],
                  source[(matrix * rows + row) * columns + column]);
}

TEST(TransposeMatrices, OfAnySides) {
  for (int64_t rows : {1, 2, 31, 32, 33, 70})
    for (int64_t columns : {1, 3, 32, 65}) {
      expectTransposes<uint16_t>(1, rows, columns);
      expectTransposes<uint32_t>(3, rows, columns);
    }
  expectTransposes<uint32_t>(0, 4, 4);
}

} // namespace
} // namespace tenon
