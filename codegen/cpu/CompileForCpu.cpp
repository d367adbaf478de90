#include "codegen/cpu/CompileForCpu.h"

#include "codegen/KernelSet.h"
#include "codegen/ProgramBuilder.h"
#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/Lowering.h"
#include "codegen/cpu/ObjectCode.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/program/ValidateProgram.h"
#include "support/Diagnostics.h"
#include "support/Status.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen {

using namespace cpu;

namespace {
/// What kernels ask of a target's vectors.
struct Vectors {
  int64_t lanes; ///< f32 elements
  bool hasVnni;
};
} // namespace

/// Emits `kernel` as function `symbol(buffers, firstTile, endTile)` at the end of `code`. The
/// buffers are the kernel's inputs, then its results that are not states.
static LogicalResult emitKernel(KernelOp kernel, const std::string& symbol, const Vectors& vectors,
                                ModuleOp code) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  const Emitter* emitter = findEmitter(schedule.getEmitter());
  if (!emitter)
    return kernel.emitOpError("expects a schedule of an emitter that the CPU has, but got ")
           << schedule;
  VectorBuilder b(kernel.getLoc(), code.getContext(), vectors.lanes, vectors.hasVnni);
  b.setInsertionPointToEnd(code.getBody());
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  auto function = func::FuncOp::create(b, symbol, b.getFunctionType({pointer, i64, i64}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  int64_t index = 0;
  auto nextBuffer = [&](Type type) {
    return b.load(pointer, b.advance(function.getArgument(0), 8 * index++));
  };
  llvm::SmallVector<Value> arguments, results;
  for (Type type : kernel.getBlock().getArgumentTypes())
    arguments.push_back(nextBuffer(type));
  for (Type type : kernel.getResultTypes())
    results.push_back(llvm::isa<StateType>(type) ? Value() : nextBuffer(type));
  KernelContext context(kernel, b, arguments, results);
  LogicalResult outcome = emitter->emitBefore ? emitter->emitBefore(context) : success();
  if (failed(outcome))
    return failure();
  b.loop(function.getArgument(1), function.getArgument(2), 1,
         [&](Value tile) { outcome = emitter->emitTile(context, tile); });
  func::ReturnOp::create(b);
  return failed(outcome) ? failure() : context.expectWritten();
}

static absl::StatusOr<Vectors> vectorsOf(TargetAttr target) {
  std::optional<int64_t> bits = target.getProperty("vector_bits");
  if (target.getDevice() != DeviceKind::Cpu || !bits || !llvm::isPowerOf2_64(*bits) ||
      *bits < 128 || *bits > 512)
    return absl::InvalidArgumentError("expects a CPU target with vector_bits of 128, 256 or 512, "
                                      "but got " +
                                      target.getName().str());
  constexpr int64_t zmmBits = 512;
  llvm::StringRef feature = *bits == zmmBits ? "avx512vnni" : "avxvnni";
  bool hasVnni = llvm::any_of(target.getFeatures().getAsRange<StringAttr>(),
                              [&](StringAttr found) { return found.getValue() == feature; });
  return Vectors{*bits / 32, hasVnni};
}

absl::StatusOr<runtime::Program> compileForCpu(ModuleOp module, const CpuCodegenOptions& options) {
  auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  if (!target)
    return absl::InvalidArgumentError("expects a module with a target");
  TENON_ASSIGN_OR_RETURN(Vectors vectors, vectorsOf(target));
  KernelSet kernels(module);
  TENON_ASSIGN_OR_RETURN(runtime::Program program, buildProgram(module, [&](KernelOp kernel) {
                           return kernels.indexOf(kernel);
                         }));

  DialectRegistry registry;
  registerKernelDialects(registry);
  module.getContext()->appendDialectRegistry(registry);
  module.getContext()->loadAllAvailableDialects();
  DiagnosticCollector diagnostics(module.getContext());
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  for (auto [index, kernel] : llvm::enumerate(kernels.kernels())) {
    std::string symbol = kernels.symbol(index);
    if (failed(emitKernel(kernel, symbol, vectors, *code)))
      return diagnostics.takeStatus();
    program.kernels[index].symbol = symbol;
  }
  if (failed(lowerToLlvmDialect(*code)))
    return diagnostics.takeStatus();
  TENON_ASSIGN_OR_RETURN(std::vector<std::byte> object,
                         emitObject(*code, target, {options.llvmIr, options.assembly},
                                    DiskCache(options.cacheFolder, "o")));
  program.code.emplace_back(std::move(object));
  TENON_RETURN_IF_ERROR(runtime::validateProgram(program));
  return program;
}

} // namespace tenon::codegen
