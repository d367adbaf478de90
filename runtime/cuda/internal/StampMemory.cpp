#include "runtime/cuda/internal/StampMemory.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

// The layout that kernels write (codegen/cuda/device/stamps.cuh).
static_assert(sizeof(BlockStamps) == 3 * sizeof(uint64_t));

/// A decode step has some ten thousand blocks.
static constexpr uint64_t mostPlaces = (uint64_t{1} << 30) / sizeof(BlockStamps);

static uint64_t placesOf(const Program& program, const Step& step) {
  const auto* launch = std::get_if<CudaLaunch>(&program.kernels[step.kernel].launch);
  return launch && launch->stamps ? static_cast<uint64_t>(step.tiles) : 0;
}

absl::StatusOr<StampMemory> StampMemory::create(const Device& device, const Program& program) {
  StampMemory stamps;
  for (const Function& function : program.functions) {
    std::vector<uint64_t>& begins = stamps.begins.emplace_back(1, 0);
    for (const Step& step : function.steps) {
      begins.push_back(begins.back() + placesOf(program, step));
      if (begins.back() > mostPlaces)
        return absl::ResourceExhaustedError(absl::StrFormat(
            "function %s: expects at most %u blocks in a call whose blocks leave stamps, but its "
            "first %u steps have %u",
            function.name, mostPlaces, begins.size() - 1, begins.back()));
    }
    stamps.places = std::max(stamps.places, begins.back());
  }
  TENON_ASSIGN_OR_RETURN(stamps.memory,
                         device.allocate(stamps.places * sizeof(BlockStamps), "stamps of blocks"));
  return stamps;
}

absl::Status StampMemory::clear(const Driver& driver, CUstream stream) const {
  if (places == 0)
    return absl::OkStatus();
  return driver.check(driver.memsetD8Async(memory.get(), 0, places * sizeof(BlockStamps), stream),
                      "clear the stamps");
}

absl::StatusOr<std::vector<std::vector<BlockStamps>>>
StampMemory::read(const Driver& driver, CUstream stream, size_t function) const {
  std::vector<BlockStamps> all(begins[function].back());
  if (!all.empty()) { // a function of a library's products has none
    TENON_RETURN_IF_ERROR(driver.check(
        driver.memcpyDtoHAsync(all.data(), memory.get(), all.size() * sizeof(BlockStamps), stream),
        "fetch the stamps"));
    TENON_RETURN_IF_ERROR(driver.check(driver.streamSynchronize(stream), "fetch the stamps"));
  }
  std::vector<std::vector<BlockStamps>> steps;
  for (size_t step = 0; step + 1 < begins[function].size(); ++step)
    steps.emplace_back(all.begin() + static_cast<int64_t>(begins[function][step]),
                       all.begin() + static_cast<int64_t>(begins[function][step + 1]));
  return steps;
}

} // namespace tenon::runtime::internal
