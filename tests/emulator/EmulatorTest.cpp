#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/cuda/internal/Driver.h"

namespace tenon::emulator {
namespace {

/// The emulated driver and compiler, by their paths.
class Emulator : public testing::Test {
protected:
  template <typename F> static F find(void* library, const char* name) {
    return reinterpret_cast<F>(::dlsym(library, name));
  }

  /// The kernel `f` of that source.
  CUfunction load(const std::string& source) {
    void* library = ::dlopen(TENON_EMULATOR_FOLDER "/libnvrtc.so.13", RTLD_NOW);
    EXPECT_TRUE(library) << ::dlerror();
    void* program = nullptr;
    find<int (*)(void**, const char*, const char*, int, const char* const*, const char* const*)>(
        library, "nvrtcCreateProgram")(&program, source.c_str(), "f.cu", 0, nullptr, nullptr);
    int error = find<int (*)(void*, int, const char* const*)>(library, "nvrtcCompileProgram")(
        program, 0, nullptr);
    std::string log(10'000, '\0');
    find<int (*)(void*, char*)>(library, "nvrtcGetProgramLog")(program, log.data());
    EXPECT_EQ(error, 0) << log.c_str();
    size_t bytes = 0;
    find<int (*)(void*, size_t*)>(library, "nvrtcGetCUBINSize")(program, &bytes);
    std::string image(bytes, '\0');
    find<int (*)(void*, char*)>(library, "nvrtcGetCUBIN")(program, image.data());
    CUmodule module = nullptr;
    EXPECT_EQ(driver.moduleLoadDataEx(&module, image.data(), 0, nullptr, nullptr), CUDA_SUCCESS);
    CUfunction function = nullptr;
    EXPECT_EQ(driver.moduleGetFunction(&function, module, "f"), CUDA_SUCCESS);
    return function;
  }

  /// What `blocks` blocks of 64 threads make of 64 numbers, 0 to 63, in `out`.
  std::vector<float> run(CUfunction function, unsigned blocks = 1) {
    std::vector<float> in(64), out(64, -1);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = static_cast<float>(i);
    const float* source = in.data();
    float* target = out.data();
    void* parameters[] = {&source, &target};
    CUstream stream = nullptr;
    driver.streamCreate(&stream, 0);
    CUlaunchConfig config = {};
    config.gridDimX = blocks, config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = 64, config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    EXPECT_EQ(driver.launchKernelEx(&config, function, parameters, nullptr), CUDA_SUCCESS);
    driver.streamDestroy(stream);
    return out;
  }

  /// A kernel that brings numbers to shared memory asynchronously and hands each to a neighbour.
  static std::string copies(const std::string& wait) {
    return R"(
extern "C" __global__ void __launch_bounds__(64) f(const float* in, float* out) {
  __shared__ __align__(16) float parts[64];
  if (threadIdx.x < 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
        static_cast<unsigned>(__cvta_generic_to_shared(parts + 4 * threadIdx.x))),
        "l"(in + 4 * threadIdx.x), "r"(16) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  )" + wait +
           R"(
  __syncthreads();
  out[threadIdx.x] = parts[63 - threadIdx.x];
  asm volatile("cp.async.wait_group 0;" ::: "memory");
})";
  }

  runtime::internal::Driver driver =
      runtime::internal::Driver::open(TENON_EMULATOR_FOLDER "/libcuda.so.1").value();
};

TEST_F(Emulator, RunsThreadsThatMeet) {
  std::vector<float> out =
      run(load(copies("asm volatile(\"cp.async.wait_group 0;\" ::: \"memory\");")));
  for (size_t i = 0; i < out.size(); ++i)
    EXPECT_EQ(out[i], 63 - i);
}

TEST_F(Emulator, ShowsAMissingWait) {
  // Thread 0 goes first, and thread 15 has not even waited at its end.
  EXPECT_TRUE(std::isnan(run(load(copies("")))[0]));
}

TEST_F(Emulator, AddsInAWarpAndOverACluster) {
  CUfunction function = load(R"(
extern "C" __global__ void __launch_bounds__(64) __cluster_dims__(2, 1, 1) f(const float* in, float* out) {
  float sum = in[threadIdx.x % 32];
  for (int offset = 16; offset >= 1; offset /= 2)
    sum += __shfl_xor_sync(0xFFFFFFFFu, sum, offset);
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  if (blockIdx.x == 1)
    out[threadIdx.x] = sum;
})");
  for (float value : run(function, 2))
    EXPECT_EQ(value, 31 * 32 / 2);
}

// A thread of the host reads the order once.
TEST_F(Emulator, RunsTheLastClusterFirstWhereThatIsAskedFor) {
  CUfunction function = load(R"(
extern "C" __global__ void __launch_bounds__(64) f(const float* in, float* out) {
  out[threadIdx.x] = blockIdx.x;
})");
  EXPECT_EQ(run(function, 3)[0], 2);
  ::setenv("TENON_EMULATED_ORDER", "descending", /*overwrite=*/1);
  std::thread([&] { EXPECT_EQ(run(function, 3)[0], 0); }).join();
  ::unsetenv("TENON_EMULATED_ORDER");
}

TEST_F(Emulator, StopsWhereNotAllReachABarrier) {
  CUfunction function = load(R"(
extern "C" __global__ void __launch_bounds__(64) f(const float* in, float* out) {
  if (threadIdx.x < 32)
    __syncthreads();
  else
    __syncwarp(__ballot_sync(0xFFFFFFFFu, 1));
  if (threadIdx.x == 40)
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  if (threadIdx.x >= 32)
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  out[threadIdx.x] = in[threadIdx.x];
})");
  EXPECT_DEATH(run(function), "a barrier that not all reach");
}

} // namespace
} // namespace tenon::emulator
