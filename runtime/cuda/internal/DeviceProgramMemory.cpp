#include "runtime/cuda/internal/DeviceProgramMemory.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

/// What cuMemAlloc promises, and more than any vector load or bulk copy needs.
static constexpr uint64_t alignmentBytes = 256;

/// The offsets of `list`'s elements placed one after the other from `end` on, which moves.
template <typename T>
static std::vector<uint64_t> place(const std::vector<T>& list, uint64_t& end) {
  std::vector<uint64_t> offsets;
  for (const T& entry : list) {
    offsets.push_back(end);
    end += (entry.bytes + alignmentBytes - 1) / alignmentBytes * alignmentBytes;
  }
  return offsets;
}

PortLayout layoutPorts(const Function& function) {
  PortLayout layout;
  layout.inputs = place(function.inputs, layout.totalBytes);
  layout.inputBytes = layout.totalBytes;
  layout.outputs = place(function.outputs, layout.totalBytes);
  return layout;
}

CudaMemoryUse computeMemoryUse(const Program& program) {
  CudaMemoryUse use;
  place(program.constants, use.constantBytes);
  place(program.states, use.stateBytes);
  use.workspaceBytes = program.workspaceBytes;
  for (const Function& function : program.functions)
    use.portBytes = std::max(use.portBytes, layoutPorts(function).totalBytes);
  for (const Kernel& kernel : program.kernels)
    if (const auto* matmul = std::get_if<LibraryMatmul>(&kernel.launch))
      use.libraryBytes = std::max(use.libraryBytes, matmul->workspaceBytes);
  return use;
}

/// "; the states of a context of N positions would fit", or nothing where that says nothing.
static std::string fittingContext(const Program& program, const CudaMemoryUse& use,
                                  const Device::Memory& memory) {
  uint64_t others = use.totalBytes() - use.stateBytes;
  if (!program.model || program.model->isStream() || use.stateBytes == 0 ||
      others >= memory.freeBytes)
    return "";
  double share =
      static_cast<double>(memory.freeBytes - others) / static_cast<double>(use.stateBytes);
  auto context = static_cast<int64_t>(share * static_cast<double>(program.model->context));
  return context == 0 ? ""
                      : absl::StrFormat("; a context of %d instead of %d positions would fit",
                                        context, program.model->context);
}

absl::Status checkMemoryFits(const Program& program, const CudaMemoryUse& use,
                             const std::string& deviceName, const Device::Memory& memory) {
  if (use.totalBytes() <= memory.freeBytes)
    return absl::OkStatus();
  auto mebibytes = [](uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the program needs %.1f MiB of device memory (weights %.1f, states %.1f, workspace %.1f, "
      "inputs and outputs %.1f, libraries %.1f), but %s has %.1f MiB free of %.1f%s",
      mebibytes(use.totalBytes()), mebibytes(use.constantBytes), mebibytes(use.stateBytes),
      mebibytes(use.workspaceBytes), mebibytes(use.portBytes), mebibytes(use.libraryBytes),
      deviceName, mebibytes(memory.freeBytes), mebibytes(memory.totalBytes),
      fittingContext(program, use, memory)));
}

absl::StatusOr<DeviceProgramMemory> DeviceProgramMemory::create(const Device& device,
                                                                const Program& program) {
  DeviceProgramMemory memory;
  memory.memoryUse = computeMemoryUse(program);
  TENON_ASSIGN_OR_RETURN(Device::Memory available, device.memory());
  TENON_RETURN_IF_ERROR(checkMemoryFits(program, memory.memoryUse, device.name(), available));
  uint64_t end = 0;
  memory.constantOffsets = place(program.constants, end);
  end = 0;
  memory.stateOffsets = place(program.states, end);
  for (const Function& function : program.functions)
    memory.portLayouts.push_back(layoutPorts(function));
  const CudaMemoryUse& use = memory.memoryUse;
  TENON_ASSIGN_OR_RETURN(memory.constants, device.allocate(use.constantBytes, "weights"));
  TENON_ASSIGN_OR_RETURN(memory.states, device.allocate(use.stateBytes, "states"));
  TENON_ASSIGN_OR_RETURN(memory.workspace, device.allocate(use.workspaceBytes, "the workspace"));
  TENON_ASSIGN_OR_RETURN(memory.portMemory, device.allocate(use.portBytes, "inputs and outputs"));
  TENON_ASSIGN_OR_RETURN(memory.libraryMemory,
                         device.allocate(use.libraryBytes, "the libraries' workspace"));
  return memory;
}

CUdeviceptr DeviceProgramMemory::address(size_t function, const BufferRef& ref) const {
  switch (ref.space) {
  case Space::Constant:
    return constant(ref.index) + ref.offset;
  case Space::State:
    return states.get() + stateOffsets[ref.index] + ref.offset;
  case Space::Input:
    return ports() + portLayouts[function].inputs[ref.index] + ref.offset;
  case Space::Output:
    return ports() + portLayouts[function].outputs[ref.index] + ref.offset;
  default:
    return workspace.get() + ref.offset;
  }
}

absl::Status DeviceProgramMemory::clearStates(const Driver& driver, CUstream stream) const {
  if (memoryUse.stateBytes == 0)
    return absl::OkStatus();
  return driver.check(driver.memsetD8Async(states.get(), 0, memoryUse.stateBytes, stream),
                      "clear the states");
}

} // namespace tenon::runtime::internal
