// The functions of the CUDA driver that Tenon calls, on a device that is this machine: memory is the
// host's, a kernel ends before its launch returns, and modules are what `Compiler.cpp` makes.
#include <dlfcn.h>
#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "Machine.h"
#include "Streams.h"
#include <cudaTypedefs.h>

namespace {

using Work = std::function<void()>;

/// A stream, a graph or an executable graph: what was captured.
struct WorkList {
  bool capturing = false;
  std::vector<Work> work;
};
template <typename H> WorkList& workOf(H handle) { return *reinterpret_cast<WorkList*>(handle); }

template <typename T, typename H> CUresult create(H* handle) {
  *handle = reinterpret_cast<H>(new T());
  return CUDA_SUCCESS;
}
template <typename T, typename H> CUresult destroy(H handle) {
  delete reinterpret_cast<T*>(handle);
  return CUDA_SUCCESS;
}

} // namespace

CUresult tenon::emulator::runOrCapture(CUstream stream, std::function<void()> work) {
  if (WorkList& list = workOf(stream); list.capturing)
    list.work.push_back(std::move(work));
  else
    work();
  return CUDA_SUCCESS;
}

namespace {

using tenon::emulator::runOrCapture;

constexpr size_t totalBytes = size_t{4} << 30;
size_t usedBytes = 0;

CUresult deviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
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
  if (usedBytes + bytes > totalBytes)
    return CUDA_ERROR_OUT_OF_MEMORY;
  // The size lies before the memory, which holds NaNs as numbers.
  auto* block = static_cast<std::byte*>(std::aligned_alloc(256, (bytes + 511) / 256 * 256));
  std::memcpy(block, &bytes, sizeof(bytes));
  std::memset(block + 256, 0xff, bytes);
  *address = reinterpret_cast<CUdeviceptr>(block + 256);
  usedBytes += bytes;
  return CUDA_SUCCESS;
}

CUresult memFree(CUdeviceptr address) {
  auto* block = reinterpret_cast<std::byte*>(address) - 256;
  size_t bytes;
  std::memcpy(&bytes, block, sizeof(bytes));
  usedBytes -= bytes;
  std::free(block);
  return CUDA_SUCCESS;
}

CUresult moduleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(ELFMAG) - 1);
  if (std::memcmp(&header, ELFMAG, SELFMAG) != 0)
    return CUDA_ERROR_INVALID_PTX; // source for a compiler that the emulator has not
  std::memcpy(&header, image, sizeof(header));
  if (header.e_machine != emulatedMachine)
    return CUDA_ERROR_INVALID_IMAGE;
  // A file of ld ends with the table of its sections.
  std::string bytes(static_cast<const char*>(image),
                    header.e_shoff + size_t{header.e_shentsize} * header.e_shnum);
  reinterpret_cast<Elf64_Ehdr*>(bytes.data())->e_machine = EM_X86_64;
  std::string path = "/tmp/tenon-module-XXXXXX";
  int file = ::mkstemp(path.data());
  bool written = ::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
  ::close(file);
  void* library = written ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  ::unlink(path.c_str());
  if (!library)
    std::fprintf(stderr, "emulator: %s\n", ::dlerror());
  *module = reinterpret_cast<CUmodule>(library);
  return library ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}

CUresult moduleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  std::string symbol = std::string("emulated_kernel_") + name;
  *function = reinterpret_cast<CUfunction>(::dlsym(module, symbol.c_str()));
  return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

const EmulatedKernel& kernelOf(CUfunction function) {
  return *reinterpret_cast<const EmulatedKernel*>(function);
}

CUresult funcGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  const EmulatedKernel& kernel = kernelOf(function);
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? static_cast<int>(kernel.threads)
           : attribute == CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH && kernel.clusterBlocks > 1
               ? static_cast<int>(kernel.clusterBlocks)
               : 0;
  return CUDA_SUCCESS;
}

CUresult funcGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  const EmulatedKernel& kernel = kernelOf(function);
  if (index >= kernel.parameters)
    return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    size_t size = kernel.parameterBytes[i];
    *offset = (*offset + size - 1) / size * size;
    *bytes = size;
    *offset += i < index ? size : 0;
  }
  return CUDA_SUCCESS;
}

CUresult tensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank, void* address,
                              const cuuint64_t* extents, const cuuint64_t* rowBytes,
                              const cuuint32_t* box, const cuuint32_t*, CUtensorMapInterleave,
                              CUtensorMapSwizzle swizzle, CUtensorMapL2promotion,
                              CUtensorMapFloatOOBfill) {
  if (rank != 2 || rowBytes[0] != 2 * extents[0] || rowBytes[0] % 16 != 0 || box[0] != 64 ||
      box[1] == 0 || box[1] > 256 || swizzle != CU_TENSOR_MAP_SWIZZLE_128B ||
      reinterpret_cast<uintptr_t>(address) % 16 != 0)
    return CUDA_ERROR_INVALID_VALUE;
  EmulatedMatrix matrix = {address, static_cast<int64_t>(extents[1]),
                           static_cast<int64_t>(extents[0]), box[1]};
  emulatedEncodeMap(map, &matrix);
  return CUDA_SUCCESS;
}

/// As large as any kernel's parameter must be aligned.
struct alignas(64) ParameterChunk {
  std::byte bytes[64];
};

CUresult launchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                        void**) {
  const EmulatedKernel& kernel = kernelOf(function);
  std::vector<std::vector<ParameterChunk>> values;
  for (size_t i = 0; i < kernel.parameters; ++i) {
    size_t bytes = kernel.parameterBytes[i];
    values.emplace_back((bytes + sizeof(ParameterChunk) - 1) / sizeof(ParameterChunk));
    std::memcpy(values.back().data(), parameters[i], bytes);
  }
  return runOrCapture(config->hStream,
                      [&kernel, values, blocks = config->gridDimX, threads = config->blockDimX,
                       bytes = config->sharedMemBytes]() mutable {
                        std::vector<void*> arguments;
                        for (std::vector<ParameterChunk>& value : values)
                          arguments.push_back(value.data());
                        tenon::emulator::launch(kernel, arguments.data(), blocks, threads, bytes);
                      });
}

CUresult streamEndCapture(CUstream stream, CUgraph* graph) {
  create<WorkList>(graph);
  std::swap(workOf(*graph).work, workOf(stream).work);
  workOf(stream).capturing = false;
  return CUDA_SUCCESS;
}

template <auto result = CUDA_SUCCESS, typename... A> CUresult succeed(A...) { return result; }

struct Entry {
  const char* symbol;
  void* function;
};

template <typename R, typename... A> void* erase(R (*function)(A...)) {
  return reinterpret_cast<void*>(function);
}

/// What `cuGetProcAddress` finds.
const Entry entries[] = {
    {"cuInit", erase(succeed<CUDA_SUCCESS, unsigned>)},
    {"cuDriverGetVersion", erase(+[](int* version) {
       *version = 13'000;
       return CUDA_SUCCESS;
     })},
    {"cuGetErrorName", erase(+[](CUresult, const char** name) {
       *name = "CUDA_ERROR_EMULATED";
       return CUDA_SUCCESS;
     })},
    {"cuGetErrorString", erase(+[](CUresult, const char** text) {
       *text = "an error of the emulator";
       return CUDA_SUCCESS;
     })},
    {"cuDeviceGetCount", erase(+[](int* count) {
       *count = 1;
       return CUDA_SUCCESS;
     })},
    {"cuDeviceGet", erase(+[](CUdevice* device, int ordinal) {
       *device = ordinal;
       return CUDA_SUCCESS;
     })},
    {"cuDeviceGetName", erase(+[](char* name, int bytes, CUdevice) {
       std::strncpy(name, "Emulated sm_90", bytes);
       return CUDA_SUCCESS;
     })},
    {"cuDeviceGetAttribute", erase(deviceGetAttribute)},
    {"cuDeviceTotalMem", erase(+[](size_t* bytes, CUdevice) {
       *bytes = totalBytes;
       return CUDA_SUCCESS;
     })},
    {"cuDevicePrimaryCtxRetain", erase(succeed<CUDA_SUCCESS, CUcontext*, CUdevice>)},
    {"cuDevicePrimaryCtxRelease", erase(succeed<CUDA_SUCCESS, CUdevice>)},
    {"cuCtxSetCurrent", erase(succeed<CUDA_SUCCESS, CUcontext>)},
    {"cuMemGetInfo", erase(+[](size_t* freeBytes, size_t* total) {
       *freeBytes = totalBytes - usedBytes;
       *total = totalBytes;
       return CUDA_SUCCESS;
     })},
    {"cuMemAlloc", erase(memAlloc)},
    {"cuMemFree", erase(memFree)},
    {"cuMemHostAlloc", erase(+[](void** address, size_t bytes, unsigned) {
       *address = std::malloc(bytes);
       return CUDA_SUCCESS;
     })},
    {"cuMemFreeHost", erase(+[](void* address) {
       std::free(address);
       return CUDA_SUCCESS;
     })},
    {"cuMemcpyHtoDAsync",
     erase(+[](CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
       return runOrCapture(stream, [=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); });
     })},
    {"cuMemcpyDtoHAsync", erase(+[](void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
       return runOrCapture(stream,
                           [=] { std::memcpy(to, reinterpret_cast<const void*>(from), bytes); });
     })},
    {"cuMemsetD8Async",
     erase(+[](CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream) {
       return runOrCapture(stream, [=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
     })},
    {"cuStreamCreate", erase(+[](CUstream* stream, unsigned) { return create<WorkList>(stream); })},
    {"cuStreamDestroy", erase(+[](CUstream stream) { return destroy<WorkList>(stream); })},
    {"cuStreamSynchronize", erase(succeed<CUDA_SUCCESS, CUstream>)},
    {"cuStreamQuery", erase(succeed<CUDA_SUCCESS, CUstream>)},
    {"cuStreamBeginCapture", erase(+[](CUstream stream, CUstreamCaptureMode) {
       workOf(stream).capturing = true;
       return CUDA_SUCCESS;
     })},
    {"cuStreamEndCapture", erase(streamEndCapture)},
    {"cuEventCreate", erase(+[](CUevent* event, unsigned) { return create<int>(event); })},
    {"cuEventDestroy", erase(+[](CUevent event) { return destroy<int>(event); })},
    {"cuEventRecordWithFlags", erase(succeed<CUDA_SUCCESS, CUevent, CUstream, unsigned>)},
    {"cuEventSynchronize", erase(succeed<CUDA_SUCCESS, CUevent>)},
    {"cuEventElapsedTime", erase(+[](float* ms, CUevent, CUevent) {
       *ms = 1;
       return CUDA_SUCCESS;
     })},
    {"cuModuleLoadDataEx", erase(moduleLoadDataEx)},
    {"cuModuleUnload", erase(+[](CUmodule module) {
       return ::dlclose(module) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
     })},
    {"cuModuleGetFunction", erase(moduleGetFunction)},
    {"cuFuncLoad", erase(succeed<CUDA_SUCCESS, CUfunction>)},
    {"cuFuncGetAttribute", erase(funcGetAttribute)},
    {"cuFuncSetAttribute", erase(succeed<CUDA_SUCCESS, CUfunction, CUfunction_attribute, int>)},
    {"cuFuncGetParamInfo", erase(funcGetParamInfo)},
    {"cuTensorMapEncodeTiled", erase(tensorMapEncodeTiled)},
    {"cuLaunchKernelEx", erase(launchKernelEx)},
    {"cuGraphInstantiateWithFlags",
     erase(+[](CUgraphExec* executable, CUgraph graph, unsigned long long) {
       create<WorkList>(executable);
       workOf(*executable).work = workOf(graph).work;
       return CUDA_SUCCESS;
     })},
    {"cuGraphUpload", erase(succeed<CUDA_SUCCESS, CUgraphExec, CUstream>)},
    {"cuGraphLaunch", erase(+[](CUgraphExec executable, CUstream) {
       for (Work& work : workOf(executable).work)
         work();
       return CUDA_SUCCESS;
     })},
    {"cuGraphDestroy", erase(+[](CUgraph graph) { return destroy<WorkList>(graph); })},
    {"cuGraphExecDestroy",
     erase(+[](CUgraphExec executable) { return destroy<WorkList>(executable); })},
};

} // namespace

extern "C" CUresult cuGetProcAddress_v2(const char* symbol, void** function, int, cuuint64_t,
                                        CUdriverProcAddressQueryResult* found) {
  *found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  for (const Entry& entry : entries)
    if (std::strcmp(entry.symbol, symbol) == 0) {
      *function = entry.function;
      *found = CU_GET_PROC_ADDRESS_SUCCESS;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}
