#include "runtime/cpu/CpuExecutor.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "absl/strings/str_format.h"
#include "runtime/cpu/HostFeatures.h"
#include "runtime/cpu/ObjectLinker.h"
#include "runtime/cpu/ProgramMemory.h"
#include "runtime/cpu/ThreadPool.h"
#include "runtime/cpu/UsableCores.h"
#include "runtime/program/CheckCall.h"
#include "runtime/program/ValidateProgram.h"
#include "support/Status.h"

namespace tenon::runtime {

namespace {

using KernelFunction = void (*)(void* const* buffers, int64_t firstTile, int64_t endTile);

/// A step whose arguments are `buffers` of its function's table.
struct BoundStep {
  KernelFunction kernel;
  void* const* buffers;
  int64_t tiles;
  bool isSmall; ///< not worth sharing
};

/// What a step touches at least that is worth sharing. One core takes some hundred ns to 5 µs
/// (block-quantised weights) for so much, and another one would begin about 0.1 µs later with
/// caches that do not hold the last step's results.
constexpr uint64_t leastSharedBytes = 16384;

/// An entry of a function's table that each call fills in: `offset` bytes into a port.
struct PortBinding {
  size_t entry;
  uint32_t port;
  uint64_t offset;
};

struct BoundFunction {
  std::vector<void*> table; ///< the arguments of all steps, one after the other
  std::vector<BoundStep> steps;
  std::vector<PortBinding> inputs;
  std::vector<PortBinding> outputs;
  std::vector<std::vector<std::byte>> unwanted; ///< by output: memory for one that nobody wants
  std::vector<StepProfile> profile;
};

} // namespace

struct CpuExecutor::Impl {
  Program program;
  ProgramMemory memory;
  std::unique_ptr<ObjectLinker> linker;
  std::unique_ptr<ThreadPool> pool;
  std::vector<BoundFunction> functions;
  bool profiling = false;
  uint64_t lastStepsNs = 0;
  std::atomic_flag running; ///< a call uses the tables, the workspace and the states

  absl::StatusOr<std::vector<KernelFunction>> linkKernels();
  BoundFunction bind(const Function& function, std::span<const KernelFunction> kernels) const;
  void runStep(const BoundStep& step);
  void runProfiled(BoundFunction& function);
};

absl::StatusOr<std::vector<KernelFunction>> CpuExecutor::Impl::linkKernels() {
  TENON_ASSIGN_OR_RETURN(linker, ObjectLinker::create());
  for (const SharedBytes& object : program.code)
    if (absl::Status status = linker->link(object.bytes()).status(); !status.ok())
      return absl::Status(status.code(),
                          absl::StrFormat("object %u: %s", &object - program.code.data(),
                                          std::string(status.message())));
  std::vector<KernelFunction> kernels;
  for (const Kernel& kernel : program.kernels) {
    absl::StatusOr<void*> address = linker->lookup(kernel.code, kernel.symbol);
    if (!address.ok())
      return absl::InvalidArgumentError(
          absl::StrFormat("object %u: %s", kernel.code, std::string(address.status().message())));
    kernels.push_back(reinterpret_cast<KernelFunction>(*address));
  }
  return kernels;
}

BoundFunction CpuExecutor::Impl::bind(const Function& function,
                                      std::span<const KernelFunction> kernels) const {
  BoundFunction bound;
  for (const Step& step : function.steps)
    for (const BufferRef& ref : step.args) {
      PortBinding binding{bound.table.size(), ref.index, ref.offset};
      bool isInput = ref.space == Space::Input, isOutput = ref.space == Space::Output;
      if (isInput || isOutput)
        (isInput ? bound.inputs : bound.outputs).push_back(binding);
      bound.table.push_back(isInput || isOutput ? nullptr : memory.address(ref));
    }
  size_t first = 0; // the table does not move any more
  for (const Step& step : function.steps) {
    uint64_t bytes = 0;
    for (const BufferRef& ref : step.args)
      bytes += std::min(ref.bytes, leastSharedBytes);
    bound.steps.push_back(
        {kernels[step.kernel], bound.table.data() + first, step.tiles, bytes < leastSharedBytes});
    first += step.args.size();
  }
  bound.unwanted.resize(function.outputs.size());
  bound.profile.resize(function.steps.size());
  return bound;
}

void CpuExecutor::Impl::runStep(const BoundStep& step) {
  if (step.isSmall) {
    step.kernel(step.buffers, 0, step.tiles);
    return;
  }
  auto body = [](void* context, int64_t first, int64_t end) {
    const auto& bound = *static_cast<const BoundStep*>(context);
    bound.kernel(bound.buffers, first, end);
  };
  pool->run(step.tiles, body, const_cast<BoundStep*>(&step));
}

void CpuExecutor::Impl::runProfiled(BoundFunction& function) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now(), before = start;
  for (size_t i = 0; i < function.steps.size(); ++i) {
    runStep(function.steps[i]);
    Clock::time_point after = Clock::now();
    function.profile[i].add(std::chrono::nanoseconds(before - start).count(),
                            std::chrono::nanoseconds(after - before).count());
    before = after;
  }
}

CpuExecutor::CpuExecutor(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
CpuExecutor::~CpuExecutor() = default;

absl::StatusOr<std::unique_ptr<CpuExecutor>>
CpuExecutor::create(Program program, const CpuExecutorOptions& options) {
  if (program.device != "cpu")
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a program for device cpu, but it was compiled for %s", program.device));
  TENON_RETURN_IF_ERROR(validateProgram(program));
  TENON_RETURN_IF_ERROR(checkHostFeatures(program.features));
  auto impl = std::make_unique<Impl>();
  impl->program = std::move(program);
  TENON_ASSIGN_OR_RETURN(std::vector<KernelFunction> kernels, impl->linkKernels());
  TENON_ASSIGN_OR_RETURN(impl->memory, ProgramMemory::create(impl->program));
  for (const Function& function : impl->program.functions)
    impl->functions.push_back(impl->bind(function, kernels));
  TENON_ASSIGN_OR_RETURN(impl->pool,
                         ThreadPool::create(options.threads ? options.threads : usableCores()));
  return std::unique_ptr<CpuExecutor>(new CpuExecutor(std::move(impl)));
}

const Program& CpuExecutor::program() const { return impl->program; }
int CpuExecutor::threads() const { return impl->pool->threads(); }

/// Where a call's outputs lie: those that nobody wants in memory of the function's own.
static std::vector<std::span<std::byte>>
placeOutputs(BoundFunction& bound, const Function& function,
             std::span<const std::span<std::byte>> wanted) {
  std::vector<std::span<std::byte>> places(wanted.begin(), wanted.end());
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i].empty()) {
      bound.unwanted[i].resize(function.outputs[i].bytes);
      places[i] = bound.unwanted[i];
    }
  return places;
}

/// Puts the addresses of a call's ports into the function's table.
static void bindPorts(BoundFunction& bound, std::span<const std::span<const std::byte>> inputs,
                      std::span<const std::span<std::byte>> outputs) {
  for (const PortBinding& binding : bound.inputs)
    bound.table[binding.entry] =
        const_cast<std::byte*>(inputs[binding.port].data()) + binding.offset;
  for (const PortBinding& binding : bound.outputs)
    bound.table[binding.entry] = outputs[binding.port].data() + binding.offset;
}

namespace {

/// Takes the executor for one call, or finds it taken.
class Turn {
public:
  explicit Turn(std::atomic_flag& running) : running(running), taken(!running.test_and_set()) {}
  ~Turn() {
    if (taken)
      running.clear();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  absl::Status status() const {
    return taken ? absl::OkStatus()
                 : absl::FailedPreconditionError("expects one call at a time, but the program is "
                                                 "already running");
  }

private:
  std::atomic_flag& running;
  bool taken;
};

} // namespace

absl::Status CpuExecutor::run(size_t index, std::span<const std::span<const std::byte>> inputs,
                              std::span<const std::span<std::byte>> wanted) {
  TENON_RETURN_IF_ERROR(checkCall(impl->program, index, inputs, wanted));
  Turn turn(impl->running);
  TENON_RETURN_IF_ERROR(turn.status());
  BoundFunction& bound = impl->functions[index];
  bindPorts(bound, inputs, placeOutputs(bound, impl->program.functions[index], wanted));
  auto start = std::chrono::steady_clock::now();
  if (impl->profiling)
    impl->runProfiled(bound);
  else
    for (const BoundStep& step : bound.steps)
      impl->runStep(step);
  impl->lastStepsNs = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  return absl::OkStatus();
}

namespace {

/// The memory of a call on the host, where ports are the caller's.
class HostStepMemory final : public StepMemory {
public:
  HostStepMemory(const ProgramMemory& memory, std::span<const std::span<const std::byte>> inputs,
                 std::span<const std::span<std::byte>> outputs)
      : memory(memory), inputs(inputs), outputs(outputs) {}

  absl::Status read(const BufferRef& ref, std::span<std::byte> bytes) override {
    std::copy_n(address(ref), bytes.size(), bytes.data());
    return absl::OkStatus();
  }
  absl::Status write(const BufferRef& ref, std::span<const std::byte> bytes) override {
    std::copy_n(bytes.data(), bytes.size(), address(ref));
    return absl::OkStatus();
  }

private:
  std::byte* address(const BufferRef& ref) const {
    if (ref.space == Space::Input)
      return const_cast<std::byte*>(inputs[ref.index].data()) + ref.offset;
    return ref.space == Space::Output ? outputs[ref.index].data() + ref.offset
                                      : memory.address(ref);
  }

  const ProgramMemory& memory;
  std::span<const std::span<const std::byte>> inputs;
  std::span<const std::span<std::byte>> outputs;
};

} // namespace

absl::Status CpuExecutor::resetStates() {
  Turn turn(impl->running);
  TENON_RETURN_IF_ERROR(turn.status());
  return impl->memory.resetStates();
}

absl::Status CpuExecutor::runObserved(size_t index,
                                      std::span<const std::span<const std::byte>> inputs,
                                      std::span<const std::span<std::byte>> wanted,
                                      StepObserver& observer) {
  TENON_RETURN_IF_ERROR(checkCall(impl->program, index, inputs, wanted));
  Turn turn(impl->running);
  TENON_RETURN_IF_ERROR(turn.status());
  BoundFunction& bound = impl->functions[index];
  const std::vector<std::span<std::byte>> outputs =
      placeOutputs(bound, impl->program.functions[index], wanted);
  bindPorts(bound, inputs, outputs);
  HostStepMemory memory(impl->memory, inputs, outputs);
  for (size_t step = 0; step < bound.steps.size(); ++step) {
    TENON_RETURN_IF_ERROR(observer.before(step, memory));
    impl->runStep(bound.steps[step]);
    TENON_RETURN_IF_ERROR(observer.after(step, memory));
  }
  return absl::OkStatus();
}

uint64_t CpuExecutor::lastStepsNs() const { return impl->lastStepsNs; }

void CpuExecutor::setProfiling(bool enabled) {
  impl->profiling = enabled;
  if (enabled)
    for (BoundFunction& function : impl->functions)
      std::ranges::fill(function.profile, StepProfile{});
}

std::span<const StepProfile> CpuExecutor::profile(size_t function) const {
  return impl->functions[function].profile;
}

} // namespace tenon::runtime
