#include "tests/fuzz/ModuleMutator.h"

#include "ir/Dialect.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "support/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace tenon::fuzz {

ModuleMutator::ModuleMutator(ModuleOp module, std::mt19937& random)
    : module(module), random(random) {}

std::vector<Operation*> ModuleMutator::listOperations() {
  std::vector<Operation*> operations;
  module->walk<WalkOrder::PreOrder>([&](Operation* op) { operations.push_back(op); });
  return operations;
}

void ModuleMutator::change() {
  using Change = void (ModuleMutator::*)(Operation*);
  std::vector<Operation*> operations = listOperations();
  Change change = pick<Change>(
      {&ModuleMutator::changeOneAttribute, &ModuleMutator::changeOneAttribute,
       &ModuleMutator::changeOneAttribute, &ModuleMutator::copyAttribute,
       &ModuleMutator::changeResultType, &ModuleMutator::changeArgumentType,
       &ModuleMutator::changeOperand, &ModuleMutator::moveOperation, &ModuleMutator::cloneOperation,
       &ModuleMutator::eraseOperation, &ModuleMutator::resizeEverywhere,
       &ModuleMutator::resizeEverywhere, &ModuleMutator::retypeEverywhere});
  (this->*change)(operations[below(operations.size())]);
}

//===-- Numbers, attributes, types ----------------------------------------------------------===//

int64_t ModuleMutator::changeNumber(int64_t number) {
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  if (below(3) == 0)
    return pick<int64_t>({0, 1, 2, 3, -1, 7, 16, 31, 33, 64, 1000, 65536, int64_t{1} << 31,
                          (int64_t{1} << 32) + 1, int64_t{1} << 40, int64_t{1} << 62, largest,
                          std::numeric_limits<int64_t>::min()});
  auto bits = static_cast<uint64_t>(number);
  return static_cast<int64_t>(pick<uint64_t>({bits + 1, bits - 1, bits * 2, bits / 2, 0 - bits}));
}

llvm::SmallVector<int64_t> ModuleMutator::changeShape(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> changed(shape);
  switch (below(4)) {
  case 0:
    changed.insert(changed.begin() + below(changed.size() + 1), below(4));
    break;
  case 1:
    if (!changed.empty())
      changed.erase(changed.begin() + below(changed.size()));
    break;
  default:
    if (changed.empty())
      break;
    int64_t& extent = changed[below(changed.size())];
    // A negative extent cannot be written down; dynamic ones can.
    extent = changeNumber(extent);
    if (extent < 0)
      extent = ShapedType::kDynamic;
  }
  return changed;
}

/// `state` with another shape, or as it is where there is no such type.
static StateType withShape(StateType state, llvm::ArrayRef<int64_t> shape) {
  auto location = UnknownLoc::get(state.getContext());
  auto changed = StateType::getChecked([&] { return emitError(location); }, state.getContext(),
                                       shape, state.getElementType());
  return changed ? changed : state;
}

Type ModuleMutator::changeElementType() {
  Builder builder(module.getContext());
  if (below(2) == 0)
    return parseType(pick<llvm::StringRef>({"!tenon.block<q8_0>", "!tenon.block<q6_k>"}),
                     builder.getContext());
  return pick<Type>({builder.getF32Type(), builder.getF16Type(), builder.getBF16Type(),
                     builder.getI32Type(), builder.getI64Type(), builder.getIndexType()});
}

Type ModuleMutator::changeType(Type type) {
  return llvm::TypeSwitch<Type, Type>(type)
      .Case<RankedTensorType>([&](RankedTensorType tensor) -> Type {
        if (below(3) == 0)
          return RankedTensorType::get(tensor.getShape(), changeElementType());
        return RankedTensorType::get(changeShape(tensor.getShape()), tensor.getElementType());
      })
      .Case<StateType>([&](StateType state) -> Type {
        if (below(3) == 0)
          return state.getTensorType();
        llvm::SmallVector<int64_t> shape = changeShape(state.getShape());
        for (int64_t& extent : shape)
          extent = std::max<int64_t>(extent, 1);
        return withShape(state, shape);
      })
      .Default([&](Type) { return changeElementType(); });
}

Attribute ModuleMutator::changeAttribute(Attribute attribute) {
  Builder builder(module.getContext());
  auto changeNumbers = [&](llvm::ArrayRef<int64_t> numbers) -> Attribute {
    return builder.getDenseI64ArrayAttr(changeShape(numbers));
  };
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case<IntegerAttr>([&](IntegerAttr value) -> Attribute {
        if (!value.getType().isInteger(64))
          return builder.getI64IntegerAttr(changeNumber(1));
        return builder.getI64IntegerAttr(changeNumber(value.getInt()));
      })
      .Case<FloatAttr>([&](FloatAttr) {
        return builder.getF64FloatAttr(pick<double>(
            {0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 1e-40, std::numeric_limits<double>::infinity(),
             std::numeric_limits<double>::quiet_NaN(), 30.0}));
      })
      .Case<DenseI64ArrayAttr>([&](DenseI64ArrayAttr numbers) { return changeNumbers(numbers); })
      .Case<TypeAttr>([&](TypeAttr type) { return TypeAttr::get(changeType(type.getValue())); })
      .Case<StringAttr>([&](StringAttr text) {
        return builder.getStringAttr(text.getValue().drop_back(text.empty() ? 0 : 1));
      })
      .Case<FlatSymbolRefAttr>([&](FlatSymbolRefAttr) {
        return FlatSymbolRefAttr::get(builder.getContext(), pick({"k", "v", "w", "missing"}));
      })
      .Case<ArrayAttr>([&](ArrayAttr array) -> Attribute {
        llvm::SmallVector<Attribute> elements(array.getValue());
        if (elements.empty())
          return builder.getArrayAttr({builder.getUnitAttr()});
        size_t index = below(elements.size());
        elements[index] = changeAttribute(elements[index]);
        if (below(4) == 0)
          elements.erase(elements.begin() + index);
        return builder.getArrayAttr(elements);
      })
      .Case<DictionaryAttr>([&](DictionaryAttr dictionary) -> Attribute {
        NamedAttrList entries(dictionary);
        if (entries.empty())
          return dictionary;
        NamedAttribute entry = entries.getAttrs()[below(dictionary.size())];
        entries.set(entry.getName(), changeAttribute(entry.getValue()));
        return entries.getDictionary(builder.getContext());
      })
      .Case<BufferAttr>([&](BufferAttr buffer) -> Attribute {
        auto changed =
            BufferAttr::getChecked([&] { return emitError(module.getLoc()); }, builder.getContext(),
                                   changeNumber(buffer.getOffset()),
                                   below(2) ? buffer.getBytes() : changeNumber(buffer.getBytes()));
        return changed ? Attribute(changed) : attribute;
      })
      .Case<ScheduleAttr>([&](ScheduleAttr schedule) -> Attribute {
        DictionaryAttr parameters = schedule.getParameters();
        if (parameters && below(2))
          parameters = llvm::cast<DictionaryAttr>(changeAttribute(parameters));
        auto changed = ScheduleAttr::getChecked([&] { return emitError(module.getLoc()); },
                                                builder.getContext(), schedule.getEmitter(),
                                                changeNumber(schedule.getTiles()), parameters);
        return changed ? Attribute(changed) : attribute;
      })
      .Case<OrderAttr>([&](OrderAttr order) -> Attribute {
        auto changed = OrderAttr::getChecked([&] { return emitError(module.getLoc()); },
                                             builder.getContext(), changeNumber(order.getChunk()),
                                             changeNumber(order.getLanes()), order.getTree());
        return changed ? Attribute(changed) : attribute;
      })
      .Default([&](Attribute) -> Attribute {
        return pick<Attribute>({builder.getUnitAttr(), builder.getI64IntegerAttr(3),
                                builder.getStringAttr("text"), builder.getArrayAttr({})});
      });
}

//===-- Changes to one operation ------------------------------------------------------------===//

/// Sets an attribute, unless it would leave a property of another type without a value: no text can
/// say that, and accessors do not expect it.
static void setAttribute(Operation* op, StringAttr name, Attribute value) {
  std::optional<Attribute> before = op->getInherentAttr(name);
  op->setAttr(name, value);
  if (before && *before && !op->getInherentAttr(name).value_or(Attribute()))
    op->setAttr(name, *before);
}

void ModuleMutator::changeOneAttribute(Operation* op) {
  DictionaryAttr attributes = op->getAttrDictionary();
  if (attributes.empty())
    return;
  NamedAttribute chosen = attributes.getValue()[below(attributes.size())];
  if (below(8) == 0 && op->getDiscardableAttr(chosen.getName()))
    op->removeAttr(chosen.getName());
  else
    setAttribute(op, chosen.getName(), changeAttribute(chosen.getValue()));
}

void ModuleMutator::copyAttribute(Operation* op) {
  std::vector<Operation*> operations = listOperations();
  DictionaryAttr attributes = operations[below(operations.size())]->getAttrDictionary();
  if (attributes.empty())
    return;
  NamedAttribute chosen = attributes.getValue()[below(attributes.size())];
  setAttribute(op, chosen.getName(), chosen.getValue());
}

void ModuleMutator::changeResultType(Operation* op) {
  if (op->getNumResults() == 0)
    return;
  Value result = op->getResult(below(op->getNumResults()));
  result.setType(changeType(result.getType()));
}

void ModuleMutator::changeArgumentType(Operation* op) {
  if (op->getNumRegions() == 0 || op->getRegion(0).empty())
    return;
  Block& block = op->getRegion(0).front();
  if (block.getNumArguments() == 0)
    return;
  BlockArgument argument = block.getArgument(below(block.getNumArguments()));
  argument.setType(changeType(argument.getType()));
  // A function whose text states no type, or whose type an earlier change has replaced, has none.
  auto function = llvm::dyn_cast<func::FuncOp>(op);
  if (!function || !function.getFunctionTypeAttr())
    return;
  auto type = llvm::dyn_cast<FunctionType>(function.getFunctionTypeAttr().getValue());
  if (type)
    function.setFunctionType(
        FunctionType::get(op->getContext(), block.getArgumentTypes(), type.getResults()));
}

Value ModuleMutator::pickValue(Operation* op) {
  llvm::SmallVector<Value> values(op->getBlock()->getArguments());
  for (Operation& other : *op->getBlock())
    llvm::append_range(values, other.getResults());
  return values.empty() ? Value() : values[below(values.size())];
}

void ModuleMutator::changeOperand(Operation* op) {
  if (op->getNumOperands() == 0)
    return;
  if (below(4) == 0)
    return op->eraseOperand(below(op->getNumOperands()));
  op->setOperand(below(op->getNumOperands()), pickValue(op));
}

void ModuleMutator::moveOperation(Operation* op) {
  if (op == module || op->hasTrait<OpTrait::IsTerminator>())
    return;
  Block& block = *op->getBlock();
  auto place = std::next(block.begin(), below(block.getOperations().size()));
  if (&*place != op)
    op->moveBefore(&block, place);
}

void ModuleMutator::cloneOperation(Operation* op) {
  if (op == module || op->hasTrait<OpTrait::IsTerminator>())
    return;
  Operation* copy = op->clone();
  op->getBlock()->getOperations().insertAfter(op->getIterator(), copy);
  if (op->getNumResults() != 0)
    op->getResult(0).replaceUsesWithIf(copy->getResult(0), [&](OpOperand& use) {
      return use.getOwner() != copy && below(2) == 0;
    });
}

void ModuleMutator::eraseOperation(Operation* op) {
  if (op == module || op->hasTrait<OpTrait::IsTerminator>())
    return;
  for (OpResult result : op->getResults()) {
    Value other = pickValue(op);
    if (!other || other.getDefiningOp() == op)
      return;
    result.replaceAllUsesWith(other);
  }
  op->erase();
}

//===-- Changes to all operations -----------------------------------------------------------===//

/// Applies `replace` to all types of the module; constants keep their values' types.
static void replaceTypes(ModuleOp module, llvm::function_ref<Type(Type)> replace) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type type) -> std::optional<Type> { return replace(type); });
  replacer.addReplacement([](DenseElementsAttr constant) {
    return std::make_pair(Attribute(constant), WalkResult::skip());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

void ModuleMutator::resizeEverywhere(Operation* op) {
  if (op->getNumResults() == 0)
    return;
  auto tensor = llvm::dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!tensor || tensor.getRank() == 0)
    return;
  int64_t before = tensor.getDimSize(below(tensor.getRank()));
  int64_t after = changeNumber(before);
  if (after < 1)
    return;
  auto resize = [&](llvm::ArrayRef<int64_t> shape) {
    llvm::SmallVector<int64_t> changed(shape);
    std::replace(changed.begin(), changed.end(), before, after);
    return changed;
  };
  replaceTypes(module, [&](Type type) -> Type {
    if (auto ranked = llvm::dyn_cast<RankedTensorType>(type))
      return RankedTensorType::get(resize(ranked.getShape()), ranked.getElementType());
    if (auto state = llvm::dyn_cast<StateType>(type))
      return withShape(state, resize(state.getShape()));
    return type;
  });
}

void ModuleMutator::retypeEverywhere(Operation* op) {
  Type before =
      pick<Type>({Float32Type::get(op->getContext()), Float16Type::get(op->getContext())});
  Type after = changeElementType();
  replaceTypes(module, [&](Type type) -> Type {
    auto ranked = llvm::dyn_cast<RankedTensorType>(type);
    if (!ranked || ranked.getElementType() != before)
      return type;
    return RankedTensorType::get(ranked.getShape(), after);
  });
}

std::string changeModule(std::string_view text, std::mt19937& random) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TenonDialect, func::FuncDialect>();
  DiagnosticCollector diagnostics(&context);
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = parseSourceString<ModuleOp>(std::string(text), config);
  std::string changed;
  if (!module)
    return changed;
  ModuleMutator mutator(*module, random);
  for (unsigned changes = 1 + random() % 3; changes > 0; --changes)
    mutator.change();
  llvm::raw_string_ostream stream(changed);
  module->print(stream);
  return changed;
}

} // namespace tenon::fuzz
