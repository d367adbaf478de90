#include "codegen/cpu/ObjectCode.h"

#include <mutex>
#include <span>

#include "absl/strings/str_format.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "support/Status.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;

namespace tenon::codegen::cpu {

static constexpr llvm::StringLiteral tripleText = "x86_64-unknown-linux-gnu";
/// What every feature of a target is added to.
static constexpr llvm::StringLiteral baseCpu = "x86-64";

static std::string featureText(TargetAttr target) {
  llvm::SmallVector<std::string> features;
  for (auto feature : target.getFeatures().getAsRange<StringAttr>())
    features.push_back("+" + feature.str());
  return llvm::join(features, ",");
}

static absl::Status checkFeatures(const llvm::Target& x86, const llvm::Triple& triple,
                                  TargetAttr target) {
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      x86.createMCSubtargetInfo(triple, baseCpu, /*Features=*/""));
  llvm::ArrayRef<llvm::SubtargetFeatureKV> known = subtarget->getAllProcessorFeatures();
  for (auto feature : target.getFeatures().getAsRange<StringAttr>())
    if (llvm::none_of(known, [&](const auto& entry) { return feature.getValue() == entry.Key; }))
      return absl::InvalidArgumentError(absl::StrFormat(
          "target %s: expects features of x86-64 as LLVM names them, but got \"%s\"",
          target.getName().str(), feature.str()));
  return absl::OkStatus();
}

static absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> createMachine(TargetAttr target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  llvm::Triple triple(tripleText);
  std::string error;
  const llvm::Target* x86 = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!x86)
    return absl::InternalError(error);
  TENON_RETURN_IF_ERROR(checkFeatures(*x86, triple, target));
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      x86->createTargetMachine(triple, baseCpu, featureText(target), options, llvm::Reloc::PIC_,
                               llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive));
  return machine;
}

static void setAttributes(llvm::Module& module, TargetAttr target) {
  std::string features = featureText(target);
  std::string width = std::to_string(target.getProperty("vector_bits").value_or(128));
  for (llvm::Function& function : module.functions()) {
    function.addFnAttr(llvm::Attribute::NoUnwind);
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", baseCpu);
    function.addFnAttr("target-features", features);
    function.addFnAttr("prefer-vector-width", width);
  }
}

static void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  // Kernels are written in vectors already, and unrolled as far as registers allow.
  tuning.LoopUnrolling = false;
  tuning.LoopVectorization = false;
  tuning.SLPVectorization = false;
  llvm::PassBuilder builder(&machine, tuning);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager graphs;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graphs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graphs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

static llvm::SmallVector<char> generateCode(llvm::Module& module, llvm::TargetMachine& machine,
                                            llvm::CodeGenFileType type) {
  llvm::SmallVector<char> code;
  llvm::raw_svector_ostream stream(code);
  llvm::legacy::PassManager passes;
  // It fails only for a file type that the target does not have; x86 has both.
  machine.addPassesToEmitFile(passes, stream, nullptr, type);
  passes.run(module);
  return code;
}

/// Part of every key of the cache: to be raised where this file has LLVM compile differently.
static constexpr int settingsVersion = 1;

/// What the object depends on: the code with the attributes of its functions, LLVM, its settings.
static std::string cacheKey(const llvm::Module& module) {
  std::string key =
      absl::StrFormat("LLVM %s, object, settings %d\n", LLVM_VERSION_STRING, settingsVersion);
  llvm::raw_string_ostream stream(key);
  module.print(stream, nullptr);
  return key;
}

static std::vector<std::byte> copyBytes(llvm::ArrayRef<char> text) {
  auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

static void writeListings(const llvm::Module& module, llvm::TargetMachine& machine,
                          const CodeListings& listings) {
  if (listings.llvmIr) {
    llvm::raw_string_ostream stream(*listings.llvmIr);
    module.print(stream, nullptr);
  }
  if (listings.assembly) {
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(module);
    llvm::SmallVector<char> text =
        generateCode(*copy, machine, llvm::CodeGenFileType::AssemblyFile);
    listings.assembly->assign(text.begin(), text.end());
  }
}

absl::StatusOr<std::vector<std::byte>> emitObject(ModuleOp module, TargetAttr target,
                                                  const CodeListings& listings,
                                                  const DiskCache& cache) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, createMachine(target));
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return absl::InternalError("cannot translate the kernels to LLVM IR");
  code->setTargetTriple(machine->getTargetTriple());
  code->setDataLayout(machine->createDataLayout());
  setAttributes(*code, target);
  std::string key = cacheKey(*code);
  bool isListed = listings.llvmIr || listings.assembly;
  if (std::optional<std::string> found = isListed ? std::nullopt : cache.find(key))
    return copyBytes(*found);
  optimize(*code, *machine);
  writeListings(*code, *machine, listings);
  llvm::SmallVector<char> object = generateCode(*code, *machine, llvm::CodeGenFileType::ObjectFile);
  cache.store(key, {object.data(), object.size()});
  return copyBytes(object);
}

} // namespace tenon::codegen::cpu
