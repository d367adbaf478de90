#ifndef TENON_RUNTIME_PROGRAM_VALIDATEPROGRAM_H
#define TENON_RUNTIME_PROGRAM_VALIDATEPROGRAM_H

#include "absl/status/status.h"
#include "runtime/program/Program.h"

namespace tenon::runtime {

/// Checks that `program` means something an executor can run without further checks: every index
/// is in range, every argument lies inside its memory and is
/// what the kernel was made for, sizes follow from shapes and encodings,
/// there is work in every step, all memory together stays below 1 TiB, and functions with a role
/// have the signature that `Function` documents. Returns InvalidArgument naming the thing, what
/// was expected and what was found. Machine code is not looked into.
absl::Status validateProgram(const Program& program);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_VALIDATEPROGRAM_H
