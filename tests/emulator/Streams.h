#ifndef TENON_TESTS_EMULATOR_STREAMS_H
#define TENON_TESTS_EMULATOR_STREAMS_H

#include <functional>

#include <cuda.h>

namespace tenon::emulator {

/// Does `work` at once, or, while the stream is captured, whenever its graph is launched.
CUresult runOrCapture(CUstream stream, std::function<void()> work);

} // namespace tenon::emulator

#endif // TENON_TESTS_EMULATOR_STREAMS_H
