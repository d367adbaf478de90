#ifndef TENON_RUNTIME_CUDA_INTERNAL_CAPTUREGRAPH_H
#define TENON_RUNTIME_CUDA_INTERNAL_CAPTUREGRAPH_H

#include <functional>

#include "runtime/cuda/internal/Device.h"

namespace tenon::runtime::internal {

/// What `enqueue` starts on `stream`, as a graph ready to be launched; nothing runs. The stream is
/// usable again afterwards, also where `enqueue` fails.
absl::StatusOr<GraphExecutable> captureGraph(const Driver& driver, CUstream stream,
                                             const std::function<absl::Status()>& enqueue);

} // namespace tenon::runtime::internal

#endif // TENON_RUNTIME_CUDA_INTERNAL_CAPTUREGRAPH_H
