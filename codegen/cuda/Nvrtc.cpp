#include "codegen/cuda/Nvrtc.h"

#include <memory>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "codegen/cuda/KeepSource.h"
#include "support/SharedLibrary.h"
#include "support/Status.h"

namespace tenon::codegen::cuda {

/// The functions that we call, with nvrtc.h's signatures; a result of 0 is success.
struct Nvrtc::Functions {
  int (*version)(int* major, int* minor);
  int (*createProgram)(void** program, const char* source, const char* name, int headerCount,
                       const char* const* headers, const char* const* headerNames);
  int (*destroyProgram)(void** program);
  int (*compileProgram)(void* program, int optionCount, const char* const* options);
  int (*getCubinSize)(void* program, size_t* bytes);
  int (*getCubin)(void* program, char* cubin);
  int (*getPtxSize)(void* program, size_t* bytes);
  int (*getPtx)(void* program, char* ptx);
  int (*getLogSize)(void* program, size_t* bytes);
  int (*getLog)(void* program, char* log);
  const char* (*getErrorString)(int result);
};

static std::vector<std::string> optionsFor(const std::string& architecture) {
  // Rounding is explicit in Tenon: an FMA stands only where an operation defines one.
  // Generic lambdas are functions without an execution space.
  return {"--gpu-architecture=" + architecture, "--std=c++17", "--fmad=false",
          "--device-as-default-execution-space", "--ptxas-options=-v"};
}

absl::StatusOr<const Nvrtc*> Nvrtc::open(std::span<const std::string> paths) {
  absl::StatusOr<SharedLibrary> library = SharedLibrary::open(paths);
  if (!library.ok())
    return absl::FailedPreconditionError(absl::StrCat(
        "cannot open NVRTC, the compiler of kernels for NVIDIA GPUs, which needs no GPU and no "
        "driver: expects libnvrtc.so.13 of CUDA 13 (README.md says where to have it from), but ",
        library.status().message()));
  auto functions = std::make_unique<Functions>();
  auto load = [&](const char* symbol, auto& function) {
    return library->find(symbol, function, "NVRTC 13");
  };
  TENON_RETURN_IF_ERROR(load("nvrtcVersion", functions->version));
  TENON_RETURN_IF_ERROR(load("nvrtcCreateProgram", functions->createProgram));
  TENON_RETURN_IF_ERROR(load("nvrtcDestroyProgram", functions->destroyProgram));
  TENON_RETURN_IF_ERROR(load("nvrtcCompileProgram", functions->compileProgram));
  TENON_RETURN_IF_ERROR(load("nvrtcGetCUBINSize", functions->getCubinSize));
  TENON_RETURN_IF_ERROR(load("nvrtcGetCUBIN", functions->getCubin));
  TENON_RETURN_IF_ERROR(load("nvrtcGetPTXSize", functions->getPtxSize));
  TENON_RETURN_IF_ERROR(load("nvrtcGetPTX", functions->getPtx));
  TENON_RETURN_IF_ERROR(load("nvrtcGetProgramLogSize", functions->getLogSize));
  TENON_RETURN_IF_ERROR(load("nvrtcGetProgramLog", functions->getLog));
  TENON_RETURN_IF_ERROR(load("nvrtcGetErrorString", functions->getErrorString));
  auto* nvrtc = new Nvrtc;
  int major = 0, minor = 0;
  functions->version(&major, &minor);
  nvrtc->functions = functions.release();
  nvrtc->versionText = absl::StrFormat("%d.%d", major, minor);
  return nvrtc;
}

absl::StatusOr<const Nvrtc*> Nvrtc::get() {
  static const std::string paths[] = {"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                      "/usr/local/cuda-13/lib64/libnvrtc.so.13"};
  static const absl::StatusOr<const Nvrtc*> instance = open(paths);
  return instance;
}

std::string Nvrtc::describeOptions(const std::string& architecture) const {
  std::string text = "nvrtc " + versionText;
  for (const std::string& option : optionsFor(architecture))
    text += " " + option;
  return text;
}

std::string Nvrtc::readLog(void* program) const {
  size_t bytes = 0;
  if (functions->getLogSize(program, &bytes) != 0 || bytes == 0)
    return "";
  std::string log(bytes, '\0');
  functions->getLog(program, log.data());
  log.resize(log.find('\0'));
  return log;
}

absl::Status Nvrtc::readResult(void* program, CompiledSource& result) const {
  size_t cubinBytes = 0, ptxBytes = 0;
  int error = functions->getCubinSize(program, &cubinBytes);
  result.cubin.resize(cubinBytes);
  if (error == 0)
    error = functions->getCubin(program, reinterpret_cast<char*>(result.cubin.data()));
  if (error == 0)
    error = functions->getPtxSize(program, &ptxBytes);
  result.ptx.resize(ptxBytes);
  if (error == 0)
    error = functions->getPtx(program, result.ptx.data());
  if (error != 0)
    return absl::InternalError(std::string("NVRTC gives no cubin: ") +
                               functions->getErrorString(error));
  if (!result.ptx.empty() && result.ptx.back() == '\0')
    result.ptx.pop_back();
  return absl::OkStatus();
}

absl::StatusOr<CompiledSource> Nvrtc::compile(const std::string& source, const std::string& name,
                                              const std::string& architecture) const {
  std::vector<std::string> headerNames, headerTexts;
  std::vector<const char*> namePointers, textPointers, optionPointers;
  for (const DeviceHeader& header : deviceHeaders()) {
    headerNames.emplace_back(header.name);
    headerTexts.emplace_back(header.text);
  }
  for (size_t i = 0; i < headerNames.size(); ++i) {
    namePointers.push_back(headerNames[i].c_str());
    textPointers.push_back(headerTexts[i].c_str());
  }
  std::vector<std::string> options = optionsFor(architecture);
  for (const std::string& option : options)
    optionPointers.push_back(option.c_str());

  void* program = nullptr;
  int error = functions->createProgram(&program, source.c_str(), (name + ".cu").c_str(),
                                       static_cast<int>(headerNames.size()), textPointers.data(),
                                       namePointers.data());
  if (error != 0)
    return absl::InternalError(std::string("NVRTC cannot start: ") +
                               functions->getErrorString(error));
  absl::Cleanup destroy = [&] { functions->destroyProgram(&program); };
  error =
      functions->compileProgram(program, static_cast<int>(options.size()), optionPointers.data());
  std::string log = readLog(program);
  if (error != 0)
    return absl::InvalidArgumentError(absl::StrFormat(
        "kernel %s does not compile for %s (%s); source kept in %s; log:\n%s", name, architecture,
        functions->getErrorString(error), keepSource(source, name), log));
  CompiledSource result;
  TENON_RETURN_IF_ERROR(readResult(program, result));
  result.kernels = parsePtxasLog(log);
  return result;
}

} // namespace tenon::codegen::cuda
