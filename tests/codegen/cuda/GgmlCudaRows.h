#ifndef TENON_TESTS_CODEGEN_CUDA_GGMLCUDAROWS_H
#define TENON_TESTS_CODEGEN_CUDA_GGMLCUDAROWS_H

#include <algorithm>
#include <string>
#include <vector>

#include "tests/conformance/GgmlModule.h"

namespace tenon::conformance {

/// The rows of an operator whose block formats CUDA kernels decode: those of `device/blocks.cuh`.
inline std::vector<const GgmlRow*> cudaRowsOf(const std::string& op) {
  static const std::vector<std::string> types = {"f32",  "f16",  "bf16", "i32",  "q4_0",
                                                 "q4_1", "q5_0", "q5_1", "q8_0", "iq4_nl",
                                                 "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"};
  std::vector<const GgmlRow*> rows = rowsOf(op);
  std::erase_if(rows, [](const GgmlRow* row) {
    return std::ranges::any_of(row->sources, [](const std::optional<GgmlTensor>& source) {
      return source && std::ranges::find(types, source->type) == types.end();
    });
  });
  return rows;
}

/// The operators that have such rows.
inline std::vector<std::string> cudaOperators() {
  std::vector<std::string> operators = mappedOperators();
  std::erase_if(operators, [](const std::string& op) { return cudaRowsOf(op).empty(); });
  return operators;
}

} // namespace tenon::conformance

#endif // TENON_TESTS_CODEGEN_CUDA_GGMLCUDAROWS_H
