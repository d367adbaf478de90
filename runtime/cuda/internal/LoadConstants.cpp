#include "runtime/cuda/internal/LoadConstants.h"

#include <chrono>
#include <deque>
#include <optional>

#include "runtime/cuda/internal/RandomFill.h"
#include "runtime/cuda/internal/Upload.h"
#include "runtime/program/SourceFiles.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

using Clock = std::chrono::steady_clock;

/// What has to be copied to the device. `laidOut` takes the bytes of transposed constants, which
/// must live until all is copied.
static std::vector<UploadRange>
collectUploads(const Program& program, const DeviceProgramMemory& memory,
               const std::vector<std::shared_ptr<const MappedFile>>& files,
               std::deque<std::vector<std::byte>>& laidOut) {
  std::vector<UploadRange> uploads;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    CUdeviceptr place = memory.constant(i);
    const Constant& constant = program.constants[i];
    if (const auto* embedded = std::get_if<SharedBytes>(&constant.source))
      uploads.push_back({embedded->bytes(), place});
    if (constant.transposed) {
      layOutTransposed(constant, files, laidOut.emplace_back(constant.bytes));
      uploads.push_back({laidOut.back(), place});
      continue;
    }
    if (const auto* ranges = std::get_if<std::vector<FileRange>>(&constant.source))
      for (const FileRange& range : *ranges) {
        uploads.push_back({files[range.file]->bytes().subspan(range.offset, range.bytes), place});
        place += range.bytes;
      }
  }
  return uploads;
}

/// Starts making the random constants; returns how many bytes they have.
static absl::StatusOr<uint64_t> enqueueRandom(const Device& device, const Program& program,
                                              const DeviceProgramMemory& memory, CUstream stream,
                                              std::optional<RandomFill>& fill) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const Constant& constant = program.constants[i];
    const auto* ranges = std::get_if<std::vector<RandomRange>>(&constant.source);
    if (!ranges)
      continue;
    if (!fill) {
      TENON_ASSIGN_OR_RETURN(fill, RandomFill::create(device));
    }
    CUdeviceptr place = memory.constant(i);
    for (const RandomRange& range : *ranges) {
      if (range.bytes > 0)
        TENON_RETURN_IF_ERROR(fill->enqueue(range, constant.encoding, place, stream));
      place += range.bytes;
    }
    bytes += constant.bytes;
  }
  return bytes;
}

absl::StatusOr<CudaLoadTimes> loadConstants(const Device& device, const Program& program,
                                            const DeviceProgramMemory& memory, CUstream stream) {
  TENON_ASSIGN_OR_RETURN(std::vector<std::shared_ptr<const MappedFile>> files,
                         mapSourceFiles(program));
  CudaLoadTimes times;
  std::optional<RandomFill> fill; // its kernel must live until the stream is done
  TENON_ASSIGN_OR_RETURN(times.randomBytes, enqueueRandom(device, program, memory, stream, fill));
  std::deque<std::vector<std::byte>> laidOut;
  std::vector<UploadRange> uploads = collectUploads(program, memory, files, laidOut);
  for (const UploadRange& range : uploads)
    times.uploadedBytes += range.source.size();
  Clock::time_point start = Clock::now();
  TENON_RETURN_IF_ERROR(upload(device, uploads));
  times.uploadNs = std::chrono::nanoseconds(Clock::now() - start).count();
  TENON_RETURN_IF_ERROR(device.driver().check(device.driver().streamSynchronize(stream),
                                              "finish making random values"));
  return times;
}

} // namespace tenon::runtime::internal
