#include "tools/driver/ReadModel.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "frontends/models/Frontend.h"
#include "frontends/models/ImportModel.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "tools/driver/FileKind.h"
#include "tools/driver/UsageError.h"

namespace tenon::tools {

std::vector<std::string> defaultShapes(DeviceKind device, int64_t sequences) {
  std::vector<std::string> shapes = {"decode:1"};
  for (int64_t rows = 2; rows / 2 < sequences; rows *= 2)
    shapes.push_back(absl::StrFormat("decode:%d", std::min(rows, sequences)));
  shapes.push_back("prefill:32");
  if (device == DeviceKind::Cuda)
    shapes.insert(shapes.end(), {"prefill:128", "prefill:512", "prefill:2048"});
  return shapes;
}

namespace {

/// `--activations` that leaves f32 between operations and lets products quantise their inputs.
constexpr std::string_view quantizedActivations = "q8";

absl::StatusOr<frontends::ActivationType> parseActivations(const std::string& name,
                                                           DeviceKind device) {
  if (name.empty())
    return device == DeviceKind::Cuda ? frontends::ActivationType::SuitsWeights
                                      : frontends::ActivationType::F32;
  if (name == "f32" || name == quantizedActivations || name == tf32Activations)
    return frontends::ActivationType::F32;
  if (name == "f16")
    return frontends::ActivationType::F16;
  if (name == "bf16")
    return frontends::ActivationType::BF16;
  return usageError(
      absl::StrFormat("--activations: expects f32, f16, bf16, q8 or tf32, but got '%s'", name));
}

/// What `--cache` may be, and what it means.
constexpr std::pair<std::string_view, frontends::CacheType> cacheTypes[] = {
    {"f32", frontends::CacheType::F32},   {"f16", frontends::CacheType::F16},
    {"bf16", frontends::CacheType::BF16}, {"q8", frontends::CacheType::Q8},
    {"fp8", frontends::CacheType::FP8},   {"q4", frontends::CacheType::Q4},
};

/// Of a name that the command line has checked.
frontends::CacheType parseCache(const std::string& name) {
  const auto* found = std::ranges::find(cacheTypes, name,
                                        &std::pair<std::string_view, frontends::CacheType>::first);
  return found == std::end(cacheTypes) ? frontends::CacheType::Activations : found->second;
}

} // namespace

absl::StatusOr<frontends::EntryShape> parseEntryShape(const std::string& text) {
  size_t colon = text.find(':');
  std::optional<Role> role = symbolizeRole(text.substr(0, colon));
  int64_t rows = 0;
  if (!role || *role == Role::Other || colon == std::string::npos ||
      !absl::SimpleAtoi(text.substr(colon + 1), &rows) || rows < 1 || rows > frontends::highestRows)
    return usageError(absl::StrFormat(
        "--shapes: expects decode:ROWS, prefill:ROWS or mixed:ROWS with 1 to %d rows, but got "
        "'%s'",
        frontends::highestRows, text));
  return frontends::EntryShape{*role, rows};
}

namespace {

absl::StatusOr<frontends::ImportOptions> readImportOptions(const ModelOptions& options,
                                                           DeviceKind device) {
  frontends::ImportOptions import;
  TENON_ASSIGN_OR_RETURN(import.activations, parseActivations(options.activations, device));
  import.entries.clear();
  bool isDefault = options.shapes.empty();
  std::vector<std::string> shapes =
      isDefault ? defaultShapes(device, options.batch) : options.shapes;
  shapes.insert(shapes.end(), options.mixedShapes.begin(), options.mixedShapes.end());
  import.fitEntries = isDefault;
  for (const std::string& shape : shapes) {
    if (std::ranges::count(shapes, shape) > 1)
      return usageError(
          absl::StrFormat("--shapes: expects shapes that differ, but got '%s' twice", shape));
    TENON_ASSIGN_OR_RETURN(import.entries.emplace_back(), parseEntryShape(shape));
  }
  if (options.page > 0 && options.window > 0)
    return usageError("--cache: page expects no window, whose tokens take turns in dense caches");
  if (options.keptTokens > 0 && options.window == 0)
    return usageError("--cache: sinks expects a window, of which they stand in front");
  import.cache = parseCache(options.cache);
  import.keptTokens = options.keptTokens;
  import.window = options.window;
  import.contextLength = options.contextLength;
  import.sequences = options.sequences;
  import.blockOutputs = options.blockOutputs;
  import.ignoredKeys = options.ignoredKeys;
  import.nextIds = options.nextIds && device == DeviceKind::Cuda;
  import.acceptedIds = options.acceptedIds && device == DeviceKind::Cuda;
  import.draftIds = options.draftIds;
  return import;
}

/// Does to the module that was read what the options ask for: pages, and notes for later phases.
absl::Status applyOptions(mlir::ModuleOp module, const ModelOptions& options) {
  if (options.activations == quantizedActivations)
    module->setAttr(TenonDialect::quantizeAttrName, mlir::UnitAttr::get(module.getContext()));
  if (options.page == 0)
    return options.pages == 0 ? absl::OkStatus()
                              : usageError("--cache: pages expects a page, of which they are");
  DiagnosticCollector diagnostics(module.getContext());
  mlir::PassManager manager(module.getContext());
  manager.addPass(passes::createPageCachesPass({options.page, options.pages}));
  return mlir::succeeded(manager.run(module)) ? absl::OkStatus() : diagnostics.takeStatus();
}

} // namespace

std::unique_ptr<mlir::MLIRContext> makeContext() {
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<TenonDialect, mlir::func::FuncDialect>();
  return context;
}

/// Textual IR from standard input.
static absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> readInput(mlir::MLIRContext& context) {
  std::string text;
  std::array<char, 1 << 16> buffer;
  while (text.size() <= frontends::maxTextBytes &&
         std::cin.read(buffer.data(), buffer.size()).gcount() > 0)
    text.append(buffer.data(), static_cast<size_t>(std::cin.gcount()));
  if (std::string foreign = describeForeignFile(std::as_bytes(std::span(text)), "standard input");
      !foreign.empty() || text.starts_with("GGUF"))
    return absl::InvalidArgumentError(absl::StrFormat(
        "-: expects textual IR on standard input, but got %s",
        foreign.empty() ? "a GGUF file, whose weights stay where they lie in a file" : foreign));
  return frontends::parseModuleText(context, text, "<stdin>");
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importModel(mlir::MLIRContext& context,
                                                              const frontends::ModelSource& source,
                                                              const ModelOptions& options,
                                                              DeviceKind device) {
  TENON_ASSIGN_OR_RETURN(frontends::ImportOptions import, readImportOptions(options, device));
  TENON_ASSIGN_OR_RETURN(auto module, frontends::importModel(context, source, import));
  TENON_RETURN_IF_ERROR(applyOptions(*module, options));
  return module;
}

static absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
importFile(mlir::MLIRContext& context, const ModelOptions& options, DeviceKind device) {
  TENON_ASSIGN_OR_RETURN(auto source, frontends::openModel(options.path));
  return importModel(context, *source, options, device);
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>
readModel(mlir::MLIRContext& context, const ModelOptions& options, DeviceKind device) {
  namespace fs = std::filesystem;
  TENON_ASSIGN_OR_RETURN(FileKind kind, identifyFile(options.path));
  if (kind == FileKind::Program)
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: is a compiled program (.tnn), which `run` and `inspect` take; this command expects a "
        "GGUF file, a Hugging Face folder or textual IR (.mlir)",
        options.path));
  bool isModel = kind == FileKind::Model;
  bool isInput = options.path == "-";
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> module =
      isModel   ? importFile(context, options, device)
      : isInput ? readInput(context)
                : frontends::parseModuleFile(context, options.path);
  if (!module.ok())
    return module;
  fs::path folder =
      isModel || isInput ? fs::current_path() : fs::absolute(options.path).parent_path();
  if (!isModel)
    TENON_RETURN_IF_ERROR(applyOptions(**module, options));
  for (auto file : (**module).getOps<FileOp>())
    file.setPath((folder / file.getPath().str()).lexically_normal().string());
  return module;
}

} // namespace tenon::tools
