#include "ir/KvCache.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tenon {

KvCache::KvCache(Type type) : layout(StateLayout::Dense) {
  RankedTensorType tensor = getTensorType(type);
  assert(tensor.getRank() == 4 && "operations on caches verify the axes");
  sequences = tensor.getDimSize(0), capacity = tensor.getDimSize(1);
  heads = tensor.getDimSize(2), size = tensor.getDimSize(3);
  elementType = tensor.getElementType();
  if (auto state = llvm::dyn_cast<StateType>(type))
    layout = state.getLayout().getKind();
}

int64_t KvCache::headRow(int64_t sequence, int64_t position, int64_t head) const {
  switch (layout) {
  case StateLayout::Dense:
    return (sequence * capacity + position) * heads + head;
  }
  llvm_unreachable("all layouts are handled");
}

} // namespace tenon
