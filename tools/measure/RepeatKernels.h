#ifndef TENON_TOOLS_MEASURE_REPEATKERNELS_H
#define TENON_TOOLS_MEASURE_REPEATKERNELS_H

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/program/Program.h"

namespace tenon::tools {

/// How the one function of a program is repeated to be measured.
struct RepeatOptions {
  int64_t repetitions = 16; ///< of the function's steps in `short`; three times as many in `long`
  int64_t touchedBytes = 0; ///< of constants and states that one repetition reads
  int64_t coldBytes = 0;    ///< of them that are to pass before the first are read again
  int64_t mostBytes = 1 << 30; ///< that all copies of constants and states may take together
};

/// The functions of a repeated program.
enum RepeatedFunction : size_t { ShortRun = 0, LongRun = 1 };

/// `program`, of one function, with two functions in its place, `short` and `long`, that run its
/// steps over and over. Each repetition of `long` and, after it, of `short` takes the next copy of the constants that come from files
/// and of the states, so that no cache holds them; there are as many copies as `coldBytes` asks for
/// and `mostBytes` and the repetitions allow, one at least. All of them are random values, states
/// too. Blocks of quantised encodings are made from a row of random values.
absl::StatusOr<runtime::Program> repeatKernels(runtime::Program program,
                                               const RepeatOptions& options);

} // namespace tenon::tools

#endif // TENON_TOOLS_MEASURE_REPEATKERNELS_H
