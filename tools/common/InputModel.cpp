#include "tools/common/InputModel.h"

#include <filesystem>

#include "absl/strings/str_format.h"
#include "frontends/gguf/GgufSource.h"
#include "ir/Dialect.h"
#include "ir/encoding/Encoding.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/common/CompileModel.h"
#include "tools/common/FileKind.h"
#include "tools/common/PointsFlag.h"
#include "tools/common/Progress.h"
#include "tools/common/RandomConstants.h"
#include "tools/common/RandomModel.h"
#include "tools/common/UsageError.h"

namespace tenon::tools {

namespace fs = std::filesystem;

/// The metadata of a named shape; `encoding` is that of the matrices.
static absl::StatusOr<std::shared_ptr<const frontends::ModelSource>>
makeShape(const std::string& name, const std::string& encoding) {
  TENON_ASSIGN_OR_RETURN(ModelShape shape, findModelShape(name));
  const Encoding* stored = findEncoding(encoding);
  if (!stored)
    return absl::InvalidArgumentError(
        absl::StrFormat("--type: expects an element type, but got '%s'", encoding));
  TENON_ASSIGN_OR_RETURN(auto mapped, makeModelMetadata(shape, *stored));
  return frontends::GgufSource::create(std::move(mapped));
}

/// The device that is none: `ReferenceExecutor`.
static constexpr std::string_view interpreter = "reference";

/// The target that IR of a later phase was made for, held against the one that flags ask for.
static absl::StatusOr<TargetAttr> keepTarget(mlir::MLIRContext& context, TargetAttr kept,
                                             const ModelInputOptions& options) {
  if (options.device == interpreter)
    return kept;
  std::string device = stringifyDeviceKind(kept.getDevice()).str();
  if (options.device != "auto" && options.device != device)
    return usageError(absl::StrFormat("--device=%s: %s is IR for the target %s, one for %s",
                                      options.device, options.path, kept.getName().str(), device));
  if (options.target == "native" || options.target == device)
    return kept;
  TENON_ASSIGN_OR_RETURN(TargetAttr asked, chooseTarget(context, options.target));
  if (asked.getName() != kept.getName())
    return usageError(absl::StrFormat("--target=%s: %s is IR for the target %s already",
                                      options.target, options.path, kept.getName().str()));
  return kept;
}

/// Says what flags mean nothing for textual IR in the phase that it is in.
static absl::Status checkTextFlags(const ModelInputOptions& options, mlir::ModuleOp module,
                                   FlagRules& rules) {
  constexpr std::string_view quantized = "q8";
  rules.deny(Need::Import, options.path + " is textual IR");
  Phase phase = passes::getPhase(module);
  std::string inPhase =
      absl::StrFormat("%s is IR of the phase %s", options.path, stringifyPhase(phase).str());
  if (phase >= Phase::Fused)
    rules.deny(Need::Fusion, inPhase);
  if (options.activations.empty() || (options.activations == quantized && phase < Phase::Fused))
    return absl::OkStatus();
  return usageError(absl::StrFormat(
      "--activations=%s: applies to %s, but %s", options.activations,
      options.activations == quantized ? "IR before the phase fused" : "model files", inPhase));
}

/// The target for a model that names none.
static absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context,
                                               const ModelInputOptions& options) {
  if (options.device == interpreter)
    return chooseTarget(context, "cpu");
  return chooseTarget(context, options.device, options.target);
}

absl::StatusOr<InputModel> readInputModel(const ModelInputOptions& given) {
  InputModel input;
  ModelInputOptions options = given;
  if (options.device == interpreter) {
    options.rules.deny(Need::Code, "--device=reference interprets the IR");
    options.rules.deny(Need::Fusion, "--device=reference interprets the IR");
  }
  input.context = makeContext();
  if (options.randomSeed && options.path != "-" && !fs::exists(options.path)) {
    TENON_ASSIGN_OR_RETURN(input.shape, makeShape(options.path, options.weightType));
  } else {
    options.rules.deny(Need::NamedShape, options.path + " is a file");
  }
  FileKind kind = FileKind::Model;
  if (!input.shape) {
    TENON_ASSIGN_OR_RETURN(kind, identifyFile(options.path));
  }
  if (input.shape) {
    TENON_ASSIGN_OR_RETURN(input.target, chooseTarget(*input.context, options));
    TENON_ASSIGN_OR_RETURN(
        input.module, importModel(*input.context, *input.shape, options, input.target.getDevice()));
  } else if (kind == FileKind::Model) {
    TENON_ASSIGN_OR_RETURN(input.target, chooseTarget(*input.context, options));
    TENON_ASSIGN_OR_RETURN(input.module,
                           readModel(*input.context, options, input.target.getDevice()));
  } else {
    TENON_ASSIGN_OR_RETURN(input.module, readModel(*input.context, options));
    auto kept = (*input.module)->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
    TENON_ASSIGN_OR_RETURN(input.target, kept ? keepTarget(*input.context, kept, options)
                                              : chooseTarget(*input.context, options));
    TENON_RETURN_IF_ERROR(checkTextFlags(options, *input.module, options.rules));
  }
  if (input.target.getDevice() != DeviceKind::Cuda)
    options.rules.deny(Need::Gpu, "the target is " + input.target.getName().str());
  TENON_RETURN_IF_ERROR(options.rules.check());
  return input;
}

std::string describeChoice(TargetAttr target) {
  std::string name = "target " + target.getName().str();
  absl::StatusOr<std::string> device = describeDevice(target);
  return device.ok() ? *device + ", " + name : name;
}

absl::Status requireText(const InputModel& model, const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::optional<runtime::TokenizerSpec> tokenizer,
                         readModelTokenizer(*model.module, model.shape.get()));
  if (tokenizer)
    return absl::OkStatus();
  return usageError(absl::StrFormat(
      "%s: is no language model with a tokeniser; --inputs and --outputs call its functions on "
      "arrays",
      path));
}

absl::StatusOr<runtime::Program> compileInputModel(const InputModel& model,
                                                   const ModelInputOptions& options,
                                                   const passes::FusionOptions& fusion,
                                                   bool stamps) {
  Progress progress("compiling " + options.path);
  progress.showSeconds();
  TENON_ASSIGN_OR_RETURN(runtime::Program program, compileModel(*model.module, model.target, fusion,
                                                                stamps, model.shape.get()));
  if (options.randomSeed)
    TENON_RETURN_IF_ERROR(randomizeConstants(program, *options.randomSeed));
  return program;
}

} // namespace tenon::tools
