#include "tools/driver/LoadedModel.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <random>

#include "absl/strings/str_format.h"
#include "frontends/gguf/GgufSource.h"
#include "ir/Dialect.h"
#include "ir/encoding/Encoding.h"
#include "passes/Pipeline.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"
#include "tools/driver/FileKind.h"
#include "tools/driver/RandomConstants.h"
#include "tools/driver/RandomModel.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

namespace fs = std::filesystem;

namespace {

/// A source, and the orders of columns that its tensors refer to, by the number of columns.
struct ShapeSource {
  std::map<int64_t, std::vector<int32_t>> orders;
  std::unique_ptr<frontends::ModelSource> source;

  std::span<const int32_t> orderOf(int64_t columns);
};

} // namespace

/// Any order, as GPTQ leaves columns that it takes by their activations.
std::span<const int32_t> ShapeSource::orderOf(int64_t columns) {
  std::vector<int32_t>& order = orders[columns];
  if (order.empty()) {
    order.resize(columns);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::minstd_rand());
  }
  return order;
}

/// The metadata of a named shape. `type` is the encoding of the matrices; those of formats that
/// GGUF files do not have stand in place of matrices in f16, whose rows are whole blocks of them.
/// With `,act_order` behind it the columns of layers' matrices, but for ffn_down's, have another
/// order than their inputs.
static absl::StatusOr<std::shared_ptr<const frontends::ModelSource>>
makeShape(const std::string& name, const std::string& type) {
  TENON_ASSIGN_OR_RETURN(ModelShape shape, findModelShape(name));
  std::string_view encoding = type;
  bool isOrdered = encoding.ends_with(actOrderSuffix);
  if (isOrdered)
    encoding.remove_suffix(actOrderSuffix.size());
  const Encoding* stored = findEncoding(encoding);
  if (!stored)
    return absl::InvalidArgumentError(
        absl::StrFormat("--type: expects an element type, but got '%s'", type));
  const Encoding& f16 = *findEncoding("f16");
  bool hasGgufType = stored->ggufType >= 0;
  TENON_ASSIGN_OR_RETURN(auto mapped, makeModelMetadata(shape, hasGgufType ? *stored : f16));
  auto made = std::make_shared<ShapeSource>();
  auto adapt = [&](frontends::SourceTensor& tensor) {
    int64_t columns = tensor.shape.back();
    if (!hasGgufType && tensor.encoding == &f16 && columns % stored->blockSize == 0) {
      tensor.byteSize = tensor.byteSize / f16.blockBytes / stored->blockSize * stored->blockBytes;
      tensor.encoding = stored;
    }
    // As read from a folder: the rows of gate and up are stored in the order of down's columns.
    bool keepsOrder = tensor.name.ends_with(".ffn_down.weight");
    if (isOrdered && tensor.encoding == stored && tensor.name.starts_with("blk.") && !keepsOrder)
      tensor.permutation = made->orderOf(columns);
  };
  TENON_ASSIGN_OR_RETURN(made->source, frontends::GgufSource::create(std::move(mapped), adapt));
  return std::shared_ptr<const frontends::ModelSource>(made, made->source.get());
}

/// The target that IR of a later phase was made for, held against the one that flags ask for.
static absl::StatusOr<TargetAttr> keepTarget(mlir::MLIRContext& context, TargetAttr kept,
                                             const ModelOptions& options) {
  if (options.device == interpreterDevice)
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

/// Activations have a type where a model is imported; of textual IR they may be quantised, and
/// factors rounded, before fusion.
static absl::Status checkActivations(const ModelOptions& options, mlir::ModuleOp module) {
  bool isOfFusion = options.activations == "q8" || options.activations == tf32Activations;
  Phase phase = passes::getPhase(module);
  if (options.activations.empty() || (isOfFusion && phase < Phase::Fused))
    return absl::OkStatus();
  return usageError(absl::StrFormat("--activations=%s: applies to %s, but %s is IR of the phase %s",
                                    options.activations,
                                    isOfFusion ? "IR before the phase fused" : "model files",
                                    options.path, stringifyPhase(phase).str()));
}

/// Notes in `model` what is asked of its library.
static absl::Status readTf32(const ModelOptions& options, LoadedModel& model) {
  model.tf32 = options.activations == tf32Activations;
  if (!model.tf32 || model.target.getDevice() == DeviceKind::Cuda)
    return absl::OkStatus();
  return usageError("--activations=tf32: applies to GPUs, but the target is " +
                    model.target.getName().str());
}

/// The target for a model that names none.
static absl::StatusOr<TargetAttr> chooseTarget(mlir::MLIRContext& context,
                                               const ModelOptions& options) {
  if (options.device == interpreterDevice)
    return chooseTarget(context, "cpu");
  return chooseTarget(context, options.device, options.target);
}

absl::StatusOr<LoadedModel> loadModel(const ModelOptions& options) {
  LoadedModel model;
  model.context = makeContext();
  if (options.randomSeed && options.path != "-" && !fs::exists(options.path)) {
    TENON_ASSIGN_OR_RETURN(model.shape, makeShape(options.path, options.weightType));
    TENON_ASSIGN_OR_RETURN(model.target, chooseTarget(*model.context, options));
    TENON_RETURN_IF_ERROR(readTf32(options, model));
    TENON_ASSIGN_OR_RETURN(
        model.module, importModel(*model.context, *model.shape, options, model.target.getDevice()));
    return model;
  }
  TENON_ASSIGN_OR_RETURN(FileKind kind, identifyFile(options.path));
  if (kind == FileKind::Model) {
    TENON_ASSIGN_OR_RETURN(model.target, chooseTarget(*model.context, options));
    TENON_RETURN_IF_ERROR(readTf32(options, model));
    TENON_ASSIGN_OR_RETURN(model.module,
                           readModel(*model.context, options, model.target.getDevice()));
    return model;
  }
  TENON_ASSIGN_OR_RETURN(model.module, readModel(*model.context, options));
  model.isText = true;
  auto kept = (*model.module)->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  TENON_ASSIGN_OR_RETURN(model.target, kept ? keepTarget(*model.context, kept, options)
                                            : chooseTarget(*model.context, options));
  TENON_RETURN_IF_ERROR(checkActivations(options, *model.module));
  TENON_RETURN_IF_ERROR(readTf32(options, model));
  return model;
}

absl::Status requireText(const LoadedModel& model, const std::string& path) {
  TENON_ASSIGN_OR_RETURN(std::optional<runtime::TokenizerSpec> tokenizer,
                         readModelTokenizer(*model.module, model.shape.get()));
  if (tokenizer)
    return absl::OkStatus();
  return usageError(absl::StrFormat(
      "%s: is no language model with a tokeniser; -f and -o call its functions on arrays", path));
}

absl::StatusOr<runtime::Program> compileModel(const LoadedModel& model, const ModelOptions& options,
                                              const passes::FusionOptions& fusion, bool stamps) {
  TENON_ASSIGN_OR_RETURN(runtime::Program program, compileModel(*model.module, model.target, fusion,
                                                                stamps, model.shape.get()));
  if (options.randomSeed)
    TENON_RETURN_IF_ERROR(randomizeConstants(program, *options.randomSeed));
  return program;
}

} // namespace tenon::tools
