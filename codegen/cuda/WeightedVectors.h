#ifndef TENON_CODEGEN_CUDA_WEIGHTEDVECTORS_H
#define TENON_CODEGEN_CUDA_WEIGHTEDVECTORS_H

#include <cstdint>
#include <string>

#include "codegen/cuda/CodeWriter.h"

namespace tenon::codegen::cuda {

/// Vectors that `tenon.weighted_sum` adds, as a thread takes them: each times its weight, one after
/// the other. In the texts, `vector` is the number of one of them.
struct WeightedVectors {
  int64_t count;
  int64_t width;      ///< elements of each that the thread has
  int64_t unrolled;   ///< vectors that a turn of the loop takes
  std::string load;   ///< a statement that fills `float x[width]`
  std::string weight; ///< an expression of type float

  /// Prints `float NAME[width]`, the sum before it is rounded.
  void printSum(CodeWriter& code, const std::string& name) const;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_WEIGHTEDVECTORS_H
