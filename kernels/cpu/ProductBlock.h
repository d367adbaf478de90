#ifndef TENON_KERNELS_CPU_PRODUCTBLOCK_H
#define TENON_KERNELS_CPU_PRODUCTBLOCK_H

#include "kernels/cpu/ScheduleRule.h"

namespace tenon::kernels {

/// Accumulators of one block: rows of x times rows of the weight.
struct ProductBlock {
  int64_t rows, columns;
};

/// The block for `rows` rows of x.
ProductBlock chooseProductBlock(int64_t rows, const CpuTarget& target);

/// Elements of K that the inner loop of a product takes at once.
int64_t chooseProductStep(const Encoding& encoding, const CpuTarget& target);

/// Rows of the weight of `rowBytes` bytes that a tile streams, in whole blocks.
int64_t chooseStreamedColumns(int64_t rowBytes, const ProductBlock& block);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CPU_PRODUCTBLOCK_H
