#include "tools/common/ModelInput.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "frontends/gguf/GgufImport.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Status.h"

namespace tenon::tools {

namespace {

bool isGgufFile(const std::string& path) {
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof(magic));
  return std::string_view(magic, sizeof(magic)) == "GGUF";
}

/// `--activations` that leaves f32 between operations and lets products quantise their inputs.
constexpr std::string_view quantizedActivations = "q8";

absl::StatusOr<frontends::ActivationType> parseActivations(const std::string& name,
                                                           DeviceKind device) {
  if (name.empty())
    return device == DeviceKind::Cuda ? frontends::ActivationType::SuitsWeights
                                      : frontends::ActivationType::F32;
  if (name == "f32" || name == quantizedActivations)
    return frontends::ActivationType::F32;
  if (name == "f16")
    return frontends::ActivationType::F16;
  if (name == "bf16")
    return frontends::ActivationType::BF16;
  return absl::InvalidArgumentError(
      absl::StrFormat("--activations: expects f32, f16, bf16 or q8, but got '%s'", name));
}

/// Parses `decode:1` or `prefill:32`.
absl::StatusOr<frontends::EntryShape> parseEntryShape(const std::string& text) {
  size_t colon = text.find(':');
  std::optional<Role> role = symbolizeRole(text.substr(0, colon));
  int64_t rows = 0;
  if (!role || *role == Role::Other || colon == std::string::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &rows) || rows < 1)
    return absl::InvalidArgumentError(
        absl::StrFormat("--shapes: expects decode:ROWS or prefill:ROWS, but got '%s'", text));
  return frontends::EntryShape{*role, rows};
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
readGguf(mlir::MLIRContext& context, const ModelInputOptions& options, DeviceKind device) {
  frontends::ImportOptions import;
  TENON_ASSIGN_OR_RETURN(import.activations, parseActivations(options.activations, device));
  import.entries.clear();
  for (const std::string& shape : options.shapes) {
    TENON_ASSIGN_OR_RETURN(import.entries.emplace_back(), parseEntryShape(shape));
  }
  import.contextLength = options.contextLength;
  import.sequences = options.sequences;
  import.blockOutputs = options.blockOutputs;
  import.nextIds = options.nextIds && device == DeviceKind::Cuda;
  return frontends::importGguf(context, options.path, import);
}

} // namespace

void addModelInputOptions(CLI::App& command, ModelInputOptions& options) {
  command.add_option("MODEL", options.path, "A GGUF file, or a graph in textual IR (.mlir)")
      ->required();
  command.add_option("--activations", options.activations,
                     "Element type between operations: f32, f16 or bf16 (default: f32 for a CPU, "
                     "for a GPU the 16-bit type of the weights, f16 where they have none); q8, on "
                     "a CPU: f32, but where it is faster products with block-quantised weights "
                     "take their inputs in blocks of 8 bits");
  command
      .add_option("--shapes", options.shapes,
                  "Entry shapes to compile: decode:ROWS, each row its own sequence, and "
                  "prefill:ROWS, a chunk of one prompt")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--context", options.contextLength,
                     "Positions that the caches hold (default: the model's, at most 4096)");
  command.add_option("--sequences", options.sequences,
                     "Sequences that the caches hold (default: rows of the largest decode shape)");
  command.add_flag("--block-outputs", options.blockOutputs,
                   "Add every block's hidden state to the results");
  command.add_option("--random-weights", options.randomSeed,
                     "Seed of random weights, made when the model is loaded. MODEL may then be a "
                     "shape that random-model knows, and needs no file");
  command
      .add_option("--type", options.weightType,
                  "Their type where MODEL is a shape: f32, f16, bf16 or a block format")
      ->check(CLI::IsMember({"f32", "f16", "bf16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "iq4_nl",
                             "q2_k", "q3_k", "q4_k", "q5_k", "q6_k"}))
      ->capture_default_str();
}

std::unique_ptr<mlir::MLIRContext> makeContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<TenonDialect, mlir::func::FuncDialect>();
  return context;
}

void addDeviceOptions(CLI::App& command, std::string& device, std::string& target) {
  command.add_option("--device", device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--target", target, "The target to compile for (see `devices`)")
      ->capture_default_str();
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
readModel(mlir::MLIRContext& context, const ModelInputOptions& options, DeviceKind device) {
  namespace fs = std::filesystem;
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      isGgufFile(options.path) ? readGguf(context, options, device)
                               : frontends::parseModuleFile(context, options.path);
  if (!module.ok())
    return module;
  fs::path folder =
      isGgufFile(options.path) ? fs::current_path() : fs::absolute(options.path).parent_path();
  if (options.activations == quantizedActivations)
    (**module)->setAttr(TenonDialect::quantizeAttrName, mlir::UnitAttr::get(&context));
  for (auto file : (**module).getOps<FileOp>())
    file.setPath((folder / file.getPath().str()).lexically_normal().string());
  return module;
}

} // namespace tenon::tools
