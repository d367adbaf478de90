#ifndef TENON_TESTS_CODEGEN_CUDA_INDEXEDCASES_H
#define TENON_TESTS_CODEGEN_CUDA_INDEXEDCASES_H

#include "tests/codegen/cuda/CudaCases.h"

namespace tenon::testing {

/// Gathers and scatters with indices on either side of the axis, windows of convolutions, cumulative
/// sums, remainders.
void addIndexed(std::vector<CudaCase>& cases);
/// Arithmetic, comparisons and casts of integers and bools, moves of them, indices of 64 bits.
void addIntegers(std::vector<CudaCase>& cases);

} // namespace tenon::testing

#endif // TENON_TESTS_CODEGEN_CUDA_INDEXEDCASES_H
