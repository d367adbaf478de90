#ifndef TENON_CODEGEN_CUDA_NVRTC_H
#define TENON_CODEGEN_CUDA_NVRTC_H

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace tenon::codegen::cuda {

/// What `ptxas -v` says of one kernel.
struct KernelResources {
  std::string symbol;
  int registers = 0;       ///< of a thread
  int stackBytes = 0;      ///< local memory of a thread: the stack frame
  int spillStoreBytes = 0; ///< of a thread
  int spillLoadBytes = 0;  ///< of a thread
  int staticSmemBytes = 0; ///< of a block

  bool operator==(const KernelResources&) const = default;
};

/// What NVRTC made of a source.
struct CompiledSource {
  std::vector<std::byte> cubin;
  std::string ptx;
  std::vector<KernelResources> kernels; ///< in the order of the log
};

/// A header that sources may include by name.
struct DeviceHeader {
  std::string_view name;
  std::string_view text;
};

/// The `device/*.cuh` files, embedded in the binary.
std::vector<DeviceHeader> deviceHeaders();

/// Reads the resources out of a log of `--ptxas-options=-v`.
std::vector<KernelResources> parsePtxasLog(std::string_view log);

/// NVIDIA's run-time compiler, opened with dlopen: needs neither a GPU nor a driver.
class Nvrtc {
public:
  /// Opens libnvrtc.so.13 (the loader's path, then /usr/local/cuda/lib64) once for the process.
  /// FailedPrecondition says what was tried.
  static absl::StatusOr<const Nvrtc*> get();
  /// Opens the first of `paths` that can be; what is returned lives as long as the process.
  static absl::StatusOr<const Nvrtc*> open(std::span<const std::string> paths);

  /// `13.0`.
  const std::string& version() const { return versionText; }

  /// Compiles `source` for `architecture`, `sm_90a`. The options are fixed: no contraction to FMA,
  /// no fast math, C++17. InvalidArgument carries the compiler's log and the path where the source
  /// was kept; `name` stands for the source in the log. Thread-safe.
  absl::StatusOr<CompiledSource> compile(const std::string& source, const std::string& name,
                                         const std::string& architecture) const;

  /// What decides the result beside the source and its headers, for cache keys.
  std::string describeOptions(const std::string& architecture) const;

private:
  struct Functions;
  Nvrtc() = default;
  absl::Status readResult(void* program, CompiledSource& result) const;
  std::string readLog(void* program) const;

  const Functions* functions = nullptr;
  std::string versionText;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_NVRTC_H
