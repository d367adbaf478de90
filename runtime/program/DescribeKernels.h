#ifndef TENON_RUNTIME_PROGRAM_DESCRIBEKERNELS_H
#define TENON_RUNTIME_PROGRAM_DESCRIBEKERNELS_H

#include "runtime/program/Program.h"

namespace tenon::runtime {

/// For programs made by hand: gives each kernel of `program` the tiles and the arguments of the
/// first step that runs it. What lies in constants and inputs is read, all else read and written.
void describeKernelsBySteps(Program& program);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_DESCRIBEKERNELS_H
