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
  if (auto state = llvm::dyn_cast<StateType>(type)) {
    layout = state.getLayout().getKind();
    kept = state.getLayout().getKept();
  }
}

int64_t KvCache::place(int64_t position) const {
  switch (layout) {
  case StateLayout::Dense:
    return position;
  case StateLayout::Ring:
    return position < kept ? position : kept + (position - kept) % ring();
  }
  llvm_unreachable("all layouts are handled");
}

int64_t queryViewsOf(Type cache) {
  constexpr int64_t viewsOfRing = 3;
  auto state = llvm::dyn_cast<StateType>(cache);
  return state && state.getLayout().getKind() == StateLayout::Ring ? viewsOfRing : 1;
}

} // namespace tenon
