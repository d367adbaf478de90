#include "runtime/cuda/internal/CudaTokenStream.h"

#include <thread>

#include "absl/strings/str_format.h"
#include "runtime/cuda/internal/CaptureGraph.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<std::unique_ptr<CudaTokenStream>> CudaTokenStream::create(const Parts& parts,
                                                                         int64_t count) {
  std::unique_ptr<CudaTokenStream> stream(new CudaTokenStream(parts, count));
  TENON_RETURN_IF_ERROR(parts.graphs.ring.reset(parts.device.driver(), parts.stream));
  return stream;
}

CudaTokenStream::~CudaTokenStream() {
  // A failure is reported by the next call that uses the stream.
  if (parts.device.makeCurrent().ok())
    static_cast<void>(parts.device.driver().streamSynchronize(parts.stream));
}

absl::Status CudaTokenStream::enqueue(int64_t steps) {
  for (int64_t step = 0; step < steps; ++step) {
    TENON_RETURN_IF_ERROR(parts.steps.launch(parts.stream, /*check=*/false));
    TENON_RETURN_IF_ERROR(parts.advance.enqueue(parts.ports, parts.graphs.ring, parts.stream));
  }
  return absl::OkStatus();
}

absl::Status CudaTokenStream::launch() {
  if (!parts.asGraph) {
    ++launched;
    return enqueue(1);
  }
  const Driver& driver = parts.device.driver();
  int64_t steps = count - launched >= stepsOfGraph ? stepsOfGraph : 1;
  GraphExecutable& graph = steps == 1 ? parts.graphs.one : parts.graphs.several;
  if (!graph) {
    TENON_ASSIGN_OR_RETURN(graph,
                           captureGraph(driver, parts.stream, [&] { return enqueue(steps); }));
  }
  launched += steps;
  return driver.check(driver.graphLaunch(graph.get(), parts.stream), "launch a graph");
}

bool CudaTokenStream::collect() {
  for (uint32_t row = 0; row < parts.ports.rows; ++row) {
    std::optional<int32_t> id = parts.graphs.ring.find(static_cast<uint32_t>(collected + 1), row);
    if (!id)
      return false;
    tokens[row] = *id;
  }
  ++collected;
  return true;
}

absl::StatusOr<std::span<const int32_t>> CudaTokenStream::next() {
  constexpr int64_t looksBetweenChecks = 1024;
  if (collected == count)
    return absl::FailedPreconditionError(
        absl::StrFormat("expects at most %d steps, but got one more", count));
  const Driver& driver = parts.device.driver();
  TENON_RETURN_IF_ERROR(parts.device.makeCurrent());
  while (launched < count && launched - collected < mostAhead)
    TENON_RETURN_IF_ERROR(launch());
  for (int64_t looks = 1; !collect(); ++looks) {
    std::this_thread::yield();
    if (looks % looksBetweenChecks != 0)
      continue;
    CUresult result = driver.streamQuery(parts.stream);
    if (result == CUDA_ERROR_NOT_READY)
      continue;
    TENON_RETURN_IF_ERROR(driver.check(result, "finish a step"));
    if (!collect())
      return absl::InternalError(absl::StrFormat("step %d ended on %s without its tokens",
                                                 collected, parts.device.name()));
    break;
  }
  return std::span<const int32_t>(tokens);
}

} // namespace tenon::runtime::internal
