#ifndef TENON_TOOLS_DRIVER_INTERNAL_RANDOMTENSORS_H
#define TENON_TOOLS_DRIVER_INTERNAL_RANDOMTENSORS_H

#include <string>
#include <vector>

#include "tools/driver/RandomModel.h"

namespace tenon::tools {

/// A tensor of a random model: Gaussian, or `values` where there are any.
struct RandomTensor {
  std::string name;
  /// Row-major.
  std::vector<int64_t> shape;
  const Encoding* encoding;
  float mean = 0.0f;
  float deviation = 1.0f;
  std::vector<float> values = {};

  int64_t elements() const;
};

/// The tensors of a model of that shape, named and laid out as llama.cpp converts them, matrices in
/// `encoding`.
std::vector<RandomTensor> listTensors(const ModelShape& shape, const Encoding& encoding);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_INTERNAL_RANDOMTENSORS_H
