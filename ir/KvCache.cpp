#include "ir/KvCache.h"

#include "ir/Dialect.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace tenon {

static bool isPagedState(Type type) {
  auto state = llvm::dyn_cast<StateType>(type);
  return state && state.getLayout().getKind() == StateLayout::Paged;
}

KvCache::KvCache(Type type, Value blockTable) : layout(StateLayout::Dense) {
  RankedTensorType tensor = getTensorType(type);
  assert(tensor.getRank() == 4 && "operations on caches verify the axes");
  llvm::ArrayRef<int64_t> shape = tensor.getShape();
  size = shape[3], elementType = tensor.getElementType();
  if (auto state = llvm::dyn_cast<StateType>(type)) {
    layout = state.getLayout().getKind();
    kept = state.getLayout().getKept();
  }
  if (!isPaged()) {
    sequences = shape[0], capacity = shape[1], heads = shape[2];
    return;
  }
  pages = shape[0], heads = shape[1], page = shape[2];
  if (!blockTable)
    return;
  auto table = llvm::cast<RankedTensorType>(blockTable.getType());
  sequences = table.getDimSize(0), capacity = table.getDimSize(1) * page;
}

int64_t KvCache::place(int64_t position) const {
  switch (layout) {
  case StateLayout::Dense:
  case StateLayout::Paged:
    return position;
  case StateLayout::Ring:
    return position < kept ? position : kept + (position - kept) % ring();
  }
  llvm_unreachable("all layouts are handled");
}

bool KvCache::hasPage(int64_t sequence, int64_t place, llvm::ArrayRef<double> blockTable) const {
  if (!isPaged())
    return true;
  double entry = blockTable[sequence * blocks() + place / page];
  return entry >= 0 && entry < static_cast<double>(pages);
}

int64_t KvCache::headRow(int64_t sequence, int64_t place, int64_t head,
                         llvm::ArrayRef<double> blockTable) const {
  if (!isPaged())
    return (sequence * capacity + place) * heads + head;
  int64_t id = hasPage(sequence, place, blockTable)
                   ? static_cast<int64_t>(blockTable[sequence * blocks() + place / page])
                   : pages - 1;
  return (id * heads + head) * page + place % page;
}

int64_t queryViewsOf(Type cache) {
  constexpr int64_t viewsOfRing = 3;
  auto state = llvm::dyn_cast<StateType>(cache);
  return state && state.getLayout().getKind() == StateLayout::Ring ? viewsOfRing : 1;
}

LogicalResult verifyBlockTable(std::optional<Location> location, llvm::StringRef operation,
                               Type cache, Value blockTable) {
  if (!isPagedState(cache))
    return blockTable ? detail::emitShapeError(
                            location, operation,
                            "expects a block table beside paged states alone, but got one beside " +
                                detail::formatType(cache))
                      : success();
  if (!blockTable)
    return detail::emitShapeError(
        location, operation,
        "expects a block table beside a paged state, but got none beside " +
            detail::formatType(cache));
  auto table = llvm::cast<RankedTensorType>(blockTable.getType());
  if (table.getRank() != 2 || table.getDimSize(0) > INT32_MAX || table.getDimSize(1) < 1 ||
      table.getDimSize(1) > INT32_MAX / KvCache(cache).page)
    return detail::emitShapeError(
        location, operation,
        "expects a block table [S, B] of at most 2^31 - 1 sequences and positions, but got " +
            detail::formatType(table));
  return success();
}

} // namespace tenon
