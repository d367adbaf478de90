#include "ir/Dialect.h"

using namespace mlir;

namespace tenon {

LogicalResult FileOp::verify() {
  if (getPath().empty())
    return emitOpError("expects a path, but got an empty string");
  if (static_cast<int64_t>(getBytes()) < 0)
    return emitOpError("expects a size of zero or more bytes, but got ")
           << static_cast<int64_t>(getBytes());
  return success();
}

} // namespace tenon
