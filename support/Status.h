#ifndef TENON_SUPPORT_STATUS_H
#define TENON_SUPPORT_STATUS_H

#include "absl/status/status.h"
#include "absl/status/statusor.h"

/// Returns the status of `expression` from the enclosing function unless it is OK.
#define TENON_RETURN_IF_ERROR(expression)                                                          \
  do {                                                                                             \
    if (absl::Status tenonStatus = (expression); !tenonStatus.ok())                                \
      return tenonStatus;                                                                          \
  } while (false)

#define TENON_STATUS_CONCAT_INNER(a, b) a##b
#define TENON_STATUS_CONCAT(a, b) TENON_STATUS_CONCAT_INNER(a, b)

/// Evaluates `expression`, an `absl::StatusOr<T>`; returns its status from the enclosing function,
/// or moves its value into `target`, which may be a declaration.
#define TENON_ASSIGN_OR_RETURN(target, expression)                                                 \
  TENON_ASSIGN_OR_RETURN_IMPL(TENON_STATUS_CONCAT(tenonStatusOr, __LINE__), target, expression)
#define TENON_ASSIGN_OR_RETURN_IMPL(holder, target, expression)                                    \
  auto holder = (expression);                                                                      \
  if (!holder.ok())                                                                                \
    return std::move(holder).status();                                                             \
  target = *std::move(holder)

#endif // TENON_SUPPORT_STATUS_H
