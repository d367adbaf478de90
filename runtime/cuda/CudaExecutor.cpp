#include "runtime/cuda/CudaExecutor.h"

#include <cstring>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/cuda/internal/CublasLt.h"
#include "runtime/cuda/internal/DeviceProgramMemory.h"
#include "runtime/cuda/internal/KernelModules.h"
#include "runtime/cuda/internal/LoadConstants.h"
#include "runtime/cuda/internal/StepSequence.h"
#include "runtime/program/CheckCall.h"
#include "runtime/program/ValidateProgram.h"
#include "support/Status.h"

namespace tenon::runtime {

using namespace internal;

struct CudaExecutor::Impl {
  Device device;
  Program program;
  CudaExecutorOptions options;
  bool profiling = false;
  CudaLoadTimes loadTimes;
  uint64_t lastStepsNs = 0;
  // In order of creation: what is destroyed first comes last.
  Stream stream;
  DeviceProgramMemory memory;
  KernelModules kernels;
  std::optional<CublasLt> library;
  PinnedMemory staging; ///< the ports of one function, laid out as on the device
  Event stepsBegin;
  Event stepsEnd;
  std::vector<StepSequence> functions;
  std::vector<std::vector<StepProfile>> profiles;

  Impl(Device device, Program program, const CudaExecutorOptions& options)
      : device(std::move(device)), program(std::move(program)), options(options) {}
  ~Impl();

  absl::Status load();
  absl::Status bindFunctions();
  absl::Status sendInputs(size_t function, std::span<const std::span<const std::byte>> inputs);
  absl::Status runSteps(size_t function);
  absl::Status fetchOutputs(size_t function);
  absl::Status enqueueAll(size_t function, std::span<const std::span<const std::byte>> inputs);
  absl::Status finish(size_t function);
};

CudaExecutor::Impl::~Impl() {
  // What is owned is released in this context. A failure can be neither reported nor helped.
  if (device.makeCurrent().ok() && stream)
    static_cast<void>(device.driver().streamSynchronize(stream.get()));
}

absl::Status CudaExecutor::Impl::bindFunctions() {
  bool usesLibrary = false;
  for (const Kernel& kernel : program.kernels)
    usesLibrary |= std::holds_alternative<LibraryMatmul>(kernel.launch);
  if (usesLibrary) {
    TENON_ASSIGN_OR_RETURN(library, CublasLt::open(CublasLt::defaultPaths()));
  }
  StepSequence::Parts parts{device, program, memory, kernels, library ? &*library : nullptr};
  for (size_t i = 0; i < program.functions.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(StepSequence sequence, StepSequence::create(parts, i));
    profiles.emplace_back(sequence.size());
    functions.push_back(std::move(sequence));
  }
  return absl::OkStatus();
}

absl::Status CudaExecutor::Impl::load() {
  TENON_ASSIGN_OR_RETURN(stream, device.createStream());
  TENON_ASSIGN_OR_RETURN(kernels, KernelModules::load(device, program));
  TENON_ASSIGN_OR_RETURN(memory, DeviceProgramMemory::create(device, program));
  TENON_ASSIGN_OR_RETURN(staging,
                         device.allocatePinned(memory.use().portBytes, "inputs and outputs"));
  TENON_ASSIGN_OR_RETURN(stepsBegin, device.createEvent(/*timed=*/true));
  TENON_ASSIGN_OR_RETURN(stepsEnd, device.createEvent(/*timed=*/true));
  TENON_RETURN_IF_ERROR(memory.clearStates(device.driver(), stream.get()));
  TENON_ASSIGN_OR_RETURN(loadTimes, loadConstants(device, program, memory, stream.get()));
  return bindFunctions();
}

CudaExecutor::CudaExecutor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CudaExecutor::~CudaExecutor() = default;

absl::StatusOr<std::unique_ptr<CudaExecutor>>
CudaExecutor::create(Program program, const CudaExecutorOptions& options) {
  TENON_ASSIGN_OR_RETURN(const Driver* driver, Driver::get());
  return createOn(*driver, std::move(program), options);
}

absl::StatusOr<std::unique_ptr<CudaExecutor>>
CudaExecutor::createOn(const Driver& driver, Program program, const CudaExecutorOptions& options) {
  if (program.device != "cuda")
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a program for device cuda, but it was compiled for %s", program.device));
  TENON_RETURN_IF_ERROR(validateProgram(program));
  TENON_ASSIGN_OR_RETURN(Device device, Device::open(driver, options.device));
  auto impl = std::make_unique<Impl>(std::move(device), std::move(program), options);
  TENON_RETURN_IF_ERROR(impl->load());
  return std::unique_ptr<CudaExecutor>(new CudaExecutor(std::move(impl)));
}

const Program& CudaExecutor::program() const { return impl->program; }
const CudaMemoryUse& CudaExecutor::memoryUse() const { return impl->memory.use(); }
const CudaLoadTimes& CudaExecutor::loadTimes() const { return impl->loadTimes; }
uint64_t CudaExecutor::lastStepsNs() const { return impl->lastStepsNs; }

absl::Status CudaExecutor::resetStates() {
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  const Driver& driver = impl->device.driver();
  TENON_RETURN_IF_ERROR(impl->memory.clearStates(driver, impl->stream.get()));
  return driver.check(driver.streamSynchronize(impl->stream.get()), "clear the states");
}

absl::Status CudaExecutor::Impl::sendInputs(size_t function,
                                            std::span<const std::span<const std::byte>> inputs) {
  const PortLayout& layout = memory.portLayout(function);
  if (layout.inputBytes == 0)
    return absl::OkStatus();
  auto* staged = static_cast<std::byte*>(staging.get());
  for (size_t i = 0; i < inputs.size(); ++i)
    std::memcpy(staged + layout.inputs[i], inputs[i].data(), inputs[i].size());
  const Driver& driver = device.driver();
  return driver.check(
      driver.memcpyHtoDAsync(memory.ports(), staged, layout.inputBytes, stream.get()),
      "send the inputs");
}

absl::Status CudaExecutor::Impl::runSteps(size_t function) {
  const Driver& driver = device.driver();
  StepSequence& steps = functions[function];
  bool asGraph = options.graphs && !options.checkSteps;
  TENON_RETURN_IF_ERROR(
      driver.check(driver.eventRecordWithFlags(stepsBegin.get(), stream.get(), 0), "time a call"));
  if (profiling)
    TENON_RETURN_IF_ERROR(steps.runTimed(stream.get(), asGraph, profiles[function]));
  else if (asGraph)
    TENON_RETURN_IF_ERROR(steps.replay(stream.get()));
  else
    TENON_RETURN_IF_ERROR(steps.launch(stream.get(), options.checkSteps));
  return driver.check(driver.eventRecordWithFlags(stepsEnd.get(), stream.get(), 0), "time a call");
}

absl::Status CudaExecutor::Impl::fetchOutputs(size_t function) {
  const PortLayout& layout = memory.portLayout(function);
  if (layout.totalBytes == layout.inputBytes)
    return absl::OkStatus();
  const Driver& driver = device.driver();
  return driver.check(
      driver.memcpyDtoHAsync(static_cast<std::byte*>(staging.get()) + layout.inputBytes,
                             memory.ports() + layout.inputBytes,
                             layout.totalBytes - layout.inputBytes, stream.get()),
      "fetch the outputs");
}

absl::Status CudaExecutor::Impl::enqueueAll(size_t function,
                                            std::span<const std::span<const std::byte>> inputs) {
  TENON_RETURN_IF_ERROR(sendInputs(function, inputs));
  TENON_RETURN_IF_ERROR(runSteps(function));
  return fetchOutputs(function);
}

absl::Status CudaExecutor::Impl::finish(size_t function) {
  const Driver& driver = device.driver();
  CUresult result = driver.streamSynchronize(stream.get());
  if (result != CUDA_SUCCESS)
    return absl::InternalError(absl::StrFormat(
        "function %s: one of its %u steps failed on %s: %s; checking every step names it",
        program.functions[function].name, functions[function].size(), device.name(),
        driver.describe(result)));
  float ms = 0;
  TENON_RETURN_IF_ERROR(driver.check(driver.eventElapsedTime(&ms, stepsBegin.get(), stepsEnd.get()),
                                     "read a call's time"));
  lastStepsNs = static_cast<uint64_t>(static_cast<double>(ms) * 1e6);
  return absl::OkStatus();
}

absl::Status CudaExecutor::run(size_t index, std::span<const std::span<const std::byte>> inputs,
                               std::span<const std::span<std::byte>> outputs) {
  TENON_RETURN_IF_ERROR(checkCall(impl->program, index, inputs, outputs));
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  if (absl::Status status = impl->enqueueAll(index, inputs); !status.ok()) {
    // The next call must find the stream empty, or fail as this one.
    static_cast<void>(impl->device.driver().streamSynchronize(impl->stream.get()));
    return status;
  }
  TENON_RETURN_IF_ERROR(impl->finish(index));
  const PortLayout& layout = impl->memory.portLayout(index);
  const auto* staged = static_cast<const std::byte*>(impl->staging.get());
  for (size_t i = 0; i < outputs.size(); ++i)
    std::memcpy(outputs[i].data(), staged + layout.outputs[i], outputs[i].size());
  return absl::OkStatus();
}

void CudaExecutor::setProfiling(bool enabled) {
  impl->profiling = enabled;
  if (enabled)
    for (std::vector<StepProfile>& steps : impl->profiles)
      steps.assign(steps.size(), StepProfile{});
}

std::span<const StepProfile> CudaExecutor::profile(size_t function) const {
  return impl->profiles[function];
}

} // namespace tenon::runtime
