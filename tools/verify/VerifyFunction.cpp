#include "tools/verify/VerifyFunction.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "ir/Views.h"
#include "kernels/cuda/LibraryGemm.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Status.h"

using namespace mlir;

namespace tenon::tools {

using runtime::BufferRef;
using runtime::StepMemory;

absl::StatusOr<std::unique_ptr<FunctionVerifier>>
FunctionVerifier::create(ModuleOp planned, const runtime::Program& program, size_t index,
                         const ExecutorOptions& options) {
  auto verifier = std::make_unique<FunctionVerifier>();
  verifier->program = &program;
  verifier->function = &program.functions[index];
  verifier->options = options;
  auto body = planned.lookupSymbol<func::FuncOp>(verifier->function->name);
  if (body)
    body.walk([&](KernelOp kernel) { verifier->kernels.push_back(kernel); });
  if (verifier->kernels.size() != verifier->function->steps.size())
    return absl::NotFoundError(absl::StrFormat(
        "verify: expects function '%s' of %u kernels in the module, but it has %u",
        verifier->function->name, verifier->function->steps.size(), verifier->kernels.size()));
  return verifier;
}

absl::Status FunctionVerifier::inStep(size_t step, const absl::Status& status) const {
  if (status.ok())
    return status;
  return absl::Status(status.code(),
                      absl::StrFormat("verify: function %s: step %u %s: %s", function->name, step,
                                      function->steps[step].name, std::string(status.message())));
}

/// The operations of the region that compute something.
static llvm::SmallVector<Operation*> computationsOf(KernelOp kernel) {
  llvm::SmallVector<Operation*> ops;
  for (Operation& op : kernel.getBlock().without_terminator())
    if (!isView(&op) && !llvm::isa<ConstantOp>(op))
      ops.push_back(&op);
  return ops;
}

absl::StatusOr<FunctionVerifier::Counterparts*> FunctionVerifier::counterpartsOf(size_t step) {
  auto [found, isNew] = counterparts.try_emplace(function->steps[step].kernel);
  if (!isNew)
    return &found->second;
  KernelOp kernel = kernels[step];
  TENON_ASSIGN_OR_RETURN(ReferenceKernel reference, ReferenceKernel::create(kernel));
  found->second.reference = std::make_unique<ReferenceKernel>(std::move(reference));
  bool isCall = kernel.getScheduleAttr().getEmitter() == kernels::LibraryGemmKernel::name;
  if (!isCall && computationsOf(kernel).size() > 1) {
    TENON_ASSIGN_OR_RETURN(SplitChain split, SplitChain::create(kernel, options));
    found->second.split = std::make_unique<SplitChain>(std::move(split));
  }
  return &found->second;
}

static absl::StatusOr<ValueBytes> readAll(llvm::ArrayRef<BufferRef> places, StepMemory& memory) {
  ValueBytes values;
  for (const BufferRef& place : places)
    TENON_RETURN_IF_ERROR(
        memory.read(place, values.emplace_back(std::vector<std::byte>(place.bytes))));
  return values;
}

std::vector<BufferRef> FunctionVerifier::resultPlaces(size_t step) const {
  KernelOp kernel = kernels[step];
  const std::vector<BufferRef>& args = function->steps[step].args;
  size_t next = kernel.getInputs().size();
  std::vector<BufferRef> places;
  for (OpResult result : kernel->getResults())
    places.push_back(llvm::isa<StateType>(result.getType())
                         ? args[findCacheInput(kernel, result.getResultNumber())]
                         : args[next++]);
  return places;
}

absl::Status FunctionVerifier::before(size_t step, StepMemory& memory) {
  llvm::ArrayRef<BufferRef> args = function->steps[step].args;
  absl::StatusOr<ValueBytes> read =
      readAll(args.take_front(kernels[step].getInputs().size()), memory);
  if (!read.ok())
    return inStep(step, read.status());
  inputs = *std::move(read);
  return absl::OkStatus();
}

absl::Status FunctionVerifier::after(size_t step, StepMemory& memory) {
  absl::StatusOr<ValueBytes> outputs = readAll(resultPlaces(step), memory);
  return inStep(step, outputs.ok() ? compare(step, *outputs) : outputs.status());
}

/// `blk.0` of `blk.0.attn_q: matmul`: what stands before the first dot after a number.
static std::string layerOf(const std::string& name) {
  std::vector<std::string> parts =
      absl::StrSplit(name.substr(0, name.find(": ")), absl::MaxSplits('.', 2));
  bool isNumbered = parts.size() > 1 && !parts[1].empty() &&
                    llvm::all_of(parts[1], [](char c) { return absl::ascii_isdigit(c); });
  return isNumbered ? parts[0] + "." + parts[1] : parts[0];
}

static std::string kindOf(KernelOp kernel) {
  std::string names;
  for (Operation* op : computationsOf(kernel))
    names += (names.empty() ? ": " : "+") + op->getName().stripDialect().str();
  return kernel.getScheduleAttr().getEmitter().str() + names;
}

absl::Status FunctionVerifier::compare(size_t step, const ValueBytes& outputs) {
  KernelOp kernel = kernels[step];
  TENON_ASSIGN_OR_RETURN(Counterparts * beside, counterpartsOf(step));
  StepCheck check;
  check.name = function->steps[step].name;
  check.kernel = program->kernels[function->steps[step].kernel].symbol;
  check.kind = kindOf(kernel);
  check.layer = layerOf(check.name);
  check.isFused = beside->split != nullptr;
  ValueBytes split;
  if (beside->split) {
    TENON_ASSIGN_OR_RETURN(split, beside->split->run(inputs));
  }
  TENON_ASSIGN_OR_RETURN(std::vector<ReferenceTensor> reference, beside->reference->run(inputs));
  for (auto [index, output] : llvm::enumerate(outputs)) {
    bool isCache = llvm::isa<StateType>(kernel->getResult(index).getType());
    int64_t elements = reference[index].getNumElements();
    check.elements += elements;
    if (beside->split)
      check.differing += countDiffering(output, split[index], output.size() / elements);
    std::span<const std::byte> before;
    if (isCache)
      before = inputs[findCacheInput(kernel, index)];
    ReferenceError error = compareWithReference(reference[index], output, before);
    check.isFar |= isFar(error, reference[index].getType().getElementType());
    check.error.add(error);
  }
  results.push_back(std::move(check));
  return absl::OkStatus();
}

} // namespace tenon::tools
