#include "tools/common/CompileModel.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "codegen/ProgramBuilder.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/gguf/GgufFile.h"
#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "runtime/program/ValidateProgram.h"
#include "support/CacheFolder.h"
#include "support/Status.h"
#include "tools/common/GgufTokenizer.h"
#include "tools/common/TargetFile.h"
#include "llvm/TargetParser/Host.h"
#ifdef TENON_CPU
#include "codegen/cpu/CompileForCpu.h"
#endif
#ifdef TENON_CUDA
#include "runtime/cuda/Devices.h"
#endif

namespace tenon::tools {

/// True where this machine has every feature of the CPU target.
static bool isNative(TargetAttr target) {
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return target.getDevice() == DeviceKind::Cpu &&
         llvm::all_of(target.getFeatures().getAsRange<mlir::StringAttr>(),
                      [](mlir::StringAttr feature) { return host.lookup(feature.getValue()); });
}

absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& name) {
  if (isTargetFile(name))
    return readTargetFile(context, name);
  if (name != "native") {
    if (TargetAttr target = findTarget(&context, name))
      return target;
    return absl::NotFoundError(absl::StrFormat("--target: expects native, %s or a file .target, "
                                               "but got '%s'",
                                               absl::StrJoin(listTargets(), ", "), name));
  }
  TargetAttr best;
  for (const std::string& candidate : listTargets()) {
    TargetAttr target = findTarget(&context, candidate);
    if (isNative(target) && (!best || target.getFeatures().size() > best.getFeatures().size()))
      best = target;
  }
  if (!best)
    return absl::NotFoundError("--target=native: this CPU has the features of no known target");
  return best;
}

#ifdef TENON_CUDA
/// The target of a GPU: the one whose name is in the GPU's (`h200` in `NVIDIA H200`), else the first
/// of its architecture.
static TargetAttr findGpuTarget(mlir::MLIRContext& context, const runtime::CudaDeviceInfo& gpu) {
  std::string feature = absl::StrFormat("sm_%d%d", gpu.capabilityMajor, gpu.capabilityMinor);
  auto isOfArchitecture = [&](TargetAttr target) {
    return llvm::any_of(
        target.getFeatures().getAsRange<mlir::StringAttr>(),
        [&](mlir::StringAttr found) { return found.strref().starts_with(feature); });
  };
  TargetAttr sameArchitecture;
  for (const std::string& name : listTargets()) {
    TargetAttr target = findTarget(&context, name);
    if (target.getDevice() != DeviceKind::Cuda || !isOfArchitecture(target))
      continue;
    if (llvm::StringRef(gpu.name).contains_insensitive(name))
      return target;
    if (!sameArchitecture)
      sameArchitecture = target;
  }
  return sameArchitecture;
}

static absl::StatusOr<TargetAttr> chooseGpuTarget(mlir::MLIRContext& context) {
  TENON_ASSIGN_OR_RETURN(std::vector<runtime::CudaDeviceInfo> gpus, runtime::listCudaDevices());
  if (gpus.empty())
    return absl::NotFoundError("--device=cuda: expects an NVIDIA GPU, but found none");
  if (TargetAttr target = findGpuTarget(context, gpus.front()))
    return target;
  return absl::NotFoundError(absl::StrFormat(
      "--target=native: no target for %s, compute capability %d.%d", gpus.front().name,
      gpus.front().capabilityMajor, gpus.front().capabilityMinor));
}
#else
static absl::StatusOr<TargetAttr> chooseGpuTarget(mlir::MLIRContext&) {
  return absl::UnimplementedError("--device=cuda: this build has no CUDA runtime");
}
#endif

absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& device,
                                        const std::string& name) {
  if (name == "native" && device == "cuda")
    return chooseGpuTarget(context);
  TENON_ASSIGN_OR_RETURN(TargetAttr target, chooseTarget(context, name));
  if (stringifyDeviceKind(target.getDevice()) != device)
    return absl::InvalidArgumentError(
        absl::StrFormat("--target: expects a target for --device=%s, but %s is one for %s", device,
                        name, stringifyDeviceKind(target.getDevice()).str()));
  return target;
}

/// The tokeniser of the file that `tenon.model` names, where there is a model.
static absl::Status addTokenizer(mlir::ModuleOp module, runtime::Program& program) {
  auto model = module->getAttrOfType<ModelAttr>(TenonDialect::modelAttrName);
  if (!model)
    return absl::OkStatus();
  auto file = mlir::SymbolTable(module).lookup<FileOp>(model.getFile().getValue());
  if (!file)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a tenon.file named @%s, that of the model", model.getFile().getValue().str()));
  TENON_ASSIGN_OR_RETURN(auto gguf, frontends::GgufFile::open(file.getPath().str()));
  TENON_ASSIGN_OR_RETURN(program.tokenizer, readGgufTokenizer(*gguf));
  return absl::OkStatus();
}

absl::StatusOr<runtime::Program> compileModel(mlir::ModuleOp module, TargetAttr target,
                                              const passes::FusionOptions& fusion, bool stamps) {
  TENON_RETURN_IF_ERROR(passes::runPipeline(module, {.target = target, .fusion = fusion}));
  if (target.getDevice() == DeviceKind::Cuda) {
    TENON_ASSIGN_OR_RETURN(runtime::Program program,
                           codegen::compileForCuda(module, {.stamps = stamps}));
    TENON_RETURN_IF_ERROR(addTokenizer(module, program));
    return program;
  }
#ifdef TENON_CPU
  if (target.getDevice() == DeviceKind::Cpu) {
    TENON_ASSIGN_OR_RETURN(runtime::Program program,
                           codegen::compileForCpu(module, {.cacheFolder = cacheFolder()}));
    TENON_RETURN_IF_ERROR(addTokenizer(module, program));
    return program;
  }
#endif
  return absl::UnimplementedError(
      absl::StrFormat("this build has no code generator for target '%s'", target.getName().str()));
}

absl::StatusOr<runtime::Program> describeModel(mlir::ModuleOp module) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::describeFunctions(module));
  TENON_RETURN_IF_ERROR(addTokenizer(module, program));
  return program;
}

} // namespace tenon::tools
