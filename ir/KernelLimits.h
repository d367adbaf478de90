#ifndef TENON_IR_KERNELLIMITS_H
#define TENON_IR_KERNELLIMITS_H

#include <cstdint>

namespace tenon {

/// Inputs and results, states counted once, that a kernel may have: what 4,096 bytes of parameters
/// hold, which CUDA drivers of every version take. `runtime::validateProgram` refuses more.
inline constexpr int64_t mostKernelArguments = 512;

/// The most that a schedule or an order counts, elements and tiles: no tensor that a program may
/// have (`runtime::validateProgram`) has more. Sizes that follow from a few such numbers do not
/// overflow.
inline constexpr int64_t mostCounted = int64_t{1} << 40;

} // namespace tenon

#endif // TENON_IR_KERNELLIMITS_H
