#include "runtime/program/internal/ValidateKernel.h"

#include "support/Status.h"

namespace tenon::runtime::internal {

// Limits of every CUDA device of compute capability 8.0 and above (CUDA C++ Programming Guide,
// "Technical Specifications per Compute Capability"); what one device has is checked at load.
static constexpr uint32_t maxThreads = 1024;
static constexpr int64_t maxGrid = INT32_MAX;
/// 4,096 bytes of parameters, which drivers of every version take: addresses and, aligned to 64 bytes,
/// tensor maps of 128.
static constexpr size_t maxParameters = 512;
static constexpr size_t maxTensorMaps = 8;
static constexpr size_t maxParametersBesideMaps = 256;
/// Of a tensor map (CUDA driver API, cuTensorMapEncodeTiled).
static constexpr uint32_t maxBoxRows = 256;
/// What a thread loads at once, and what a tensor map asks of its matrix.
static constexpr uint64_t cudaAlignment = 16;
/// More than any block can have.
static constexpr uint32_t maxSharedBytes = 1 << 20;
/// cuBLASLt gains nothing from more.
static constexpr uint64_t maxLibraryWorkspace = uint64_t{1} << 30;

static absl::Status validateCudaLaunch(const CudaLaunch& launch) {
  if (launch.threads == 0 || launch.threads > maxThreads)
    return invalid("expects between 1 and %u threads in a block, but found %u", maxThreads,
                   launch.threads);
  if (launch.sharedBytes > maxSharedBytes)
    return invalid("expects at most %u bytes of shared memory, but found %u", maxSharedBytes,
                   launch.sharedBytes);
  if (launch.tensorMaps.size() > maxTensorMaps)
    return invalid("expects at most %u tensor maps, but found %u", maxTensorMaps,
                   launch.tensorMaps.size());
  for (const TensorMap& map : launch.tensorMaps) {
    if (map.type != MatmulType::F16 && map.type != MatmulType::Bf16)
      return invalid("expects element type 1 or 2 in a tensor map, but found %d",
                     static_cast<int>(map.type));
    if (map.rows <= 0 || map.rows > INT32_MAX || map.columns <= 0 || map.columns > INT32_MAX)
      return invalid("expects extents between 1 and 2^31 - 1 in a tensor map, but found %d x %d",
                     map.rows, map.columns);
    if (map.columns % 8 != 0)
      return invalid("expects rows of a multiple of 16 bytes in a tensor map, but found %d columns",
                     map.columns);
    if (map.boxRows == 0 || map.boxRows > maxBoxRows)
      return invalid("expects boxes of 1 to %u rows in a tensor map, but found %u", maxBoxRows,
                     map.boxRows);
  }
  return absl::OkStatus();
}

static absl::Status validateMatmul(const LibraryMatmul& matmul) {
  for (int64_t extent : {matmul.m, matmul.n, matmul.k})
    if (extent <= 0 || extent > INT32_MAX)
      return invalid("expects m, n and k between 1 and 2^31 - 1, but found %d", extent);
  if (matmul.input > MatmulType::Bf16 || matmul.output > MatmulType::Bf16)
    return invalid("expects element types from 0 to 2, but found %d and %d",
                   static_cast<int>(matmul.input), static_cast<int>(matmul.output));
  if (matmul.output != matmul.input && matmul.output != MatmulType::F32)
    return invalid("expects an output of the input's type or f32");
  if (matmul.tf32 && matmul.input != MatmulType::F32)
    return invalid("expects f32 input where TF32 is allowed");
  if ((matmul.residual || matmul.bias || matmul.gelu) && matmul.output != MatmulType::F32)
    return invalid("expects an output of f32 with a residual, a bias or GELU");
  if (matmul.workspaceBytes > maxLibraryWorkspace)
    return invalid("expects at most %u bytes of workspace, but found %u", maxLibraryWorkspace,
                   matmul.workspaceBytes);
  return absl::OkStatus();
}

absl::Status validateKernel(const Program& program, const Kernel& kernel) {
  std::string what = "kernel " + quoted(kernel.symbol);
  bool isCuda = program.device == "cuda";
  if (isCuda == std::holds_alternative<std::monostate>(kernel.launch))
    return invalid("%s expects %s launch for device %s", what, isCuda ? "a" : "no", program.device);
  absl::Status status;
  if (const auto* launch = std::get_if<CudaLaunch>(&kernel.launch))
    status = validateCudaLaunch(*launch);
  const auto* matmul = std::get_if<LibraryMatmul>(&kernel.launch);
  if (matmul)
    status = validateMatmul(*matmul);
  for (const KernelArgument& argument : kernel.args)
    if (argument.access > Access::ReadWrite)
      status =
          invalid("expects an access from 0 to 2, but found %d", static_cast<int>(argument.access));
  if (!status.ok())
    return invalid("%s %s", what, std::string(status.message()));
  if (matmul && kernel.code != 0)
    return invalid("%s expects no object, but names object %u", what, kernel.code);
  if (!matmul && kernel.code >= program.code.size())
    return invalid("%s expects one of the %u objects, but names object %u", what,
                   program.code.size(), kernel.code);
  return absl::OkStatus();
}

static uint64_t typeBytes(MatmulType type) { return type == MatmulType::F32 ? 4 : 2; }

static absl::Status validateMatmulStep(const LibraryMatmul& matmul, const Step& step) {
  if (step.tiles != 1)
    return invalid("expects one tile of a library's matmul, but found %d", step.tiles);
  // Each extent is below 2^31: products of two and the size of a type fit 64 bits.
  auto m = static_cast<uint64_t>(matmul.m), n = static_cast<uint64_t>(matmul.n);
  auto k = static_cast<uint64_t>(matmul.k);
  uint64_t input = typeBytes(matmul.input), output = typeBytes(matmul.output);
  std::vector<uint64_t> expected = {m * k * input, n * k * input};
  if (matmul.residual)
    expected.push_back(m * n * output);
  if (matmul.bias)
    expected.push_back(n * output);
  expected.push_back(m * n * output);
  if (step.args.size() != expected.size())
    return invalid("expects x, W, %s%sy as arguments, but found %u",
                   matmul.residual ? "a residual, " : "", matmul.bias ? "a bias, " : "",
                   step.args.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (step.args[i].bytes != expected[i])
      return invalid("expects %u bytes in argument %u of a matmul of %d x %d x %d, but found %u",
                     expected[i], i, matmul.m, matmul.n, matmul.k, step.args[i].bytes);
  return absl::OkStatus();
}

static absl::Status validateTensorMaps(const std::vector<TensorMap>& maps, const Step& step) {
  if (!maps.empty() && step.args.size() > maxParametersBesideMaps)
    return invalid("expects at most %u arguments beside tensor maps, but found %u",
                   maxParametersBesideMaps, step.args.size());
  for (const TensorMap& map : maps) {
    if (map.argument >= step.args.size())
      return invalid("expects tensor maps of its %u arguments, but found one of argument %u",
                     step.args.size(), map.argument);
    // Each extent is below 2^31: the bytes fit 64 bits.
    uint64_t bytes = static_cast<uint64_t>(map.rows) * static_cast<uint64_t>(map.columns) * 2;
    if (step.args[map.argument].bytes != bytes)
      return invalid("expects %u bytes in argument %u, a matrix of %d x %d, but found %u", bytes,
                     map.argument, map.rows, map.columns, step.args[map.argument].bytes);
  }
  return absl::OkStatus();
}

absl::Status validateLaunch(const Kernel& kernel, const Step& step) {
  if (const auto* matmul = std::get_if<LibraryMatmul>(&kernel.launch))
    return validateMatmulStep(*matmul, step);
  const auto* launch = std::get_if<CudaLaunch>(&kernel.launch);
  if (!launch)
    return absl::OkStatus();
  if (step.tiles > maxGrid)
    return invalid("expects at most %d tiles on a CUDA device, but found %d", maxGrid, step.tiles);
  if (step.args.size() > maxParameters)
    return invalid("expects at most %u arguments on a CUDA device, but found %u", maxParameters,
                   step.args.size());
  return validateTensorMaps(launch->tensorMaps, step);
}

absl::Status validateAgainstKernel(const Kernel& kernel, const Step& step) {
  if (step.tiles != kernel.tiles)
    return invalid("expects the %d tiles of kernel %s, but found %d", kernel.tiles,
                   quoted(kernel.symbol), step.tiles);
  if (step.args.size() != kernel.args.size())
    return invalid("expects the %u arguments of kernel %s, but found %u", kernel.args.size(),
                   quoted(kernel.symbol), step.args.size());
  for (size_t i = 0; i < step.args.size(); ++i) {
    const BufferRef& ref = step.args[i];
    if (ref.bytes != kernel.args[i].bytes)
      return invalid("expects %u bytes as argument %u of kernel %s, but found %u",
                     kernel.args[i].bytes, i, quoted(kernel.symbol), ref.bytes);
    bool isOnCpu = std::holds_alternative<std::monostate>(kernel.launch);
    if (!isOnCpu && ref.offset % cudaAlignment != 0)
      return invalid("expects argument %u of kernel %s at a multiple of %u bytes, but found offset "
                     "%u",
                     i, quoted(kernel.symbol), cudaAlignment, ref.offset);
    bool isReadOnly = ref.space == Space::Constant || ref.space == Space::Input;
    if (isReadOnly && kernel.args[i].access != Access::Read)
      return invalid("expects argument %u of kernel %s, which it writes to, outside constants and "
                     "inputs",
                     i, quoted(kernel.symbol));
  }
  return absl::OkStatus();
}

} // namespace tenon::runtime::internal
