#ifndef TENON_IR_KERNELLIMITS_H
#define TENON_IR_KERNELLIMITS_H

#include <cstdint>

namespace tenon {

/// Inputs and results, states counted once, that a kernel may have: what 4,096 bytes of parameters
/// hold, which CUDA drivers of every version take. `runtime::validateProgram` refuses more.
inline constexpr int64_t mostKernelArguments = 512;

} // namespace tenon

#endif // TENON_IR_KERNELLIMITS_H
