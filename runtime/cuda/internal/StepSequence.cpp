#include "runtime/cuda/internal/StepSequence.h"

#include "absl/strings/str_format.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

static std::string_view typeName(MatmulType type) {
  switch (type) {
  case MatmulType::F16:
    return "f16";
  case MatmulType::Bf16:
    return "bf16";
  default:
    return "f32";
  }
}

std::string describeLaunch(const Kernel& kernel, int64_t tiles) {
  if (const auto* matmul = std::get_if<LibraryMatmul>(&kernel.launch))
    return absl::StrFormat("cuBLASLt: %d x %d x %d, %s to %s%s%s%s%s", matmul->m, matmul->n,
                           matmul->k, typeName(matmul->input), typeName(matmul->output),
                           matmul->tf32 ? " by TF32" : "", matmul->residual ? ", residual" : "",
                           matmul->bias ? ", bias" : "", matmul->gelu ? ", GELU" : "");
  const auto& launch = std::get<CudaLaunch>(kernel.launch);
  return absl::StrFormat("kernel %s: %d blocks of %u threads, %u bytes of shared memory%s",
                         kernel.symbol, tiles, launch.threads, launch.sharedBytes,
                         launch.pdl ? ", dependent launch" : "");
}

absl::Status StepSequence::inStep(const BoundStep& step, const absl::Status& status) const {
  if (status.ok())
    return status;
  return absl::Status(status.code(),
                      absl::StrFormat("step %u %s (%s): %s", &step - steps.data(), step.step->name,
                                      describeLaunch(*step.kernel, step.step->tiles),
                                      std::string(status.message())));
}

static MatmulOperands operandsOf(const LibraryMatmul& matmul,
                                 const std::vector<CUdeviceptr>& addresses) {
  MatmulOperands operands = {.x = addresses[0], .weight = addresses[1], .y = addresses.back()};
  if (matmul.residual)
    operands.residual = addresses[2];
  if (matmul.bias)
    operands.bias = addresses[matmul.residual ? 3 : 2];
  return operands;
}

/// The driver's form of `map` for the matrix at `address`. The second-level cache fetches what a copy
/// asks for and no more: runs of 256 bytes cost products bound by memory or by this cache up to 7 %
/// (docs/notebook/2026-11-29-rows-outside-a-matrix.md).
static absl::StatusOr<CUtensorMap> encodeTensorMap(const Driver& driver, const TensorMap& map,
                                                   CUdeviceptr address) {
  constexpr cuuint32_t boxColumns = 64; // 128 bytes, the swizzle's width
  CUtensorMap encoded;
  const cuuint64_t extents[] = {static_cast<cuuint64_t>(map.columns),
                                static_cast<cuuint64_t>(map.rows)};
  const cuuint64_t rowBytes[] = {2 * extents[0]};
  const cuuint32_t box[] = {boxColumns, map.boxRows}, strides[] = {1, 1};
  CUtensorMapDataType type = map.type == MatmulType::F16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                         : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  CUresult result = driver.tensorMapEncodeTiled(
      &encoded, type, /*tensorRank=*/2, reinterpret_cast<void*>(address), extents, rowBytes, box,
      strides, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  TENON_RETURN_IF_ERROR(
      driver.check(result, absl::StrFormat("make a tensor map of %d x %d elements, %u rows a copy",
                                           map.rows, map.columns, map.boxRows)));
  return encoded;
}

absl::StatusOr<StepSequence::BoundStep> StepSequence::bind(size_t function, const Step& step,
                                                           size_t index) const {
  BoundStep bound;
  bound.step = &step;
  bound.kernel = &parts.program.kernels[step.kernel];
  for (const BufferRef& ref : step.args)
    bound.addresses.push_back(parts.memory.address(function, ref));
  if (const auto* matmul = std::get_if<LibraryMatmul>(&bound.kernel->launch)) {
    TENON_ASSIGN_OR_RETURN(
        bound.matmul,
        MatmulPlan::create(*parts.library, *matmul, operandsOf(*matmul, bound.addresses),
                           {parts.device, parts.memory.libraryWorkspace(), parts.stream}));
    return bound;
  }
  const auto& launch = std::get<CudaLaunch>(bound.kernel->launch);
  for (const TensorMap& map : launch.tensorMaps) {
    TENON_ASSIGN_OR_RETURN(CUtensorMap encoded, encodeTensorMap(parts.device.driver(), map,
                                                                bound.addresses[map.argument]));
    bound.tensorMaps.push_back(encoded);
  }
  if (launch.stamps)
    bound.addresses.push_back(parts.stamps.address(function, index));
  const LoadedKernel& loaded = parts.kernels.kernel(step.kernel);
  if (loaded.pointers != bound.addresses.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects %u arguments, which the kernel takes, but found %u",
                        loaded.pointers, bound.addresses.size()));
  if (loaded.tensorMaps != bound.tensorMaps.size())
    return absl::InvalidArgumentError(
        absl::StrFormat("expects %u tensor maps, which the kernel takes, but found %u",
                        loaded.tensorMaps, bound.tensorMaps.size()));
  bound.function = loaded.function;
  return bound;
}

absl::StatusOr<StepSequence> StepSequence::create(const Parts& parts, size_t index) {
  StepSequence sequence(parts);
  const Function& function = parts.program.functions[index];
  for (const Step& step : function.steps) {
    absl::StatusOr<BoundStep> bound = sequence.bind(index, step, sequence.steps.size());
    if (!bound.ok())
      return absl::Status(
          bound.status().code(),
          absl::StrFormat("function %s: step %u %s (%s): %s", function.name, sequence.steps.size(),
                          step.name, describeLaunch(parts.program.kernels[step.kernel], step.tiles),
                          std::string(bound.status().message())));
    sequence.steps.push_back(*std::move(bound));
  }
  return sequence;
}

absl::Status StepSequence::launchKernel(const BoundStep& step, CUstream stream) const {
  const auto& launch = std::get<CudaLaunch>(step.kernel->launch);
  std::array<void*, 513> parameters; // as many as a step may have, and its stamps
  size_t count = 0;
  for (const CUdeviceptr& address : step.addresses)
    parameters[count++] = const_cast<CUdeviceptr*>(&address);
  for (const CUtensorMap& map : step.tensorMaps)
    parameters[count++] = const_cast<CUtensorMap*>(&map);
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config{};
  config.gridDimX = static_cast<uint32_t>(step.step->tiles);
  config.blockDimX = launch.threads;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = launch.sharedBytes;
  config.hStream = stream;
  config.attrs = &attribute;
  // A call's first kernel starts when all before the call is done: later ones may then read what the
  // call found before they wait for one another.
  bool isFirst = &step == &steps.front();
  config.numAttrs = launch.pdl && parts.dependentLaunches && !isFirst ? 1 : 0;
  const Driver& driver = parts.device.driver();
  return driver.check(driver.launchKernelEx(&config, step.function, parameters.data(), nullptr),
                      "launch it");
}

absl::Status StepSequence::launchStep(const BoundStep& step, CUstream stream) const {
  if (step.matmul)
    return inStep(step,
                  step.matmul->enqueue(
                      operandsOf(std::get<LibraryMatmul>(step.kernel->launch), step.addresses),
                      parts.memory.libraryWorkspace(), stream));
  return inStep(step, launchKernel(step, stream));
}

absl::Status StepSequence::launch(CUstream stream, bool check) const {
  for (size_t i = 0; i < steps.size(); ++i)
    TENON_RETURN_IF_ERROR(check ? finishStep(i, stream) : launchStep(steps[i], stream));
  return absl::OkStatus();
}

absl::Status StepSequence::finishStep(size_t index, CUstream stream) const {
  const Driver& driver = parts.device.driver();
  TENON_RETURN_IF_ERROR(launchStep(steps[index], stream));
  return inStep(steps[index], driver.check(driver.streamSynchronize(stream), "finish it"));
}

absl::Status StepSequence::launchTimed(CUstream stream, unsigned eventFlags) {
  const Driver& driver = parts.device.driver();
  while (events.size() < steps.size() + 1) {
    TENON_ASSIGN_OR_RETURN(Event event, parts.device.createEvent(/*timed=*/true));
    events.push_back(std::move(event));
  }
  auto record = [&](size_t event) {
    return driver.check(driver.eventRecordWithFlags(events[event].get(), stream, eventFlags),
                        "record an event");
  };
  TENON_RETURN_IF_ERROR(record(0));
  for (size_t i = 0; i < steps.size(); ++i) {
    TENON_RETURN_IF_ERROR(launchStep(steps[i], stream));
    TENON_RETURN_IF_ERROR(record(i + 1));
  }
  return absl::OkStatus();
}

absl::Status StepSequence::readTimes(std::vector<StepProfile>& profiles) const {
  const Driver& driver = parts.device.driver();
  uint64_t startNs = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    float ms = 0;
    TENON_RETURN_IF_ERROR(driver.check(
        driver.eventElapsedTime(&ms, events[i].get(), events[i + 1].get()), "read a step's time"));
    auto ns = static_cast<uint64_t>(static_cast<double>(ms) * 1e6);
    profiles[i].add(startNs, ns);
    startNs += ns;
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime::internal
