#include "tests/runtime/cuda/FakeDriver.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

namespace tenon::runtime::test {

namespace {

using Work = std::function<void()>;

/// A fake stream, graph or executable graph: what was captured, or is run.
struct WorkList {
  bool capturing = false;
  std::vector<Work> work;
};

FakeDriverState* state = nullptr;
std::mutex mutex; // uploads come from several threads

/// Counts a call and says what it returns.
CUresult enter(const char* symbol) {
  std::lock_guard<std::mutex> lock(mutex);
  int call = ++state->calls[symbol];
  auto failure = state->failures.find(symbol);
  bool fails = failure != state->failures.end() && call >= failure->second.first;
  return fails ? failure->second.second : CUDA_SUCCESS;
}

void countObject(int change) {
  std::lock_guard<std::mutex> lock(mutex);
  state->liveObjects += change;
}

// A fake that counts its call and returns what was asked for, or does its work.
#define TENON_ENTER(symbol)                                                                        \
  if (CUresult result = enter(#symbol); result != CUDA_SUCCESS)                                    \
  return result

/// Creates a T after the opaque handle H.
template <typename T, typename H> void createObject(H* handle) {
  *handle = reinterpret_cast<H>(new T());
  countObject(1);
}
template <typename T, typename H> void destroyObject(H handle) {
  delete reinterpret_cast<T*>(handle);
  countObject(-1);
}
template <typename H> WorkList& workOf(H handle) { return *reinterpret_cast<WorkList*>(handle); }

void runOrCapture(CUstream stream, Work work) {
  WorkList& list = workOf(stream);
  if (list.capturing)
    list.work.push_back(std::move(work));
  else
    work();
}

CUresult deviceGetCount(int* count) {
  TENON_ENTER(cuDeviceGetCount);
  *count = state->devices;
  return CUDA_SUCCESS;
}

CUresult deviceGetName(char* name, int bytes, CUdevice device) {
  TENON_ENTER(cuDeviceGetName);
  std::snprintf(name, bytes, "Fake %d", device);
  return CUDA_SUCCESS;
}

CUresult deviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  TENON_ENTER(cuDeviceGetAttribute);
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = 9;
    break;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 132;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = 232'448;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = 233'472;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    *value = 65'536;
    break;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    *value = 2'048;
    break;
  default:
    *value = 0;
  }
  return CUDA_SUCCESS;
}

CUresult memAlloc(CUdeviceptr* address, size_t bytes) {
  TENON_ENTER(cuMemAlloc);
  // The size lies before the memory, which holds no zeros.
  auto* block = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
  std::memcpy(block, &bytes, sizeof(bytes));
  std::memset(block + 256, 0xee, bytes);
  *address = reinterpret_cast<CUdeviceptr>(block + 256);
  state->liveBytes += bytes;
  return CUDA_SUCCESS;
}

CUresult memFree(CUdeviceptr address) {
  TENON_ENTER(cuMemFree);
  auto* block = reinterpret_cast<std::byte*>(address) - 256;
  size_t bytes = 0;
  std::memcpy(&bytes, block, sizeof(bytes));
  state->liveBytes -= bytes;
  std::free(block);
  return CUDA_SUCCESS;
}

CUresult copyBytes(const char* symbol, void* to, const void* from, size_t bytes, CUstream stream) {
  if (CUresult result = enter(symbol); result != CUDA_SUCCESS)
    return result;
  runOrCapture(stream, [=] { std::memcpy(to, from, bytes); });
  return CUDA_SUCCESS;
}

CUresult moduleLoadDataEx(CUmodule* module, const void*, unsigned count, CUjit_option* options,
                          void** values) {
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
      std::strcpy(static_cast<char*>(values[i]), state->jitLog.c_str());
  TENON_ENTER(cuModuleLoadDataEx);
  createObject<int>(module);
  return CUDA_SUCCESS;
}

CUresult moduleGetFunction(CUfunction* function, CUmodule, const char* name) {
  TENON_ENTER(cuModuleGetFunction);
  auto kernel = state->kernels.find(name);
  if (kernel == state->kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(&*kernel);
  return CUDA_SUCCESS;
}

const std::pair<const std::string, FakeKernel>& kernelOf(CUfunction function) {
  return *reinterpret_cast<std::pair<const std::string, FakeKernel>*>(function);
}

CUresult funcGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  TENON_ENTER(cuFuncGetAttribute);
  const FakeKernel& kernel = kernelOf(function).second;
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK    ? kernel.maxThreads
           : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES      ? kernel.staticSharedBytes
           : attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH ? kernel.clusterWidth
                                                                   : 40;
  return CUDA_SUCCESS;
}

CUresult funcGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  TENON_ENTER(cuFuncGetParamInfo);
  const FakeKernel& kernel = kernelOf(function).second;
  if (index >= kernel.parameters + kernel.tensorMaps)
    return CUDA_ERROR_INVALID_VALUE;
  *offset = index * kernel.parameterBytes;
  *bytes = index < kernel.parameters ? kernel.parameterBytes : sizeof(CUtensorMap);
  return CUDA_SUCCESS;
}

CUresult tensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t, void* address,
                              const cuuint64_t* extents, const cuuint64_t* strides,
                              const cuuint32_t* box, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill) {
  TENON_ENTER(cuTensorMapEncodeTiled);
  FakeTensorMap made = {address,         type, swizzle, {extents[0], extents[1]}, strides[0],
                        {box[0], box[1]}};
  static_assert(sizeof(made) <= sizeof(*map));
  std::memcpy(map, &made, sizeof(made));
  return CUDA_SUCCESS;
}

CUresult launchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                        void**) {
  TENON_ENTER(cuLaunchKernelEx);
  const auto& [name, kernel] = kernelOf(function);
  state->launches.push_back({name, config->gridDimX, config->blockDimX, config->sharedMemBytes,
                             config->numAttrs == 1, workOf(config->hStream).capturing});
  if (kernel.rawBody) {
    kernel.rawBody(parameters);
    return CUDA_SUCCESS;
  }
  std::vector<void*> buffers;
  for (size_t i = 0; i < kernel.parameters; ++i)
    buffers.push_back(*static_cast<void**>(parameters[i]));
  runOrCapture(config->hStream, [buffers, &kernel = kernel, blocks = config->gridDimX] {
    kernel.body(buffers.data(), blocks);
  });
  return CUDA_SUCCESS;
}

CUresult streamEndCapture(CUstream stream, CUgraph* graph) {
  createObject<WorkList>(graph);
  std::swap(workOf(*graph).work, workOf(stream).work);
  workOf(stream).capturing = false;
  TENON_ENTER(cuStreamEndCapture);
  return CUDA_SUCCESS;
}

CUresult eventElapsedTime(float* ms, CUevent, CUevent) {
  TENON_ENTER(cuEventElapsedTime);
  *ms = 0.25f;
  return CUDA_SUCCESS;
}

void installDevice(internal::Driver& table) {
  table.init = [](unsigned) { return enter("cuInit"); };
  table.driverGetVersion = [](int* version) {
    *version = 13'000;
    return enter("cuDriverGetVersion");
  };
  table.getErrorName = [](CUresult result, const char** name) {
    *name = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return enter("cuGetErrorName");
  };
  table.getErrorString = [](CUresult, const char** text) {
    *text = "it failed";
    return enter("cuGetErrorString");
  };
  table.deviceGetCount = deviceGetCount;
  table.deviceGet = [](CUdevice* device, int ordinal) {
    *device = ordinal;
    return enter("cuDeviceGet");
  };
  table.deviceGetName = deviceGetName;
  table.deviceGetAttribute = deviceGetAttribute;
  table.deviceTotalMem = [](size_t* bytes, CUdevice) {
    *bytes = size_t{1} << 31;
    return enter("cuDeviceTotalMem");
  };
  table.devicePrimaryCtxRetain = [](CUcontext*, CUdevice) {
    TENON_ENTER(cuDevicePrimaryCtxRetain);
    countObject(1);
    return CUDA_SUCCESS;
  };
  table.devicePrimaryCtxRelease = [](CUdevice) {
    countObject(-1);
    return CUDA_SUCCESS;
  };
  table.ctxSetCurrent = [](CUcontext) { return enter("cuCtxSetCurrent"); };
}

void installMemory(internal::Driver& table) {
  table.memGetInfo = [](size_t* freeBytes, size_t* totalBytes) {
    *freeBytes = state->freeBytes;
    *totalBytes = size_t{1} << 31;
    return enter("cuMemGetInfo");
  };
  table.memAlloc = memAlloc;
  table.memFree = memFree;
  table.memHostAlloc = [](void** address, size_t bytes, unsigned) {
    TENON_ENTER(cuMemHostAlloc);
    *address = std::malloc(bytes);
    countObject(1);
    return CUDA_SUCCESS;
  };
  table.memFreeHost = [](void* address) {
    std::free(address);
    countObject(-1);
    return CUDA_SUCCESS;
  };
  table.memcpyHtoDAsync = [](CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
    return copyBytes("cuMemcpyHtoDAsync", reinterpret_cast<void*>(to), from, bytes, stream);
  };
  table.memcpyDtoHAsync = [](void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
    return copyBytes("cuMemcpyDtoHAsync", to, reinterpret_cast<const void*>(from), bytes, stream);
  };
  table.memsetD8Async = [](CUdeviceptr to, unsigned char value, size_t bytes, CUstream) {
    TENON_ENTER(cuMemsetD8Async);
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return CUDA_SUCCESS;
  };
}

void installStreams(internal::Driver& table) {
  table.streamCreate = [](CUstream* stream, unsigned) {
    TENON_ENTER(cuStreamCreate);
    createObject<WorkList>(stream);
    return CUDA_SUCCESS;
  };
  table.streamDestroy = [](CUstream stream) {
    destroyObject<WorkList>(stream);
    return CUDA_SUCCESS;
  };
  table.streamSynchronize = [](CUstream) { return enter("cuStreamSynchronize"); };
  table.streamQuery = [](CUstream) { return enter("cuStreamQuery"); };
  table.streamBeginCapture = [](CUstream stream, CUstreamCaptureMode) {
    TENON_ENTER(cuStreamBeginCapture);
    workOf(stream).capturing = true;
    return CUDA_SUCCESS;
  };
  table.streamEndCapture = streamEndCapture;
  table.eventCreate = [](CUevent* event, unsigned) {
    TENON_ENTER(cuEventCreate);
    createObject<int>(event);
    return CUDA_SUCCESS;
  };
  table.eventDestroy = [](CUevent event) {
    destroyObject<int>(event);
    return CUDA_SUCCESS;
  };
  table.eventRecordWithFlags = [](CUevent, CUstream, unsigned) {
    return enter("cuEventRecordWithFlags");
  };
  table.eventSynchronize = [](CUevent) { return enter("cuEventSynchronize"); };
  table.eventElapsedTime = eventElapsedTime;
}

void installKernels(internal::Driver& table) {
  table.moduleLoadDataEx = moduleLoadDataEx;
  table.moduleUnload = [](CUmodule module) {
    destroyObject<int>(module);
    return CUDA_SUCCESS;
  };
  table.moduleGetFunction = moduleGetFunction;
  table.funcLoad = [](CUfunction) { return enter("cuFuncLoad"); };
  table.funcGetAttribute = funcGetAttribute;
  table.funcSetAttribute = [](CUfunction function, CUfunction_attribute attribute, int value) {
    if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED && value == 1)
      state->wideClusters.push_back(kernelOf(function).first);
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
      state->sharedPercents[kernelOf(function).first] = value;
    return enter("cuFuncSetAttribute");
  };
  table.funcGetParamInfo = funcGetParamInfo;
  table.tensorMapEncodeTiled = tensorMapEncodeTiled;
  table.launchKernelEx = launchKernelEx;
  table.graphInstantiateWithFlags = [](CUgraphExec* executable, CUgraph graph, unsigned long long) {
    TENON_ENTER(cuGraphInstantiateWithFlags);
    createObject<WorkList>(executable);
    workOf(*executable).work = workOf(graph).work;
    return CUDA_SUCCESS;
  };
  table.graphUpload = [](CUgraphExec, CUstream) { return enter("cuGraphUpload"); };
  table.graphLaunch = [](CUgraphExec executable, CUstream) {
    TENON_ENTER(cuGraphLaunch);
    for (const Work& work : workOf(executable).work)
      work();
    return CUDA_SUCCESS;
  };
  table.graphDestroy = [](CUgraph graph) {
    destroyObject<WorkList>(graph);
    return CUDA_SUCCESS;
  };
  table.graphExecDestroy = [](CUgraphExec executable) {
    destroyObject<WorkList>(executable);
    return CUDA_SUCCESS;
  };
}

} // namespace

FakeDriver::FakeDriver() {
  test::state = new FakeDriverState();
  installDevice(table);
  installMemory(table);
  installStreams(table);
  installKernels(table);
}

FakeDriver::~FakeDriver() {
  delete test::state;
  test::state = nullptr;
}

FakeDriverState& FakeDriver::state() { return *test::state; }

void FakeDriver::fail(const std::string& symbol, CUresult result, int call) {
  state().failures[symbol] = {state().calls[symbol] + call, result};
}

} // namespace tenon::runtime::test
