#include "runtime/cuda/internal/SharedMemorySplit.h"

#include <algorithm>
#include <optional>

#include "support/Status.h"

namespace tenon::runtime::internal {

namespace {

/// What a block takes of a multiprocessor, or a multiprocessor has.
struct BlockNeeds {
  int64_t threads = 0;
  int64_t registers = 0; ///< of all threads
  int64_t sharedBytes = 0;

  BlockNeeds operator+(const BlockNeeds& other) const {
    return {threads + other.threads, registers + other.registers, sharedBytes + other.sharedBytes};
  }
  bool fits(const BlockNeeds& room) const {
    return threads <= room.threads && registers <= room.registers &&
           sharedBytes <= room.sharedBytes;
  }
};

absl::StatusOr<BlockNeeds> readMultiprocessor(const Device& device) {
  BlockNeeds room;
  TENON_ASSIGN_OR_RETURN(room.threads,
                         device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
  TENON_ASSIGN_OR_RETURN(room.registers,
                         device.attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR));
  TENON_ASSIGN_OR_RETURN(
      room.sharedBytes, device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  return room;
}

/// A warp takes registers in units of 256, and a block 1 KiB of shared memory that the system keeps
/// (CUDA C++ Programming Guide, compute capabilities).
absl::StatusOr<BlockNeeds> readNeeds(const Driver& driver, CUfunction function,
                                     const CudaLaunch& launch) {
  constexpr int64_t warp = 32, registerUnit = 256, reservedBytes = 1024;
  auto read = [&](CUfunction_attribute attribute) -> absl::StatusOr<int64_t> {
    int value = 0;
    TENON_RETURN_IF_ERROR(driver.check(driver.funcGetAttribute(&value, attribute, function),
                                       "read a kernel's attributes"));
    return value;
  };
  TENON_ASSIGN_OR_RETURN(int64_t registers, read(CU_FUNC_ATTRIBUTE_NUM_REGS));
  TENON_ASSIGN_OR_RETURN(int64_t staticBytes, read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  int64_t warps = (launch.threads + warp - 1) / warp;
  int64_t units = (registers * warp + registerUnit - 1) / registerUnit;
  return BlockNeeds{warps * warp, warps * units * registerUnit,
                    staticBytes + launch.sharedBytes + reservedBytes};
}

/// The most shared memory that blocks of two steps of `function` have on a multiprocessor, the
/// second of which starts early; 0 where no two fit. `needs` are those of the program's kernels,
/// none of a library's routine.
int64_t bytesOfNeighbours(const Program& program, const Function& function,
                          std::span<const std::optional<BlockNeeds>> needs,
                          const BlockNeeds& room) {
  int64_t most = 0;
  const Step* before = nullptr;
  for (const Step& step : function.steps) {
    const auto* launch = std::get_if<CudaLaunch>(&program.kernels[step.kernel].launch);
    if (before && needs[before->kernel] && launch && launch->pdl) {
      BlockNeeds both = *needs[before->kernel] + *needs[step.kernel];
      if (both.fits(room))
        most = std::max(most, both.sharedBytes);
    }
    before = &step;
  }
  return most;
}

} // namespace

absl::Status splitSharedMemory(const Device& device, const Program& program,
                               std::span<const LoadedKernel> kernels) {
  TENON_ASSIGN_OR_RETURN(BlockNeeds room, readMultiprocessor(device));
  const Driver& driver = device.driver();
  std::vector<std::optional<BlockNeeds>> needs(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i)
    if (const auto* launch = std::get_if<CudaLaunch>(&program.kernels[i].launch)) {
      TENON_ASSIGN_OR_RETURN(needs[i], readNeeds(driver, kernels[i].function, *launch));
    }
  std::vector<int64_t> preferred(kernels.size());
  for (const Function& function : program.functions) {
    if (function.sharedPercent == 0)
      continue;
    int64_t bytes = bytesOfNeighbours(program, function, needs, room);
    if (100 * bytes > function.sharedPercent * room.sharedBytes)
      continue;
    for (const Step& step : function.steps)
      preferred[step.kernel] = std::max(preferred[step.kernel], bytes);
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!needs[i] || preferred[i] == 0)
      continue;
    auto percent = static_cast<int>((100 * preferred[i] + room.sharedBytes - 1) / room.sharedBytes);
    TENON_RETURN_IF_ERROR(driver.check(
        driver.funcSetAttribute(kernels[i].function,
                                CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent),
        "say how much shared memory a kernel prefers"));
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime::internal
