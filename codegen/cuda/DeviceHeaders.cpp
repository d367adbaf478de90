#include "codegen/cuda/Nvrtc.h"

namespace tenon::codegen::cuda {

std::vector<DeviceHeader> deviceHeaders() {
  return {
#include "codegen/cuda/DeviceHeaders.inc"
  };
}

} // namespace tenon::codegen::cuda
