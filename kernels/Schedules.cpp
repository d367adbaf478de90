#include "kernels/Schedules.h"

using namespace mlir;

namespace tenon::kernels {

OrderAttr makeOrder(MLIRContext* context, int64_t lanes, int64_t chunk) {
  return OrderAttr::get(context, chunk, lanes, CombineTree::Halving);
}

int64_t dividingPower(int64_t extent, int64_t limit) {
  int64_t power = 1;
  while (2 * power <= limit && extent % (2 * power) == 0)
    power *= 2;
  return power;
}

} // namespace tenon::kernels
