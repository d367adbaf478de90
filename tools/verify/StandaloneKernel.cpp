#include "tools/verify/StandaloneKernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Pipeline.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "tools/driver/CompileModel.h"

using namespace mlir;

namespace tenon::tools {

static constexpr const char* functionName = "f";
static constexpr size_t npos = -1;

/// How caches come to a standalone kernel.
enum class Caches { Arguments, States };

size_t findCacheInput(KernelOp kernel, unsigned index) {
  Value inner = kernel.getYield().getValues()[index];
  while (auto write = inner.getDefiningOp<KvWriteOp>())
    inner = write.getState();
  return llvm::cast<BlockArgument>(inner).getArgNumber();
}

/// A scheduled module of one function around a copy of `kernel`. Inputs are its arguments, results
/// its results; caches only with `Caches::Arguments`, else input i of them is state `s<i>`.
static OwningOpRef<ModuleOp> makeModule(KernelOp kernel, Caches caches) {
  OpBuilder builder(kernel.getContext());
  Location location = kernel.getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder, location);
  (*module)->setAttr(TenonDialect::phaseAttrName,
                     PhaseAttr::get(builder.getContext(), Phase::Scheduled));
  (*module)->setAttr(TenonDialect::targetAttrName,
                     kernel->getParentOfType<ModuleOp>()->getAttr(TenonDialect::targetAttrName));
  builder.setInsertionPointToEnd(module->getBody());
  auto function =
      func::FuncOp::create(builder, location, functionName, builder.getFunctionType({}, {}));
  Block& block = *function.addEntryBlock();
  IRMapping mapping;
  for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
    auto state = llvm::dyn_cast<StateType>(input.getType());
    if (!state || caches == Caches::Arguments) {
      mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
      continue;
    }
    std::string name = "s" + std::to_string(index);
    builder.setInsertionPoint(function);
    StateOp::create(builder, location, name, state);
    builder.setInsertionPointToEnd(&block);
    mapping.map(input, GetStateOp::create(builder, location, state, name).getResult());
  }
  builder.setInsertionPointToEnd(&block);
  auto copy = llvm::cast<KernelOp>(builder.clone(*kernel, mapping));
  copy.removeBuffersAttr();
  llvm::SmallVector<Value> results;
  for (Value result : copy.getResults())
    if (caches == Caches::Arguments || !llvm::isa<StateType>(result.getType()))
      results.push_back(result);
  func::ReturnOp::create(builder, location, results);
  function.setFunctionType(
      builder.getFunctionType(block.getArgumentTypes(), ValueRange(results).getTypes()));
  return module;
}

static absl::Status cutKernels(ModuleOp module) {
  DiagnosticCollector diagnostics(module.getContext());
  PassManager manager(module.getContext());
  manager.addPass(passes::createSplitKernelsPass());
  return succeeded(manager.run(module)) ? absl::OkStatus() : diagnostics.takeStatus();
}

absl::StatusOr<SplitChain> SplitChain::create(KernelOp kernel, const ExecutorOptions& options) {
  OwningOpRef<ModuleOp> module = makeModule(kernel, Caches::States);
  TENON_RETURN_IF_ERROR(cutKernels(*module));
  auto target = (*module)->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  TENON_ASSIGN_OR_RETURN(runtime::Program program, compileModel(*module, target));
  SplitChain chain;
  TENON_ASSIGN_OR_RETURN(chain.executor, makeExecutor(std::move(program), options));
  for (Type type : kernel.getInputs().getTypes())
    chain.isCache.push_back(llvm::isa<StateType>(type));
  for (OpResult result : kernel->getResults())
    chain.cacheResults.push_back(llvm::isa<StateType>(result.getType())
                                     ? findCacheInput(kernel, result.getResultNumber())
                                     : npos);
  return chain;
}

namespace {

/// Fills the caches before the first step, and reads them after the last.
class CacheExchange final : public runtime::StepObserver {
public:
  CacheExchange(size_t steps, const ValueBytes& inputs, const std::vector<bool>& isCache)
      : steps(steps), caches(inputs), isCache(isCache) {}

  absl::Status before(size_t step, runtime::StepMemory& memory) override {
    return step == 0 ? exchange([&](const runtime::BufferRef& ref, std::vector<std::byte>& bytes) {
      return memory.write(ref, bytes);
    })
                     : absl::OkStatus();
  }
  absl::Status after(size_t step, runtime::StepMemory& memory) override {
    return step + 1 == steps
               ? exchange([&](const runtime::BufferRef& ref, std::vector<std::byte>& bytes) {
                   return memory.read(ref, bytes);
                 })
               : absl::OkStatus();
  }

  /// The bytes of the cache that came as that input.
  const std::vector<std::byte>& cache(size_t input) const { return caches[input]; }

private:
  template <typename Copy> absl::Status exchange(Copy copy) {
    uint32_t state = 0;
    for (size_t input = 0; input < caches.size(); ++input)
      if (isCache[input])
        TENON_RETURN_IF_ERROR(
            copy({runtime::Space::State, state++, 0, caches[input].size()}, caches[input]));
    return absl::OkStatus();
  }

  size_t steps;
  ValueBytes caches; ///< by input
  const std::vector<bool>& isCache;
};

} // namespace

absl::StatusOr<ValueBytes> SplitChain::run(const ValueBytes& inputs) {
  const runtime::Function& function = executor->program().functions[0];
  CacheExchange caches(function.steps.size(), inputs, isCache);
  std::vector<std::span<const std::byte>> arguments;
  for (size_t input = 0; input < inputs.size(); ++input)
    if (!isCache[input])
      arguments.emplace_back(inputs[input]);
  ValueBytes outputs;
  for (const runtime::Port& port : function.outputs)
    outputs.emplace_back(port.bytes);
  std::vector<std::span<std::byte>> spans(outputs.begin(), outputs.end());
  TENON_RETURN_IF_ERROR(executor->runObserved(0, arguments, spans, caches));
  ValueBytes results;
  auto next = outputs.begin();
  for (size_t cache : cacheResults)
    results.push_back(cache == npos ? std::move(*next++) : caches.cache(cache));
  return results;
}

absl::StatusOr<ReferenceKernel> ReferenceKernel::create(KernelOp kernel) {
  ReferenceKernel reference;
  reference.module = makeModule(kernel, Caches::Arguments);
  TENON_ASSIGN_OR_RETURN(reference.interpreter, Interpreter::create(*reference.module));
  return reference;
}

absl::StatusOr<std::vector<ReferenceTensor>> ReferenceKernel::run(const ValueBytes& inputs) {
  auto function = module->lookupSymbol<func::FuncOp>(functionName);
  std::vector<ReferenceTensor> arguments;
  for (auto [type, bytes] : llvm::zip_equal(function.getArgumentTypes(), inputs)) {
    arguments.emplace_back(getTensorType(type), std::span<const std::byte>(bytes), nullptr);
  }
  return interpreter->run(functionName, arguments);
}

} // namespace tenon::tools
