#ifndef TENON_IR_INTERPRETER_INTERNAL_ELEMENTBUDGET_H
#define TENON_IR_INTERPRETER_INTERNAL_ELEMENTBUDGET_H

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "mlir/IR/Types.h"

namespace tenon::interpreter {

/// Holds part of a budget until its last copy is gone; null where nothing is held.
using Reservation = std::shared_ptr<const void>;

/// Counts the elements that are held at once, so that a module cannot ask for unbounded memory.
class ElementBudget {
public:
  explicit ElementBudget(int64_t limit) : limit(limit), used(std::make_shared<int64_t>(0)) {}

  /// Takes the elements of a tensor or state type. Fails with ResourceExhausted where they do not
  /// fit, with InvalidArgument where the type has no static size.
  absl::StatusOr<Reservation> reserve(mlir::Type type);

private:
  int64_t limit;
  std::shared_ptr<int64_t> used;
};

} // namespace tenon::interpreter

#endif // TENON_IR_INTERPRETER_INTERNAL_ELEMENTBUDGET_H
