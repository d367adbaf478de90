#ifndef TENON_TESTS_RUNTIME_CUDA_FAKEDRIVER_H
#define TENON_TESTS_RUNTIME_CUDA_FAKEDRIVER_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/cuda/internal/Driver.h"

namespace tenon::runtime::test {

/// A kernel of the fake device: its parameters and what a launch of `blocks` blocks does.
struct FakeKernel {
  size_t parameters = 0;
  std::function<void(void* const* buffers, uint32_t blocks)> body;
  size_t parameterBytes = sizeof(void*);
  int maxThreads = 1024;
  int staticSharedBytes = 0;
  int clusterWidth = 0;  ///< blocks of a cluster, 0 without
  size_t tensorMaps = 0; ///< after the parameters
  /// Instead of `body`, for parameters that are no pointers.
  std::function<void(void** parameters)> rawBody = {};
};

/// What the fake driver makes of a tensor map, in its 128 bytes.
struct FakeTensorMap {
  void* address = nullptr;
  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT8;
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
  cuuint64_t extents[2] = {}; ///< of the inner axis first
  cuuint64_t rowBytes = 0;
  cuuint32_t box[2] = {};
};

/// A launch that the fake device was given.
struct FakeLaunch {
  std::string kernel;
  uint32_t blocks = 0;
  uint32_t threads = 0;
  uint32_t sharedBytes = 0;
  bool pdl = false;
  bool captured = false; ///< into a graph
};

/// What the fake driver is and has seen. There is one at a time.
struct FakeDriverState {
  std::map<std::string, FakeKernel> kernels;
  /// Symbol of the driver's function -> the error that it returns from its nth call on.
  std::map<std::string, std::pair<int, CUresult>> failures;
  uint64_t freeBytes = uint64_t{1} << 30;
  std::string jitLog;
  int devices = 1;

  std::vector<FakeLaunch> launches;
  std::vector<std::string> wideClusters; ///< kernels whose clusters may be wider than 8
  /// Of a multiprocessor's largest shared memory, what each kernel prefers.
  std::map<std::string, int> sharedPercents;
  std::map<std::string, int> calls; ///< by symbol
  uint64_t liveBytes = 0;           ///< of device memory
  int liveObjects = 0;              ///< streams, events, modules, graphs, pinned buffers, contexts
};

/// Installs a driver whose device is the host's memory and whose kernels are host functions, for as
/// long as it lives: what the runtime does before, between and after launches, without a GPU.
class FakeDriver {
public:
  FakeDriver();
  ~FakeDriver();

  const internal::Driver& driver() const { return table; }
  FakeDriverState& state();
  /// Makes function `symbol` fail from its `call`th call on.
  void fail(const std::string& symbol, CUresult result, int call = 1);

private:
  internal::Driver table;
};

} // namespace tenon::runtime::test

#endif // TENON_TESTS_RUNTIME_CUDA_FAKEDRIVER_H
