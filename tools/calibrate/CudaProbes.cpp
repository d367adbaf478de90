#include "tools/calibrate/CudaProbes.h"

#include "absl/strings/str_format.h"
#include "codegen/cuda/CubinCache.h"
#include "ir/Dialect.h"
#include "runtime/program/DescribeKernels.h"
#include "support/Status.h"

namespace tenon::tools {

using runtime::FileRange;
using runtime::Program;
using runtime::Space;

static constexpr int64_t threads = 512;

/// BYTES, BLOCKS, THREADS and WAIT are defined in front of it.
static constexpr const char* source = R"(
extern "C" __global__ void probeEmpty(unsigned* out) { WAIT }

extern "C" __global__ void __launch_bounds__(THREADS) probeRead(const uint4* in, unsigned* out) {
  WAIT
  const long long count = BYTES / 16, stride = (long long)BLOCKS * THREADS;
  unsigned seen = 0;
  long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  for (; i + 7 * stride < count; i += 8 * stride) {
    uint4 v[8];
#pragma unroll
    for (int k = 0; k < 8; ++k)
      v[k] = in[i + k * stride];
#pragma unroll
    for (int k = 0; k < 8; ++k)
      seen ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  for (; i < count; i += stride)
    seen ^= in[i].x ^ in[i].y ^ in[i].z ^ in[i].w;
  if (seen == 0x9e3779b9u)
    out[0] = seen; // keeps the loads
}

extern "C" __global__ void __launch_bounds__(THREADS) probeCopy(const uint4* in, uint4* out) {
  WAIT
  const long long count = BYTES / 32, stride = (long long)BLOCKS * THREADS;
  long long i = (long long)blockIdx.x * THREADS + threadIdx.x;
  for (; i + 3 * stride < count; i += 4 * stride) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      v[k] = in[i + k * stride];
#pragma unroll
    for (int k = 0; k < 4; ++k)
      out[i + k * stride] = v[k];
  }
  for (; i < count; i += stride)
    out[i] = in[i];
}

extern "C" __global__ void __launch_bounds__(THREADS) probeFma(float* out) {
  WAIT
  float v[8], a = 0.999f + threadIdx.x * 1e-9f, b = 1e-3f;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    v[k] = k;
  for (int i = 0; i < ROUNDS; ++i)
#pragma unroll
    for (int k = 0; k < 8; ++k)
      v[k] = __fmaf_rn(v[k], a, b);
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k)
    sum += v[k];
  if (sum == 12345.0f)
    out[0] = sum;
}
)";

static constexpr int64_t fmaRounds = 4096;

static std::string architectureOf(TargetAttr target) {
  for (auto feature : target.getFeatures().getAsRange<mlir::StringAttr>())
    if (feature.strref().starts_with("sm_"))
      return feature.str();
  return "";
}

static bool hasPdl(TargetAttr target) {
  return target.getProperty("launch_graph_pdl_ns").has_value();
}

/// A program of one step of the kernel `symbol`; `inBytes` of random values are its first argument
/// where there are any, `outBytes` of workspace its last.
static absl::StatusOr<Program> makeProbe(TargetAttr target, const char* symbol, int64_t blocks,
                                         int64_t bytes, int64_t inBytes, int64_t outBytes) {
  std::string text = absl::StrFormat(
      "#define BYTES %dll\n#define BLOCKS %d\n#define THREADS %d\n#define ROUNDS %d\n"
      "#define WAIT %s\n%s",
      bytes, blocks, threads, fmaRounds,
      hasPdl(target) ? "asm volatile(\"griddepcontrol.launch_dependents; griddepcontrol.wait;\" "
                       "::: \"memory\");"
                     : "",
      source);
  TENON_ASSIGN_OR_RETURN(codegen::cuda::CompiledSource compiled,
                         codegen::cuda::compileCached(text, symbol, architectureOf(target)));
  Program program;
  program.target = target.getName().str();
  program.device = "cuda";
  program.encodings = {{"f16", 1, 2}};
  program.code.emplace_back(std::move(compiled.cubin));
  program.kernels = {
      {symbol, 0, runtime::CudaLaunch{static_cast<uint32_t>(threads), 0, hasPdl(target)}}};
  program.workspaceBytes = outBytes;
  runtime::Step step{.kernel = 0, .tiles = blocks, .args = {}, .name = symbol};
  if (inBytes > 0) {
    auto size = static_cast<uint64_t>(inBytes);
    program.files = {{"random", size, 0}};
    program.constants = {
        {"in", "f16", {1, inBytes / 2}, size, std::vector<FileRange>{{0, 0, size}}}};
    step.args.push_back({Space::Constant, 0, 0, size});
  }
  step.args.push_back({Space::Workspace, 0, 0, static_cast<uint64_t>(outBytes)});
  program.functions = {{"f", runtime::Role::Other, 0, {}, {}, {std::move(step)}}};
  runtime::describeKernelsBySteps(program);
  return program;
}

absl::StatusOr<Program> makeEmptyProbe(TargetAttr target, int64_t blocks) {
  return makeProbe(target, "probeEmpty", blocks, 0, 0, 256);
}

/// Two blocks of 512 threads with eight loads of 16 bytes each: 128 KB in flight a multiprocessor.
static int64_t blocksOf(TargetAttr target) { return 2 * target.getProperty("sms").value_or(1); }

absl::StatusOr<Program> makeReadProbe(TargetAttr target, int64_t bytes) {
  return makeProbe(target, "probeRead", blocksOf(target), bytes, bytes, 256);
}

absl::StatusOr<Program> makeCopyProbe(TargetAttr target, int64_t bytes) {
  return makeProbe(target, "probeCopy", blocksOf(target), bytes, bytes / 2, bytes / 2);
}

absl::StatusOr<Program> makeFmaProbe(TargetAttr target, int64_t* flops) {
  int64_t blocks = 2 * blocksOf(target);
  *flops = blocks * threads * fmaRounds * 8 * 2;
  return makeProbe(target, "probeFma", blocks, 0, 0, 256);
}

Program makeLibraryProbe(TargetAttr target, int64_t side) {
  auto bytes = static_cast<uint64_t>(side * side * 2);
  Program program;
  program.target = target.getName().str();
  program.device = "cuda";
  program.encodings = {{"bf16", 1, 2}};
  program.files = {{"random", 2 * bytes, 0}};
  for (const char* name : {"x", "w"})
    program.constants.push_back(
        {name, "bf16", {side, side}, bytes, std::vector<FileRange>{{0, 0, bytes}}});
  constexpr uint64_t workspaceBytes = uint64_t{32} << 20; // NVIDIA's advice for Hopper
  program.kernels = {{"cublaslt", 0,
                      runtime::LibraryMatmul{.m = side,
                                             .n = side,
                                             .k = side,
                                             .input = runtime::MatmulType::Bf16,
                                             .output = runtime::MatmulType::Bf16,
                                             .workspaceBytes = workspaceBytes}}};
  program.workspaceBytes = bytes;
  runtime::Step step{.kernel = 0,
                     .tiles = 1,
                     .args = {{Space::Constant, 0, 0, bytes},
                              {Space::Constant, 1, 0, bytes},
                              {Space::Workspace, 0, 0, bytes}},
                     .name = "matmul"};
  program.functions = {{"f", runtime::Role::Other, 0, {}, {}, {std::move(step)}}};
  runtime::describeKernelsBySteps(program);
  return program;
}

} // namespace tenon::tools
