// Textual IR: the parser after its depth check, the verifiers, the reference interpreter on small
// functions, and all passes, for a CPU and a GPU.
// Most changes are made to the parsed module, so that they meet the verifiers and the passes instead
// of the parser.

#include <cstring>
#include <random>

#include "frontends/text/NestingCheck.h"
#include "frontends/text/TextFrontend.h"
#include "ir/Targets.h"
#include "ir/interpreter/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "passes/Pipeline.h"
#include "tests/fuzz/Fuzz.h"
#include "tests/fuzz/ModuleMutator.h"

using namespace tenon;

static std::string_view textOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Calls every function of a small module without weights with numbers that indices, too, may take.
static void interpret(mlir::ModuleOp module) {
  if (!module.getOps<FileOp>().empty())
    return;
  InterpreterOptions options;
  options.maxElements = 4096;
  auto interpreter = Interpreter::create(module, options);
  if (!interpreter.ok())
    return;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    std::vector<ReferenceTensor> inputs;
    for (mlir::Type type : function.getArgumentTypes()) {
      auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
      std::optional<int64_t> bytes = tensor ? getStorageBytes(tensor) : std::nullopt;
      if (!bytes || *bytes > options.maxElements || llvm::isa<BlockType>(tensor.getElementType()))
        return;
      inputs.emplace_back(tensor);
      for (auto [index, value] : llvm::enumerate(inputs.back().getValues()))
        value = static_cast<double>(index % 5) - 1;
    }
    (*interpreter)->run(function.getSymName().str(), inputs).IgnoreError();
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const char* target : {"x86-64-v3", "h200"}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    auto module = frontends::parseModuleText(context, textOf(data, size), "input");
    if (!module.ok())
      return 0;
    if (target == std::string_view("h200"))
      interpret(**module);
    passes::PipelineOptions options;
    options.target = findTarget(&context, target);
    passes::runPipeline(**module, options).IgnoreError();
  }
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t maxSize,
                                          unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  // Nothing that the depth check refuses may reach MLIR's parser here either.
  if (!frontends::checkNesting(textOf(data, size), "input", frontends::maxTextNesting).ok())
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string changed = fuzz::changeModule(textOf(data, size), random);
  if (changed.empty() || changed.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
