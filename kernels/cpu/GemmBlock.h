#ifndef TENON_KERNELS_CPU_GEMMBLOCK_H
#define TENON_KERNELS_CPU_GEMMBLOCK_H

#include "kernels/cpu/ScheduleRule.h"

namespace tenon::kernels {

/// Accumulators of one block: rows of x times rows of the weight.
struct GemmBlock {
  int64_t rows, columns;
};

/// The block for `rows` rows of x.
GemmBlock chooseGemmBlock(int64_t rows, const CpuTarget& target);

/// Elements of K that the inner loop of a GEMM takes at once.
int64_t chooseGemmStep(const Encoding& encoding, const CpuTarget& target);

/// Rows of the weight of `rowBytes` bytes that a tile streams, in whole blocks.
int64_t chooseStreamedColumns(int64_t rowBytes, const GemmBlock& block);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CPU_GEMMBLOCK_H
