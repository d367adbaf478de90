#ifndef TENON_IR_ENCODING_TRANSPOSEMATRICES_H
#define TENON_IR_ENCODING_TRANSPOSEMATRICES_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon {

/// Writes the transposes [columns, rows] of the row-major matrices [rows, columns] that lie one
/// after the other in `source`. `result` has as many bytes, a multiple of those of a matrix; an
/// element has 2 or 4.
void transposeMatrices(std::span<const std::byte> source, std::span<std::byte> result, int64_t rows,
                       int64_t columns, int64_t elementBytes);

} // namespace tenon

#endif // TENON_IR_ENCODING_TRANSPOSEMATRICES_H
