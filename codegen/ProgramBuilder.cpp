#include "codegen/ProgramBuilder.h"

#include <algorithm>

#include "ir/KvCache.h"
#include "ir/ReferenceTensor.h"
#include "ir/SharedPercent.h"
#include "ir/Views.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "support/Diagnostics.h"

using namespace mlir;

namespace tenon::codegen {

namespace {

using runtime::BufferRef;
using runtime::Program;
using runtime::Space;

class ProgramBuilder {
public:
  ProgramBuilder(ModuleOp module, llvm::function_ref<uint32_t(KernelOp)> kernelIndex)
      : module(module), kernelIndex(kernelIndex) {}

  LogicalResult build();
  LogicalResult buildSignatures();
  Program takeProgram() { return std::move(program); }

private:
  LogicalResult addTarget();
  void addModel();
  void addFile(FileOp file);
  void addWeight(WeightOp weight);
  void addState(StateOp state);
  std::string useEncoding(Type elementType);
  template <typename T> void describe(T& value, Type type);
  uint32_t constantFor(ConstantOp constant);

  LogicalResult addSignature(func::FuncOp function);
  LogicalResult addFunction(func::FuncOp function);
  runtime::Port portFor(Type type, DictionaryAttr attributes, std::string otherwise);
  LogicalResult placeOutputs(func::FuncOp function);
  LogicalResult placeResult(KernelOp kernel, unsigned index);
  LogicalResult addOperation(Operation& op, runtime::Function& target);
  void describeKernel(KernelOp kernel, const runtime::Step& step);
  LogicalResult addStep(KernelOp kernel, runtime::Function& target);

  ModuleOp module;
  llvm::function_ref<uint32_t(KernelOp)> kernelIndex;
  Program program;
  llvm::StringMap<uint32_t> files, weights, states;
  llvm::DenseMap<Attribute, uint32_t> constants;
  // Of the function being added.
  llvm::DenseMap<Value, BufferRef> places;
  llvm::DenseMap<Value, uint32_t> outputs; ///< kernel results that outputs are views of
};

} // namespace

// The module

LogicalResult ProgramBuilder::addTarget() {
  auto phase = module->getAttrOfType<PhaseAttr>(TenonDialect::phaseAttrName);
  if (!phase || phase.getValue() != Phase::Planned)
    return module.emitError("expects a planned module");
  auto target = module->getAttrOfType<TargetAttr>(TenonDialect::targetAttrName);
  if (!target)
    return module.emitError("expects a module with a target");
  program.target = target.getName().str();
  program.device = stringifyDeviceKind(target.getDevice()).str();
  for (auto feature : target.getFeatures().getAsRange<StringAttr>())
    program.features.push_back(feature.str());
  return success();
}

void ProgramBuilder::addModel() {
  auto model = module->getAttrOfType<ModelAttr>(TenonDialect::modelAttrName);
  if (!model)
    return;
  program.model = {model.getArchitecture().str(), model.getName().str(), model.getVocabulary(),
                   model.getContextLength(), model.getSequences()};
  for (auto state : module.getOps<StateOp>()) {
    auto type = llvm::cast<StateType>(state.getType());
    if (type.getLayout().getKind() != StateLayout::Paged)
      continue;
    KvCache cache(type);
    program.model->pages = cache.pages, program.model->pagePositions = cache.page;
  }
}

std::string ProgramBuilder::useEncoding(Type elementType) {
  const Encoding& encoding = *getEncoding(elementType);
  std::string name(encoding.name);
  if (llvm::none_of(program.encodings, [&](const auto& info) { return info.name == name; }))
    program.encodings.push_back({name, static_cast<uint32_t>(encoding.blockSize),
                                 static_cast<uint32_t>(encoding.blockBytes)});
  return name;
}

/// Sets encoding, shape and bytes of a constant, state or port to those of `type`, a tensor or
/// state.
template <typename T> void ProgramBuilder::describe(T& value, Type type) {
  RankedTensorType tensor = getTensorType(type);
  value.encoding = useEncoding(tensor.getElementType());
  value.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  value.bytes = *getStorageBytes(tensor);
}

void ProgramBuilder::addFile(FileOp file) {
  files[file.getSymName()] = program.files.size();
  program.files.push_back({file.getPath().str(), file.getBytes(), file.getFingerprint()});
}

void ProgramBuilder::addWeight(WeightOp weight) {
  weights[weight.getSymName()] = program.constants.size();
  runtime::Constant& constant = program.constants.emplace_back();
  constant.name = weight.getSymName().str();
  describe(constant, weight.getType());
  std::vector<runtime::FileRange> ranges;
  for (auto range : weight.getRanges().getAsRange<RangeAttr>())
    ranges.push_back({files.at(range.getFile().getValue()),
                      static_cast<uint64_t>(range.getOffset()),
                      static_cast<uint64_t>(range.getBytes())});
  constant.source = std::move(ranges);
  constant.transposed = weight.getTransposed();
}

void ProgramBuilder::addState(StateOp state) {
  states[state.getSymName()] = program.states.size();
  runtime::State& added = program.states.emplace_back();
  added.name = state.getSymName().str();
  describe(added, state.getType());
}

/// The elements of a constant of integers, little-endian; a bool in a byte.
static std::vector<std::byte> bytesOf(ConstantOp op) {
  std::vector<std::byte> bytes;
  int64_t elementBytes = getEncoding(op.getType().getElementType())->blockBytes;
  for (const APInt& element : op.getValue().getValues<APInt>()) {
    uint64_t number = element.getZExtValue();
    for (int64_t i = 0; i < elementBytes; ++i)
      bytes.push_back(static_cast<std::byte>(number >> 8 * i));
  }
  return bytes;
}

/// The index of an embedded constant, one for each distinct value.
uint32_t ProgramBuilder::constantFor(ConstantOp op) {
  auto [found, isNew] = constants.try_emplace(op.getValueAttr(), program.constants.size());
  if (!isNew)
    return found->second;
  runtime::Constant& constant = program.constants.emplace_back();
  constant.name = "constant" + std::to_string(found->second);
  describe(constant, op.getType());
  if (op.getType().getElementType().isInteger()) {
    constant.source = runtime::SharedBytes(bytesOf(op));
    return found->second;
  }
  ReferenceTensor tensor(llvm::cast<RankedTensorType>(op.getType()));
  for (auto [value, element] :
       llvm::zip_equal(tensor.getValues(), op.getValue().getValues<APFloat>()))
    value = element.convertToDouble();
  constant.source = runtime::SharedBytes(tensor.encode());
  return found->second;
}

// Functions

/// The port of an argument or result with `attributes`, which may be null.
runtime::Port ProgramBuilder::portFor(Type type, DictionaryAttr attributes, std::string otherwise) {
  NamedAttrList known(attributes);
  runtime::Port port;
  describe(port, type);
  auto name = llvm::dyn_cast_or_null<StringAttr>(known.get(TenonDialect::portAttrName));
  port.name = name ? name.str() : std::move(otherwise);
  if (auto role = llvm::dyn_cast_or_null<PortRoleAttr>(known.get(TenonDialect::roleAttrName)))
    port.role = static_cast<runtime::PortRole>(role.getValue());
  return port;
}

/// Notes which kernel results are written to outputs directly.
LogicalResult ProgramBuilder::placeOutputs(func::FuncOp function) {
  Operation* terminator = function.getBody().front().getTerminator();
  for (OpOperand& output : terminator->getOpOperands()) {
    Value source = getViewSource(output.get());
    auto kernel = source.getDefiningOp<KernelOp>();
    if (!kernel || !outputs.try_emplace(source, output.getOperandNumber()).second)
      return terminator->emitOpError("expects output #")
             << output.getOperandNumber() << " to be a view of a kernel result of its own";
  }
  return success();
}

/// The kernel operand whose state result `index` is; null if there is none.
static Value stateOperand(KernelOp kernel, unsigned index) {
  Value inner = kernel.getYield().getValues()[index];
  while (auto write = inner.getDefiningOp<KvWriteOp>())
    inner = write.getState();
  auto argument = llvm::dyn_cast<BlockArgument>(inner);
  return argument ? kernel.getInputs()[argument.getArgNumber()] : Value();
}

LogicalResult ProgramBuilder::placeResult(KernelOp kernel, unsigned index) {
  OpResult result = kernel->getResult(index);
  if (llvm::isa<StateType>(result.getType())) {
    Value state = stateOperand(kernel, index);
    if (!state)
      return kernel.emitOpError("expects result #")
             << index << " to be a state that the kernel was given";
    places[result] = BufferRef(places.at(state)); // a copy: the map may grow
    return success();
  }
  uint64_t bytes = *getStorageBytes(result.getType());
  auto buffer = llvm::dyn_cast<BufferAttr>(kernel.getBuffersAttr()[index]);
  auto output = outputs.find(result);
  if (bool(buffer) == (output != outputs.end()))
    return kernel.emitOpError("expects a buffer for each result that is neither a state nor an "
                              "output, and for no other; found otherwise for result #")
           << index;
  places[result] =
      buffer ? BufferRef{Space::Workspace, 0, static_cast<uint64_t>(buffer.getOffset()), bytes}
             : BufferRef{Space::Output, output->second, 0, bytes};
  return success();
}

/// The operations of a region, `rms_norm+matmul`, after the location's name where it has one.
static std::string stepName(KernelOp kernel) {
  std::string name;
  if (auto location = kernel.getLoc()->findInstanceOf<NameLoc>())
    name = location.getName().str() + ": ";
  llvm::raw_string_ostream stream(name);
  llvm::interleave(
      kernel.getBlock().without_terminator(), stream,
      [&](Operation& op) { stream << op.getName().stripDialect(); }, "+");
  return name;
}

/// Notes what the code of `kernel` is made for; equal kernels agree in it.
void ProgramBuilder::describeKernel(KernelOp kernel, const runtime::Step& step) {
  if (program.kernels.size() <= step.kernel)
    program.kernels.resize(step.kernel + 1);
  runtime::Kernel& described = program.kernels[step.kernel];
  described.tiles = step.tiles;
  described.args.clear();
  for (const BufferRef& ref : step.args) {
    size_t index = described.args.size();
    runtime::Access access = runtime::Access::Write;
    if (index < kernel.getInputs().size())
      access = llvm::isa<StateType>(kernel.getInputs()[index].getType())
                   ? runtime::Access::ReadWrite
                   : runtime::Access::Read;
    described.args.push_back({ref.bytes, access});
  }
}

LogicalResult ProgramBuilder::addStep(KernelOp kernel, runtime::Function& target) {
  if (!kernel.getScheduleAttr() || !kernel.getBuffersAttr())
    return kernel.emitOpError("expects a schedule and buffers in a planned module");
  runtime::Step step;
  step.kernel = kernelIndex(kernel);
  step.tiles = kernel.getScheduleAttr().getTiles();
  step.name = stepName(kernel);
  for (Value input : kernel.getInputs())
    step.args.push_back(places.at(input));
  for (OpResult result : kernel->getResults()) {
    if (failed(placeResult(kernel, result.getResultNumber())))
      return failure();
    if (!llvm::isa<StateType>(result.getType()))
      step.args.push_back(places.at(result));
  }
  describeKernel(kernel, step);
  target.steps.push_back(std::move(step));
  return success();
}

LogicalResult ProgramBuilder::addOperation(Operation& op, runtime::Function& target) {
  auto place = [&](Value value, Space space, uint32_t index) {
    places[value] = {space, index, 0, static_cast<uint64_t>(*getStorageBytes(value.getType()))};
    return success();
  };
  if (auto weight = llvm::dyn_cast<GetWeightOp>(op))
    return place(weight, Space::Constant, weights.at(weight.getWeight()));
  if (auto state = llvm::dyn_cast<GetStateOp>(op))
    return place(state, Space::State, states.at(state.getState()));
  if (auto constant = llvm::dyn_cast<ConstantOp>(op))
    return place(constant, Space::Constant, constantFor(constant));
  if (isView(&op)) {
    places[op.getResult(0)] = BufferRef(places.at(getViewSource(op.getResult(0))));
    return success();
  }
  if (auto kernel = llvm::dyn_cast<KernelOp>(op))
    return addStep(kernel, target);
  return op.emitOpError("expects to be inside a kernel in a planned module");
}

/// Adds the function with its ports.
LogicalResult ProgramBuilder::addSignature(func::FuncOp function) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return function.emitOpError("expects a body of one block");
  for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
    if (!llvm::isa<RankedTensorType>(type) || !getStorageBytes(type))
      return function.emitOpError("expects arguments and results that are tensors of static shape, "
                                  "but got ")
             << type;
  runtime::Function& added = program.functions.emplace_back();
  added.name = function.getSymName().str();
  if (auto entry = function->getAttrOfType<EntryAttr>(TenonDialect::entryAttrName)) {
    added.role = static_cast<runtime::Role>(entry.getRole());
    added.rows = entry.getRows();
  }
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    added.inputs.push_back(
        portFor(type, function.getArgAttrDict(index), "input" + std::to_string(index)));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    added.outputs.push_back(
        portFor(type, function.getResultAttrDict(index), "output" + std::to_string(index)));
  return success();
}

LogicalResult ProgramBuilder::addFunction(func::FuncOp function) {
  if (failed(addSignature(function)))
    return failure();
  places.clear(), outputs.clear();
  runtime::Function& added = program.functions.back();
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    places[argument] = {Space::Input, index, 0, added.inputs[index].bytes};
  }
  if (failed(placeOutputs(function)))
    return failure();
  for (Operation& op : function.getBody().front().without_terminator())
    if (failed(addOperation(op, added)))
      return failure();
  auto workspace = function->getAttrOfType<IntegerAttr>(TenonDialect::workspaceAttrName);
  if (!workspace || workspace.getInt() < 0)
    return function.emitOpError("expects its bytes of workspace in a planned module");
  program.workspaceBytes =
      std::max(program.workspaceBytes, static_cast<uint64_t>(workspace.getInt()));
  if (auto percent = function->getAttrOfType<IntegerAttr>(sharedPercentAttrName))
    added.sharedPercent = percent.getInt();
  return success();
}

LogicalResult ProgramBuilder::buildSignatures() {
  addModel();
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(addSignature(function)))
      return failure();
  return success();
}

LogicalResult ProgramBuilder::build() {
  if (failed(addTarget()))
    return failure();
  addModel();
  for (auto file : module.getOps<FileOp>())
    addFile(file);
  for (auto weight : module.getOps<WeightOp>())
    addWeight(weight);
  for (auto state : module.getOps<StateOp>())
    addState(state);
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(addFunction(function)))
      return failure();
  return success();
}

absl::StatusOr<runtime::Program> describeFunctions(ModuleOp module) {
  DiagnosticCollector diagnostics(module.getContext());
  ProgramBuilder builder(module, nullptr);
  if (failed(builder.buildSignatures()))
    return diagnostics.takeStatus();
  return builder.takeProgram();
}

absl::StatusOr<runtime::Program> buildProgram(ModuleOp module,
                                              llvm::function_ref<uint32_t(KernelOp)> kernelIndex) {
  DiagnosticCollector diagnostics(module.getContext());
  ProgramBuilder builder(module, kernelIndex);
  if (failed(builder.build()))
    return diagnostics.takeStatus();
  return builder.takeProgram();
}

} // namespace tenon::codegen
