#include "runtime/cuda/internal/KernelModules.h"

#include <array>
#include <cstring>

#include <elf.h>

#include "absl/strings/str_format.h"
#include "runtime/cuda/internal/SharedMemorySplit.h"
#include "support/Status.h"

namespace tenon::runtime::internal {

absl::StatusOr<Module> loadModule(const Device& device, const void* image, std::string_view what) {
  std::array<char, 8192> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule module = nullptr;
  const Driver& driver = device.driver();
  CUresult result = driver.moduleLoadDataEx(&module, image, 2, options, values);
  if (result == CUDA_SUCCESS)
    return Module(driver, module);
  TENON_ASSIGN_OR_RETURN(std::string deviceText, device.describe());
  std::string action = absl::StrFormat("load %s on %s", what, deviceText);
  absl::Status status = driver.check(result, action);
  std::string message(status.message());
  if (log[0])
    message += absl::StrFormat("\n%s", log.data());
  bool isForeign = result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_INVALID_SOURCE;
  return absl::Status(isForeign ? absl::StatusCode::kFailedPrecondition : status.code(), message);
}

/// The driver is given no size: the tables that it reads first must lie within the bytes.
static absl::Status checkCubin(std::span<const std::byte> bytes) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof(header))
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a cubin, but found %u bytes", bytes.size()));
  std::memcpy(&header, bytes.data(), sizeof(header));
  constexpr Elf64_Half emCuda = 190;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != emCuda)
    return absl::InvalidArgumentError("expects a cubin, but found no ELF file for CUDA");
  uint64_t tableBytes = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (header.e_shoff > bytes.size() || tableBytes > bytes.size() - header.e_shoff)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects %u bytes of section headers at offset %u of the cubin, but it has %u bytes",
        tableBytes, header.e_shoff, bytes.size()));
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes.data() + header.e_shoff + i * sizeof(section), sizeof(section));
    bool hasBytes = section.sh_type != SHT_NOBITS;
    if (hasBytes &&
        (section.sh_offset > bytes.size() || section.sh_size > bytes.size() - section.sh_offset))
      return absl::InvalidArgumentError(
          absl::StrFormat("expects section %u within the %u bytes of the cubin, but found %u bytes "
                          "at offset %u",
                          i, bytes.size(), section.sh_size, section.sh_offset));
  }
  return absl::OkStatus();
}

/// Counts the parameters that `loaded` takes: pointers and, after them, tensor maps.
static absl::Status countParameters(const Driver& driver, LoadedKernel& loaded) {
  for (size_t count = 0;; ++count) {
    size_t offset = 0, bytes = 0;
    CUresult result = driver.funcGetParamInfo(loaded.function, count, &offset, &bytes);
    if (result == CUDA_ERROR_INVALID_VALUE)
      return absl::OkStatus();
    TENON_RETURN_IF_ERROR(driver.check(result, "read a kernel's parameters"));
    if (bytes == sizeof(CUtensorMap))
      ++loaded.tensorMaps;
    else if (bytes == sizeof(void*) && loaded.tensorMaps == 0)
      ++loaded.pointers;
    else
      return absl::InvalidArgumentError(absl::StrFormat(
          "expects pointers as parameters, but parameter %u has %u bytes", count, bytes));
  }
}

/// Checks that a block of `function` fits the device, and allows its shared memory.
static absl::Status prepareLaunch(const Device& device, CUfunction function,
                                  const CudaLaunch& launch) {
  const Driver& driver = device.driver();
  auto read = [&](CUfunction_attribute attribute) -> absl::StatusOr<int> {
    int value = 0;
    TENON_RETURN_IF_ERROR(driver.check(driver.funcGetAttribute(&value, attribute, function),
                                       "read a kernel's attributes"));
    return value;
  };
  TENON_ASSIGN_OR_RETURN(int maxThreads, read(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
  if (launch.threads > static_cast<uint32_t>(maxThreads)) {
    TENON_ASSIGN_OR_RETURN(int registers, read(CU_FUNC_ATTRIBUTE_NUM_REGS));
    return absl::InvalidArgumentError(
        absl::StrFormat("expects at most %d threads in a block on %s (%d registers a thread), but "
                        "is launched with %u",
                        maxThreads, device.name(), registers, launch.threads));
  }
  TENON_ASSIGN_OR_RETURN(int staticBytes, read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
  TENON_ASSIGN_OR_RETURN(int maxShared,
                         device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  if (launch.sharedBytes + static_cast<uint32_t>(staticBytes) > static_cast<uint32_t>(maxShared))
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects at most %d bytes of shared memory in a block on %s, but is launched with %u "
        "beside %d of its own",
        maxShared, device.name(), launch.sharedBytes, staticBytes));
  TENON_RETURN_IF_ERROR(driver.check(
      driver.funcSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              static_cast<int>(launch.sharedBytes)),
      "raise the limit of shared memory"));
  // What every device takes, by the CUDA programming guide; more a kernel has to ask for.
  constexpr int portableCluster = 8;
  TENON_ASSIGN_OR_RETURN(int cluster, read(CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH));
  if (cluster <= portableCluster)
    return absl::OkStatus();
  return driver.check(
      driver.funcSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
      "allow its clusters");
}

static absl::StatusOr<LoadedKernel> loadKernel(const Device& device, CUmodule module,
                                               const Kernel& kernel) {
  const Driver& driver = device.driver();
  LoadedKernel loaded;
  CUresult result = driver.moduleGetFunction(&loaded.function, module, kernel.symbol.c_str());
  if (result == CUDA_ERROR_NOT_FOUND)
    return absl::InvalidArgumentError(
        absl::StrFormat("expects a kernel of that name in object %u, but found none", kernel.code));
  TENON_RETURN_IF_ERROR(driver.check(result, "find the kernel"));
  // Not while a graph is captured, which is when its first launch would load it.
  TENON_RETURN_IF_ERROR(driver.check(driver.funcLoad(loaded.function), "load the kernel"));
  TENON_RETURN_IF_ERROR(
      prepareLaunch(device, loaded.function, std::get<CudaLaunch>(kernel.launch)));
  TENON_RETURN_IF_ERROR(countParameters(driver, loaded));
  return loaded;
}

absl::StatusOr<KernelModules> KernelModules::load(const Device& device, const Program& program) {
  KernelModules result;
  for (size_t i = 0; i < program.code.size(); ++i) {
    std::string what = absl::StrFormat("object %u", i);
    if (absl::Status status = checkCubin(program.code[i].bytes()); !status.ok())
      return absl::Status(status.code(), what + ": " + std::string(status.message()));
    if (!program.target.empty())
      what += absl::StrFormat(" of a program for %s", program.target);
    TENON_ASSIGN_OR_RETURN(Module module, loadModule(device, program.code[i].data(), what));
    result.modules.push_back(std::move(module));
  }
  for (const Kernel& kernel : program.kernels) {
    absl::StatusOr<LoadedKernel> loaded = LoadedKernel();
    if (std::holds_alternative<CudaLaunch>(kernel.launch))
      loaded = loadKernel(device, result.modules[kernel.code].get(), kernel);
    if (!loaded.ok())
      return absl::Status(
          loaded.status().code(),
          absl::StrFormat("kernel %s: %s", kernel.symbol, std::string(loaded.status().message())));
    result.kernels.push_back(*loaded);
  }
  TENON_RETURN_IF_ERROR(splitSharedMemory(device, program, result.kernels));
  return result;
}

} // namespace tenon::runtime::internal
