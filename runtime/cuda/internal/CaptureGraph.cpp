#include "runtime/cuda/internal/CaptureGraph.h"

#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<GraphExecutable> captureGraph(const Driver& driver, CUstream stream,
                                             const std::function<absl::Status()>& enqueue) {
  TENON_RETURN_IF_ERROR(
      driver.check(driver.streamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                   "begin to capture a graph"));
  absl::Status enqueued = enqueue();
  CUgraph captured = nullptr;
  CUresult ended = driver.streamEndCapture(stream, &captured);
  Graph graph = captured ? Graph(driver, captured) : Graph();
  TENON_RETURN_IF_ERROR(enqueued);
  TENON_RETURN_IF_ERROR(driver.check(ended, "capture a graph"));
  CUgraphExec executable = nullptr;
  TENON_RETURN_IF_ERROR(driver.check(driver.graphInstantiateWithFlags(&executable, captured, 0),
                                     "instantiate a graph"));
  GraphExecutable result(driver, executable);
  TENON_RETURN_IF_ERROR(driver.check(driver.graphUpload(executable, stream), "upload a graph"));
  return result;
}

} // namespace tenon::runtime::internal
