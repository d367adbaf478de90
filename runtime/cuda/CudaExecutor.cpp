#include "runtime/cuda/CudaExecutor.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/cuda/internal/CaptureGraph.h"
#include "runtime/cuda/internal/CublasLt.h"
#include "runtime/cuda/internal/CudaTokenStream.h"
#include "runtime/cuda/internal/Cupti.h"
#include "runtime/cuda/internal/DeviceProgramMemory.h"
#include "runtime/cuda/internal/DeviceStepMemory.h"
#include "runtime/cuda/internal/KernelModules.h"
#include "runtime/cuda/internal/LoadConstants.h"
#include "runtime/cuda/internal/StepSequence.h"
#include "runtime/program/CheckCall.h"
#include "runtime/program/ModelPorts.h"
#include "runtime/program/ValidateProgram.h"
#include "support/CacheFolder.h"
#include "support/Status.h"

namespace tenon::runtime {

using namespace internal;

namespace {

/// What of a call is started.
enum class Extent {
  Call,  ///< the copy of its inputs, its steps, the copy of its outputs
  Steps, ///< its steps alone
};

/// A function's steps as graphs, once they have run so.
struct FunctionGraphs {
  GraphExecutable plain;
  GraphExecutable timed; ///< with an event between the steps
};

/// A function ready to be called. A graph holds addresses of the device and of the staging memory,
/// which do not change while the executor lives.
struct LoadedFunction {
  StepSequence steps;
  std::vector<StepProfile> profile;
  FunctionGraphs call, repeated;
  std::optional<TokenGraphs> tokens; ///< once they are streamed
};

} // namespace

struct CudaExecutor::Impl {
  Device device;
  Program program;
  CudaExecutorOptions options;
  bool profiling = false;
  CudaLoadTimes loadTimes;
  uint64_t lastStepsNs = 0;
  std::optional<size_t> lastCalled; ///< the function whose inputs the device has
  // In order of creation: what is destroyed first comes last.
  Stream stream;
  DeviceProgramMemory memory;
  StampMemory stamps; ///< for one call; none in a program whose kernels do not stamp
  KernelModules kernels;
  std::optional<CublasLt> library;
  std::optional<AdvanceTokens> advance; ///< once tokens are streamed
  std::optional<Cupti> counters;        ///< once traffic is counted
  PinnedMemory staging;                 ///< the ports of one function, laid out as on the device
  Event stepsBegin;
  Event stepsEnd;
  std::vector<LoadedFunction> functions;

  Impl(Device device, Program program, const CudaExecutorOptions& options)
      : device(std::move(device)), program(std::move(program)), options(options) {}
  ~Impl();

  absl::Status load();
  absl::Status bindFunctions();

  std::byte* staged() const { return static_cast<std::byte*>(staging.get()); }
  absl::Status sendInputs(const PortLayout& layout) const;
  absl::Status fetchOutput(size_t function, size_t output) const;
  absl::Status fetchOutputs(size_t function) const;
  /// Starts a call whose inputs are staged, or its steps alone.
  absl::Status enqueue(size_t function, Extent extent, unsigned eventFlags);
  absl::Status enqueueSteps(size_t function, unsigned eventFlags);
  /// The same by its graph, which the first call builds.
  absl::Status replay(size_t function, Extent extent);
  /// Starts a call whose inputs are staged, or its steps alone, as the options say.
  absl::Status start(size_t function, Extent extent);
  /// Waits for a call and reads its times.
  absl::Status finish(size_t function);
  /// The same for one that has been started, or of which a part has failed to.
  absl::Status finishAfter(const absl::Status& started, size_t function);
  /// Runs a call whose inputs are staged, or its steps alone, `times` times.
  absl::Status runStaged(size_t function, Extent extent, int64_t times = 1);
  /// Runs a call whose inputs are staged and of whose outputs some are wanted.
  absl::Status runWanted(size_t function, std::span<const std::span<std::byte>> outputs);
  /// Runs a call whose inputs are staged step by step.
  absl::Status observe(size_t function, StepObserver& observer);
  /// Brings a call's inputs to where the device takes them from.
  void stage(size_t function, std::span<const std::span<const std::byte>> inputs) const;
  /// Hands out the outputs of a call that has ended.
  void unstage(size_t function, std::span<const std::span<std::byte>> outputs) const;
  /// `status` with the function's name.
  absl::Status inFunction(size_t function, const absl::Status& status) const;
  /// Where the ports of a decode function lie that has next ids; nothing for another one.
  std::optional<TokenPorts> findTokenPorts(size_t function) const;
  /// Makes what `function`'s token streams share, if it is not there yet.
  absl::Status prepareTokens(LoadedFunction& function, uint32_t rows);
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
    library->setStore(AlgorithmStore(cacheFolder()));
  }
  StepSequence::Parts parts{device,       program,
                            memory,       stamps,
                            kernels,      library ? &*library : nullptr,
                            stream.get(), options.dependentLaunches};
  for (size_t i = 0; i < program.functions.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(StepSequence sequence, StepSequence::create(parts, i));
    std::vector<StepProfile> profile(sequence.size());
    functions.push_back({std::move(sequence), std::move(profile), {}, {}, std::nullopt});
  }
  return absl::OkStatus();
}

absl::Status CudaExecutor::Impl::load() {
  TENON_ASSIGN_OR_RETURN(stream, device.createStream());
  TENON_ASSIGN_OR_RETURN(kernels, KernelModules::load(device, program));
  TENON_ASSIGN_OR_RETURN(memory, DeviceProgramMemory::create(device, program));
  TENON_ASSIGN_OR_RETURN(stamps, StampMemory::create(device, program));
  TENON_ASSIGN_OR_RETURN(staging,
                         device.allocatePinned(memory.use().portBytes, "inputs and outputs"));
  TENON_ASSIGN_OR_RETURN(stepsBegin, device.createEvent(/*timed=*/true));
  TENON_ASSIGN_OR_RETURN(stepsEnd, device.createEvent(/*timed=*/true));
  TENON_RETURN_IF_ERROR(memory.clearStates(device.driver(), stream.get()));
  TENON_RETURN_IF_ERROR(
      stamps.clear(device.driver(), stream.get())); // blocks of tokens leave some, too
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

absl::Status CudaExecutor::Impl::sendInputs(const PortLayout& layout) const {
  if (layout.inputBytes == 0)
    return absl::OkStatus();
  const Driver& driver = device.driver();
  return driver.check(
      driver.memcpyHtoDAsync(memory.ports(), staging.get(), layout.inputBytes, stream.get()),
      "send the inputs");
}

absl::Status CudaExecutor::Impl::fetchOutput(size_t function, size_t output) const {
  const Driver& driver = device.driver();
  uint64_t offset = memory.portLayout(function).outputs[output];
  return driver.check(driver.memcpyDtoHAsync(staged() + offset, memory.ports() + offset,
                                             program.functions[function].outputs[output].bytes,
                                             stream.get()),
                      "fetch the outputs");
}

absl::Status CudaExecutor::Impl::fetchOutputs(size_t function) const {
  for (size_t output = 0; output < program.functions[function].outputs.size(); ++output)
    TENON_RETURN_IF_ERROR(fetchOutput(function, output));
  return absl::OkStatus();
}

absl::Status CudaExecutor::Impl::enqueueSteps(size_t function, unsigned eventFlags) {
  auto record = [&](const Event& event) {
    return device.driver().check(
        device.driver().eventRecordWithFlags(event.get(), stream.get(), eventFlags), "time a call");
  };
  TENON_RETURN_IF_ERROR(record(stepsBegin));
  StepSequence& steps = functions[function].steps;
  TENON_RETURN_IF_ERROR(profiling ? steps.launchTimed(stream.get(), eventFlags)
                                  : steps.launch(stream.get(), options.checkSteps));
  return record(stepsEnd);
}

absl::Status CudaExecutor::Impl::enqueue(size_t function, Extent extent, unsigned eventFlags) {
  if (extent == Extent::Steps)
    return enqueueSteps(function, eventFlags);
  TENON_RETURN_IF_ERROR(sendInputs(memory.portLayout(function)));
  TENON_RETURN_IF_ERROR(enqueueSteps(function, eventFlags));
  return fetchOutputs(function);
}

absl::Status CudaExecutor::Impl::replay(size_t function, Extent extent) {
  const Driver& driver = device.driver();
  LoadedFunction& loaded = functions[function];
  FunctionGraphs& graphs = extent == Extent::Call ? loaded.call : loaded.repeated;
  GraphExecutable& graph = profiling ? graphs.timed : graphs.plain;
  if (!graph) {
    TENON_ASSIGN_OR_RETURN(graph, captureGraph(driver, stream.get(), [&] {
                             return enqueue(function, extent, CU_EVENT_RECORD_EXTERNAL);
                           }));
  }
  return driver.check(driver.graphLaunch(graph.get(), stream.get()), "launch a graph");
}

absl::Status CudaExecutor::Impl::start(size_t function, Extent extent) {
  bool asGraph = options.graphs && !options.checkSteps;
  return asGraph ? replay(function, extent) : enqueue(function, extent, 0);
}

absl::Status CudaExecutor::Impl::finishAfter(const absl::Status& started, size_t function) {
  if (started.ok())
    return finish(function);
  // The next call must find the stream empty, or fail as this one.
  static_cast<void>(device.driver().streamSynchronize(stream.get()));
  return started;
}

absl::Status CudaExecutor::Impl::finish(size_t function) {
  const Driver& driver = device.driver();
  LoadedFunction& loaded = functions[function];
  CUresult result = driver.streamSynchronize(stream.get());
  if (result != CUDA_SUCCESS)
    return absl::InternalError(
        absl::StrFormat("one of the %u steps failed on %s: %s; checking every step names it",
                        loaded.steps.size(), device.name(), driver.describe(result)));
  float ms = 0;
  TENON_RETURN_IF_ERROR(driver.check(driver.eventElapsedTime(&ms, stepsBegin.get(), stepsEnd.get()),
                                     "read a call's time"));
  lastStepsNs = static_cast<uint64_t>(static_cast<double>(ms) * 1e6);
  return profiling ? loaded.steps.readTimes(loaded.profile) : absl::OkStatus();
}

absl::Status CudaExecutor::Impl::runStaged(size_t function, Extent extent, int64_t times) {
  TENON_RETURN_IF_ERROR(stamps.clear(device.driver(), stream.get()));
  absl::Status status;
  for (int64_t i = 0; i < times && status.ok(); ++i)
    status = start(function, extent);
  return finishAfter(status, function);
}

absl::Status CudaExecutor::Impl::runWanted(size_t function,
                                           std::span<const std::span<std::byte>> outputs) {
  TENON_RETURN_IF_ERROR(stamps.clear(device.driver(), stream.get()));
  absl::Status status = sendInputs(memory.portLayout(function));
  if (status.ok())
    status = start(function, Extent::Steps);
  for (size_t output = 0; output < outputs.size() && status.ok(); ++output)
    if (!outputs[output].empty())
      status = fetchOutput(function, output);
  return finishAfter(status, function);
}

absl::Status CudaExecutor::Impl::observe(size_t index, StepObserver& observer) {
  DeviceStepMemory stepMemory(device, memory, stream.get(), index);
  const StepSequence& steps = functions[index].steps;
  TENON_RETURN_IF_ERROR(sendInputs(memory.portLayout(index)));
  for (size_t step = 0; step < steps.size(); ++step) {
    TENON_RETURN_IF_ERROR(observer.before(step, stepMemory));
    TENON_RETURN_IF_ERROR(steps.finishStep(step, stream.get()));
    TENON_RETURN_IF_ERROR(observer.after(step, stepMemory));
  }
  TENON_RETURN_IF_ERROR(fetchOutputs(index));
  return device.driver().check(device.driver().streamSynchronize(stream.get()), "finish a call");
}

void CudaExecutor::Impl::stage(size_t index,
                               std::span<const std::span<const std::byte>> inputs) const {
  const PortLayout& layout = memory.portLayout(index);
  for (size_t i = 0; i < inputs.size(); ++i)
    std::ranges::copy(inputs[i], staged() + layout.inputs[i]);
}

void CudaExecutor::Impl::unstage(size_t index,
                                 std::span<const std::span<std::byte>> outputs) const {
  const PortLayout& layout = memory.portLayout(index);
  for (size_t i = 0; i < outputs.size(); ++i)
    std::copy_n(staged() + layout.outputs[i], outputs[i].size(), outputs[i].data());
}

absl::Status CudaExecutor::Impl::inFunction(size_t index, const absl::Status& status) const {
  return status.ok() ? status
                     : absl::Status(status.code(), absl::StrFormat("function %s: %s",
                                                                   program.functions[index].name,
                                                                   std::string(status.message())));
}

absl::Status CudaExecutor::run(size_t index, std::span<const std::span<const std::byte>> inputs,
                               std::span<const std::span<std::byte>> outputs) {
  TENON_RETURN_IF_ERROR(checkCall(impl->program, index, inputs, outputs));
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  impl->stage(index, inputs);
  impl->lastCalled.reset();
  // A call that hands out everything is one graph, copies included.
  const bool allWanted = std::ranges::none_of(outputs, &std::span<std::byte>::empty);
  TENON_RETURN_IF_ERROR(impl->inFunction(index, allWanted ? impl->runStaged(index, Extent::Call)
                                                          : impl->runWanted(index, outputs)));
  impl->lastCalled = index;
  impl->unstage(index, outputs);
  return absl::OkStatus();
}

absl::Status CudaExecutor::repeatSteps(size_t index, int64_t times) {
  if (impl->lastCalled != index)
    return absl::FailedPreconditionError(absl::StrFormat(
        "expects the function of the last call that ended well to repeat its steps, but got %u",
        index));
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  return impl->inFunction(index, impl->runStaged(index, Extent::Steps, times));
}

absl::Status CudaExecutor::runObserved(size_t index,
                                       std::span<const std::span<const std::byte>> inputs,
                                       std::span<const std::span<std::byte>> outputs,
                                       StepObserver& observer) {
  TENON_RETURN_IF_ERROR(checkCall(impl->program, index, inputs, outputs));
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  impl->stage(index, inputs);
  impl->lastCalled.reset();
  TENON_RETURN_IF_ERROR(impl->inFunction(index, impl->observe(index, observer)));
  impl->unstage(index, outputs);
  return absl::OkStatus();
}

std::optional<TokenPorts> CudaExecutor::Impl::findTokenPorts(size_t index) const {
  if (index >= program.functions.size() || program.functions[index].role != Role::Decode)
    return std::nullopt;
  const Function& function = program.functions[index];
  const PortLayout& layout = memory.portLayout(index);
  auto input = [&](PortRole role) {
    return memory.ports() + layout.inputs[*findPort(function.inputs, role)];
  };
  auto output = [&](PortRole role) -> CUdeviceptr {
    std::optional<size_t> found = findPort(function.outputs, role);
    return found ? memory.ports() + layout.outputs[*found] : 0;
  };
  TokenPorts ports{.ids = input(PortRole::Ids),
                   .positions = input(PortRole::Positions),
                   .nextIds = output(PortRole::StepIds),
                   .rows = static_cast<uint32_t>(function.rows),
                   .nextPositions = output(PortRole::StepPositions),
                   .tokens = output(PortRole::AcceptedIds)};
  if (ports.nextIds == 0 || ports.nextPositions == 0 || ports.tokens == 0) {
    ports.nextIds = ports.tokens = output(PortRole::NextIds);
    ports.nextPositions = 0;
  }
  return ports.nextIds == 0 ? std::nullopt : std::optional(ports);
}

absl::Status CudaExecutor::Impl::prepareTokens(LoadedFunction& function, uint32_t rows) {
  if (!advance) {
    TENON_ASSIGN_OR_RETURN(advance, AdvanceTokens::create(device));
  }
  if (!function.tokens) {
    TENON_ASSIGN_OR_RETURN(TokenRing ring, TokenRing::create(device, rows));
    function.tokens = TokenGraphs{std::move(ring), {}, {}};
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<TokenStream>>
CudaExecutor::streamTokens(size_t index, const TokenInputs& inputs, int64_t steps) {
  std::optional<TokenPorts> ports = impl->findTokenPorts(index);
  if (!ports)
    return nullptr;
  const Function& function = impl->program.functions[index];
  const std::pair<PortRole, std::span<const int32_t>> values[] = {
      {PortRole::Ids, inputs.ids},
      {PortRole::Sequences, inputs.sequences},
      {PortRole::Positions, inputs.positions},
      {PortRole::BlockTable, inputs.blockTable}};
  const PortLayout& layout = impl->memory.portLayout(index);
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  impl->lastCalled.reset();
  for (const auto& [role, ofRole] : values) {
    std::optional<size_t> input = findPort(function.inputs, role);
    if (!input)
      continue; // no pages
    const Port& port = function.inputs[*input];
    if (ofRole.size_bytes() != port.bytes)
      return absl::InvalidArgumentError(
          absl::StrFormat("function %s: input %s expects %u bytes, but got %u", function.name,
                          port.name, port.bytes, ofRole.size_bytes()));
    std::ranges::copy(std::as_bytes(ofRole), impl->staged() + layout.inputs[*input]);
  }
  LoadedFunction& loaded = impl->functions[index];
  TENON_RETURN_IF_ERROR(impl->prepareTokens(loaded, ports->rows));
  TENON_RETURN_IF_ERROR(impl->sendInputs(layout));
  return CudaTokenStream::create({impl->device, impl->stream.get(), loaded.steps, *impl->advance,
                                  *loaded.tokens, impl->options.graphs, *ports},
                                 steps);
}

void CudaExecutor::setProfiling(bool enabled) {
  impl->profiling = enabled;
  if (enabled)
    for (LoadedFunction& function : impl->functions)
      std::ranges::fill(function.profile, StepProfile{});
}

absl::StatusOr<std::vector<std::vector<BlockStamps>>> CudaExecutor::readStamps(size_t function) {
  if (!impl->stamps)
    return Executor::readStamps(function);
  TENON_RETURN_IF_ERROR(impl->device.makeCurrent());
  return impl->stamps.read(impl->device.driver(), impl->stream.get(), function);
}

absl::StatusOr<MemoryTraffic> CudaExecutor::countTraffic(size_t function) {
  // Once before, so that a graph is built by then.
  TENON_RETURN_IF_ERROR(repeatSteps(function, 1));
  if (!impl->counters) {
    const std::vector<std::string>& paths = impl->options.counterPaths;
    TENON_ASSIGN_OR_RETURN(
        impl->counters, Cupti::open(paths.empty() ? Cupti::defaultPaths() : paths, impl->device));
  }
  return impl->counters->count([&] { return repeatSteps(function, 1); });
}

std::span<const StepProfile> CudaExecutor::profile(size_t function) const {
  return impl->functions[function].profile;
}

} // namespace tenon::runtime
