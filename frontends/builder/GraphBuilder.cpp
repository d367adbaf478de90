#include "frontends/builder/GraphBuilder.h"

#include "absl/strings/str_format.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Verifier.h"

#include "support/Diagnostics.h"

using namespace mlir;

namespace tenon::frontends {

/// Loads what the modules consist of.
static MLIRContext& loadDialects(MLIRContext& context) {
  context.loadDialect<TenonDialect, func::FuncDialect>();
  return context;
}

llvm::ArrayRef<int64_t> Value::getShape() const {
  if (!value)
    return {};
  return value.getType().getShape();
}

Type Value::getElementType() const { return value ? value.getType().getElementType() : Type(); }

GraphBuilder::GraphBuilder(MLIRContext& context, Type activationType)
    : builder(&loadDialects(context)), activationType(activationType),
      module(ModuleOp::create(builder.getUnknownLoc())) {
  if (!activationType.isF32() && !activationType.isF16() && !activationType.isBF16())
    fail(absl::InvalidArgumentError("graph builder: expects activations of f32, f16 or bf16, but "
                                    "got " +
                                    detail::formatType(activationType)));
  (*module)->setAttr(TenonDialect::phaseAttrName, PhaseAttr::get(&context, Phase::Input));
}

void GraphBuilder::fail(absl::Status error) {
  if (status.ok())
    status = std::move(error);
}

absl::StatusOr<OwningOpRef<ModuleOp>> GraphBuilder::finish() {
  if (status.ok() && function)
    fail(absl::FailedPreconditionError(
        absl::StrFormat("graph builder: expects endFunction before finish, but '%s' is open",
                        function.getSymName().str())));
  if (!isOpen())
    return status;
  DiagnosticCollector diagnostics(builder.getContext());
  if (failed(verify(*module)))
    fail(diagnostics.takeStatus());
  if (!status.ok())
    return status;
  return std::move(module);
}

//===-- Module level ------------------------------------------------------------------------===//

bool GraphBuilder::isOpen() {
  if (!module)
    fail(absl::FailedPreconditionError("graph builder: expects no calls after finish"));
  return status.ok();
}

bool GraphBuilder::canDeclare(std::string_view name) {
  if (!isOpen())
    return false;
  if (name.empty())
    fail(absl::InvalidArgumentError("graph builder: expects a name, but got an empty string"));
  else if (hasSymbol(name))
    fail(absl::InvalidArgumentError(
        absl::StrFormat("graph builder: expects symbols to differ, but got '%s' twice", name)));
  return status.ok();
}

bool GraphBuilder::hasSymbol(std::string_view name) const { return symbols.contains(name); }

/// Symbols come before the functions, in the order of their declaration.
void GraphBuilder::insertSymbol(Operation* op) {
  Block& body = *module->getBody();
  body.getOperations().insert(firstFunction ? Block::iterator(firstFunction) : body.end(), op);
  symbols[SymbolTable::getSymbolName(op)] = op;
}

RankedTensorType GraphBuilder::tensorType(llvm::ArrayRef<int64_t> shape, Type elementType,
                                          const std::string& what) {
  for (int64_t extent : shape)
    if (extent < 0) {
      fail(absl::InvalidArgumentError(absl::StrFormat(
          "%s: expects lengths of zero or more, but got an axis of %d", what, extent)));
      return {};
    }
  if (!elementType || !getEncoding(elementType)) {
    fail(absl::InvalidArgumentError(
        absl::StrFormat("%s: expects an element type with an encoding, but got %s", what,
                        elementType ? detail::formatType(elementType) : std::string("none"))));
    return {};
  }
  return RankedTensorType::get(shape, elementType);
}

void GraphBuilder::setModel(const ModelDescription& model) {
  if (!isOpen())
    return;
  DiagnosticCollector diagnostics(builder.getContext());
  auto attribute = ModelAttr::getChecked(
      [&] { return emitError(builder.getUnknownLoc()); }, builder.getContext(),
      builder.getStringAttr(model.architecture), builder.getStringAttr(model.name),
      FlatSymbolRefAttr::get(builder.getContext(), model.file), model.vocabulary,
      model.contextLength, model.sequences);
  if (!attribute)
    return fail(diagnostics.takeStatus());
  (*module)->setAttr(TenonDialect::modelAttrName, attribute);
}

void GraphBuilder::declareFile(std::string_view name, std::string_view path, uint64_t bytes,
                               uint64_t fingerprint) {
  if (!canDeclare(name))
    return;
  OpBuilder detached(builder.getContext());
  insertSymbol(FileOp::create(detached, locate({.name = name}), name, path, bytes, fingerprint));
}

void GraphBuilder::declareWeight(std::string_view name, llvm::ArrayRef<int64_t> shape,
                                 Type elementType, llvm::ArrayRef<WeightRange> ranges) {
  if (!canDeclare(name))
    return;
  RankedTensorType type = tensorType(shape, elementType, std::string(name));
  if (!type)
    return;
  DiagnosticCollector diagnostics(builder.getContext());
  llvm::SmallVector<Attribute> attributes;
  for (const WeightRange& range : ranges) {
    auto attribute = RangeAttr::getChecked(
        [&] { return emitError(locate({.name = name})); }, builder.getContext(),
        FlatSymbolRefAttr::get(builder.getContext(), range.file), range.offset, range.bytes);
    if (!attribute)
      return fail(diagnostics.takeStatus());
    attributes.push_back(attribute);
  }
  OpBuilder detached(builder.getContext());
  insertSymbol(WeightOp::create(detached, locate({.name = name}), name, type,
                                builder.getArrayAttr(attributes)));
}

void GraphBuilder::declareState(std::string_view name, llvm::ArrayRef<int64_t> shape,
                                Type elementType, StateLayoutAttr layout) {
  if (!canDeclare(name))
    return;
  if (!layout)
    layout = StateLayoutAttr::get(builder.getContext(), StateLayout::Dense, /*kept=*/0);
  DiagnosticCollector diagnostics(builder.getContext());
  Location loc = locate({.name = name});
  auto type = StateType::getChecked([&] { return emitError(loc); }, builder.getContext(), shape,
                                    elementType ? elementType : activationType, layout);
  if (!type)
    return fail(diagnostics.takeStatus());
  OpBuilder detached(builder.getContext());
  insertSymbol(StateOp::create(detached, loc, name, type));
}

//===-- Functions ---------------------------------------------------------------------------===//

void GraphBuilder::beginFunction(std::string_view name, Role role, int64_t rows) {
  if (!canDeclare(name))
    return;
  if (function)
    return fail(absl::FailedPreconditionError(
        absl::StrFormat("graph builder: expects endFunction before function '%s', but '%s' is open",
                        name, function.getSymName().str())));
  DiagnosticCollector diagnostics(builder.getContext());
  Location loc = locate({.name = name});
  auto entry =
      EntryAttr::getChecked([&] { return emitError(loc); }, builder.getContext(), role, rows);
  if (!entry)
    return fail(diagnostics.takeStatus());
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(builder, loc, name, builder.getFunctionType({}, {}));
  function->setAttr(TenonDialect::entryAttrName, entry);
  if (!firstFunction)
    firstFunction = function;
  symbols[name] = function;
  builder.setInsertionPointToStart(function.addEntryBlock());
}

/// The attributes of an argument or result named `name`.
static DictionaryAttr portAttributes(OpBuilder& builder, std::string_view name,
                                     std::optional<PortRole> role) {
  NamedAttrList attributes;
  attributes.set(TenonDialect::portAttrName, builder.getStringAttr(name));
  if (role)
    attributes.set(TenonDialect::roleAttrName, PortRoleAttr::get(builder.getContext(), *role));
  return attributes.getDictionary(builder.getContext());
}

Value GraphBuilder::input(std::string_view name, llvm::ArrayRef<int64_t> shape, Type elementType,
                          std::optional<PortRole> role) {
  if (!canEmit())
    return {};
  RankedTensorType type =
      tensorType(shape, elementType ? elementType : activationType,
                 absl::StrFormat("%s: input '%s'", function.getSymName().str(), name));
  if (!type)
    return {};
  unsigned index = function.getNumArguments();
  [[maybe_unused]] LogicalResult inserted = function.insertArgument(
      index, type, portAttributes(builder, name, role), locate({.name = name}));
  assert(succeeded(inserted) && "functions take any type");
  return Value(llvm::cast<TypedValue<RankedTensorType>>(function.getArgument(index)));
}

void GraphBuilder::output(std::string_view name, Value value, std::optional<PortRole> role) {
  if (!canEmit())
    return;
  if (!value)
    return fail(absl::InvalidArgumentError(
        absl::StrFormat("%s: output '%s' expects a value, but got an empty one",
                        function.getSymName().str(), name)));
  outputs.push_back(value.get());
  outputAttributes.push_back(portAttributes(builder, name, role));
}

void GraphBuilder::endFunction() {
  if (!canEmit())
    return;
  func::ReturnOp::create(builder, locate({}), outputs);
  function.setType(
      builder.getFunctionType(function.getArgumentTypes(), ValueRange(outputs).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(outputAttributes));
  function = {};
  symbolValues.clear();
  outputs.clear();
  outputAttributes.clear();
}

GraphBuilder::Scope::Scope(GraphBuilder& builder, std::string_view name)
    : builder(builder), outerLength(builder.scopePath.size()) {
  if (!builder.scopePath.empty())
    builder.scopePath += '.';
  builder.scopePath += name;
}

GraphBuilder::Scope::~Scope() { builder.scopePath.resize(outerLength); }

bool GraphBuilder::canEmit() {
  if (!function)
    fail(absl::FailedPreconditionError(
        "graph builder: expects an open function, but none was begun"));
  return status.ok();
}

Location GraphBuilder::locate(const OpOptions& options) {
  std::string name = scopePath;
  if (!name.empty() && !options.name.empty())
    name += '.';
  name += options.name;
  if (name.empty() && function)
    return function.getLoc();
  return NameLoc::get(builder.getStringAttr(name));
}

} // namespace tenon::frontends
