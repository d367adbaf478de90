#include "codegen/cuda/WeightedVectors.h"

namespace tenon::codegen::cuda {

void WeightedVectors::printSum(CodeWriter& code, const std::string& name) const {
  code.format("float %s[%d] = {};", name, width);
  code.format("#pragma unroll %d", unrolled);
  code.openFormat("for (int vector = 0; vector < %d; ++vector)", count);
  code.format("float x[%d];", width);
  code.line(load);
  code.format("const float weight = %s;", weight);
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", width);
  code.format("  %s[j] = __fmaf_rn(weight, x[j], %s[j]);", name, name);
  code.close();
}

} // namespace tenon::codegen::cuda
