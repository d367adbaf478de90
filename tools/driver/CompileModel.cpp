#include "tools/driver/CompileModel.h"

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "codegen/ProgramBuilder.h"
#include "codegen/cuda/CompileForCuda.h"
#include "frontends/models/Frontend.h"
#include "ir/Dialect.h"
#include "ir/Targets.h"
#include "passes/Pipeline.h"
#include "runtime/program/ValidateProgram.h"
#include "runtime/text/Tokenizer.h"
#include "support/CacheFolder.h"
#include "support/NearestWord.h"
#include "support/Status.h"
#include "tools/driver/BuildParts.h"
#include "tools/driver/PredictCall.h"
#include "tools/driver/TargetFile.h"
#include "tools/driver/UsageError.h"
#include "llvm/TargetParser/Host.h"
#ifdef TENON_CPU
#include "codegen/cpu/CompileForCpu.h"
#endif

namespace tenon::tools {

absl::StatusOr<TargetAttr> chooseCpuTarget(mlir::MLIRContext& context,
                                           const llvm::StringMap<bool>& features) {
  auto isNative = [&](TargetAttr target) {
    return target.getDevice() == DeviceKind::Cpu &&
           llvm::all_of(
               target.getFeatures().getAsRange<mlir::StringAttr>(),
               [&](mlir::StringAttr feature) { return features.lookup(feature.getValue()); });
  };
  TargetAttr best;
  for (const std::string& candidate : listTargets()) {
    TargetAttr target = findTarget(&context, candidate);
    if (isNative(target) && (!best || target.getFeatures().size() > best.getFeatures().size()))
      best = target;
  }
  if (!best)
    return absl::NotFoundError("--target=cpu: this CPU has the features of no known target");
  return best;
}

static absl::StatusOr<TargetAttr> chooseCpuTarget(mlir::MLIRContext& context) {
  static const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  return chooseCpuTarget(context, host);
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

absl::StatusOr<TargetAttr> chooseGpuTarget(mlir::MLIRContext& context,
                                           std::span<const runtime::CudaDeviceInfo> gpus) {
  if (gpus.empty())
    return absl::NotFoundError("--device=cuda: expects an NVIDIA GPU, but found none");
  if (TargetAttr target = findGpuTarget(context, gpus.front()))
    return target;
  return absl::NotFoundError(absl::StrFormat(
      "--target=cuda: no target for %s, compute capability %d.%d", gpus.front().name,
      gpus.front().capabilityMajor, gpus.front().capabilityMinor));
}

static absl::StatusOr<TargetAttr> chooseGpuTarget(mlir::MLIRContext& context) {
  TENON_ASSIGN_OR_RETURN(std::vector<runtime::CudaDeviceInfo> gpus, runtime::listCudaDevices());
  return chooseGpuTarget(context, gpus);
}
#else
static absl::StatusOr<TargetAttr> chooseGpuTarget(mlir::MLIRContext&) {
  return lacksPart("--device=cuda", "CUDA runtime");
}
#endif

absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& name) {
  if (isTargetFile(name))
    return readTargetFile(context, name);
  if (name == "cpu")
    return chooseCpuTarget(context);
  if (name == "cuda")
    return chooseGpuTarget(context);
  if (name == "native") {
    absl::StatusOr<TargetAttr> gpu = chooseGpuTarget(context);
    return gpu.ok() ? gpu : chooseCpuTarget(context);
  }
  if (TargetAttr target = findTarget(&context, name))
    return target;
  std::vector<std::string> names = listTargets();
  std::string nearest = findNearest(name, names);
  return usageError(
      absl::StrFormat("--target: expects native, cpu, cuda, %s or a file .target, but got '%s'%s",
                      absl::StrJoin(names, ", "), name,
                      nearest.empty() ? "" : absl::StrFormat("; did you mean '%s'?", nearest)));
}

absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context, const std::string& device,
                                        const std::string& name) {
  bool isAuto = device == "auto";
  TENON_ASSIGN_OR_RETURN(TargetAttr target,
                         chooseTarget(context, name == "native" && !isAuto ? device : name));
  if (!isAuto && stringifyDeviceKind(target.getDevice()) != device)
    return usageError(absl::StrFormat("--target: expects a target for --device=%s, but %s is one "
                                      "for %s",
                                      device, name, stringifyDeviceKind(target.getDevice()).str()));
  return target;
}

absl::StatusOr<std::optional<runtime::TokenizerSpec>>
readModelTokenizer(mlir::ModuleOp module, const frontends::ModelSource* metadata) {
  auto model = module->getAttrOfType<ModelAttr>(TenonDialect::modelAttrName);
  if (!model)
    return std::nullopt;
  auto file = mlir::SymbolTable(module).lookup<FileOp>(model.getFile().getValue());
  if (!file)
    return absl::InvalidArgumentError(absl::StrFormat(
        "expects a tenon.file named @%s, that of the model", model.getFile().getValue().str()));
  std::unique_ptr<frontends::ModelSource> opened;
  if (!metadata) {
    TENON_ASSIGN_OR_RETURN(opened, frontends::openModel(file.getPath().str()));
  }
  const frontends::ModelSource& source = metadata ? *metadata : *opened;
  TENON_ASSIGN_OR_RETURN(runtime::TokenizerSpec spec, source.tokenizer());
  if (absl::Status status = runtime::Tokenizer::create(spec).status(); !status.ok())
    return absl::Status(status.code(),
                        absl::StrFormat("%s: %s", source.path(), std::string(status.message())));
  return spec;
}

/// Without a tokeniser that is known a model takes and gives token ids alone.
static void addTokenizer(mlir::ModuleOp module, const frontends::ModelSource* metadata,
                         runtime::Program& program) {
  if (auto tokenizer = readModelTokenizer(module, metadata); tokenizer.ok())
    program.tokenizer = *std::move(tokenizer);
}

/// Code for the planned `module`.
static absl::StatusOr<runtime::Program> generateCode(mlir::ModuleOp module, TargetAttr target,
                                                     bool stamps) {
  if (target.getDevice() == DeviceKind::Cuda)
    return codegen::compileForCuda(module, {.stamps = stamps});
#ifdef TENON_CPU
  if (target.getDevice() == DeviceKind::Cpu)
    return codegen::compileForCpu(module, {.cacheFolder = cacheFolder()});
#endif
  return lacksPart("target " + target.getName().str(), "code generator for CPUs");
}

/// Notes what the cost model says of each function of the planned `module`.
static absl::Status predictFunctions(mlir::ModuleOp module, TargetAttr target,
                                     passes::cost::LaunchMode mode, runtime::Program& program) {
  for (runtime::Function& function : program.functions) {
    TENON_ASSIGN_OR_RETURN(PredictedCall call, predictCall(module, function.name, target, mode));
    function.predictedNs = call.totalNs();
  }
  return absl::OkStatus();
}

absl::StatusOr<runtime::Program> compileModel(mlir::ModuleOp module, TargetAttr target,
                                              const passes::FusionOptions& fusion, bool stamps,
                                              const frontends::ModelSource* metadata) {
  TENON_RETURN_IF_ERROR(passes::runPipeline(module, {.target = target, .fusion = fusion}));
  TENON_ASSIGN_OR_RETURN(runtime::Program program, generateCode(module, target, stamps));
  TENON_RETURN_IF_ERROR(predictFunctions(module, target, fusion.launchMode, program));
  addTokenizer(module, metadata, program);
  return program;
}

absl::StatusOr<runtime::Program> describeModel(mlir::ModuleOp module) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program, codegen::describeFunctions(module));
  addTokenizer(module, /*metadata=*/nullptr, program);
  return program;
}

} // namespace tenon::tools
