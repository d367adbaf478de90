#ifndef TENON_TOOLS_DRIVER_RANDOMCONSTANTS_H
#define TENON_TOOLS_DRIVER_RANDOMCONSTANTS_H

#include <cstdint>

#include "absl/status/status.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// Lets every constant of `program` that comes from files be random values instead, made when the
/// program is loaded, so that it needs no file. Deviations are those of `writeRandomModel`:
///
///   matrices    1/sqrt(inputs) about 0, inputs being the last axis
///   vectors     0.02 about 0 where the name ends in `.bias`, else 0.05 about 1, as of a norm
///
/// A constant's seed is `seed` + the 64-bit FNV-1a hash of its name (Fowler, Noll, Vo; RFC 9923).
/// InvalidArgument names a constant whose encoding `RandomRange` does not have.
absl::Status randomizeConstants(runtime::Program& program, uint64_t seed);

} // namespace tenon::tools

#endif // TENON_TOOLS_DRIVER_RANDOMCONSTANTS_H
