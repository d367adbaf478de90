#include "runtime/cuda/internal/CudaTokenStream.h"

#include "absl/strings/str_format.h"
#include "runtime/cuda/internal/CaptureGraph.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<std::unique_ptr<CudaTokenStream>> CudaTokenStream::create(const Parts& parts) {
  std::unique_ptr<CudaTokenStream> stream(new CudaTokenStream(parts));
  TENON_ASSIGN_OR_RETURN(stream->tokens,
                         parts.device.allocatePinned(slots * stream->slotBytes(), "tokens"));
  for (Event& event : stream->done) {
    TENON_ASSIGN_OR_RETURN(event, parts.device.createEvent(/*timed=*/false));
  }
  return stream;
}

CudaTokenStream::~CudaTokenStream() {
  // A failure is reported by the next call that uses the stream.
  if (parts.device.makeCurrent().ok())
    static_cast<void>(parts.device.driver().streamSynchronize(parts.stream));
}

absl::Status CudaTokenStream::enqueueStep() {
  TENON_RETURN_IF_ERROR(parts.steps.launch(parts.stream, /*check=*/false));
  return parts.advance.enqueue(parts.ports, parts.stream);
}

absl::Status CudaTokenStream::launch() {
  if (launched - collected == slots)
    return absl::FailedPreconditionError(
        absl::StrFormat("expects fewer than %d steps under way, but got as many", slots));
  const Driver& driver = parts.device.driver();
  TENON_RETURN_IF_ERROR(parts.device.makeCurrent());
  if (!parts.graph) {
    TENON_RETURN_IF_ERROR(enqueueStep());
  } else {
    if (!*parts.graph) {
      TENON_ASSIGN_OR_RETURN(*parts.graph,
                             captureGraph(driver, parts.stream, [&] { return enqueueStep(); }));
    }
    TENON_RETURN_IF_ERROR(
        driver.check(driver.graphLaunch(parts.graph->get(), parts.stream), "launch a graph"));
  }
  size_t slot = launched % slots;
  auto* place = static_cast<std::byte*>(tokens.get()) + slot * slotBytes();
  TENON_RETURN_IF_ERROR(
      driver.check(driver.memcpyDtoHAsync(place, parts.ports.nextIds, slotBytes(), parts.stream),
                   "fetch the tokens"));
  TENON_RETURN_IF_ERROR(driver.check(driver.eventRecordWithFlags(done[slot].get(), parts.stream, 0),
                                     "mark the end of a step"));
  ++launched;
  return absl::OkStatus();
}

absl::StatusOr<std::span<const int32_t>> CudaTokenStream::collect() {
  if (launched == collected)
    return absl::FailedPreconditionError("expects a step under way, but there is none");
  size_t slot = collected % slots;
  TENON_RETURN_IF_ERROR(parts.device.makeCurrent());
  const Driver& driver = parts.device.driver();
  TENON_RETURN_IF_ERROR(driver.check(driver.eventSynchronize(done[slot].get()), "finish a step"));
  ++collected;
  const auto* place = static_cast<const int32_t*>(tokens.get()) + slot * parts.ports.rows;
  return std::span<const int32_t>(place, parts.ports.rows);
}

} // namespace tenon::runtime::internal
