#ifndef TENON_RUNTIME_PROGRAM_CHECKCALL_H
#define TENON_RUNTIME_PROGRAM_CHECKCALL_H

#include <cstddef>
#include <span>

#include "absl/status/status.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// Checks what a caller passes to `Executor::run`: that `program` has function number `function`,
/// and that there is memory of the right size for each of its inputs and of the outputs that are
/// wanted, which are not empty. InvalidArgument names the first that is not as the signature says.
absl::Status checkCall(const Program& program, size_t function,
                       std::span<const std::span<const std::byte>> inputs,
                       std::span<const std::span<std::byte>> outputs);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_CHECKCALL_H
