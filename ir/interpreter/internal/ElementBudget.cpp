#include "ir/interpreter/internal/ElementBudget.h"

#include "absl/strings/str_format.h"
#include "ir/Interfaces.h"
#include "ir/Types.h"

using namespace mlir;

namespace tenon::interpreter {

absl::StatusOr<Reservation> ElementBudget::reserve(Type type) {
  if (!getStorageBytes(type))
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a tensor or state of static size, but got %s", detail::formatType(type)));
  int64_t elements = getTensorType(type).getNumElements();
  if (elements > limit - *used)
    return absl::ResourceExhaustedError(
        absl::StrFormat("expects at most %d elements held at once, but %s comes on top of %d",
                        limit, detail::formatType(type), *used));
  *used += elements;
  return Reservation(this, [used = used, elements](const void*) { *used -= elements; });
}

} // namespace tenon::interpreter
