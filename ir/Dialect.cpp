#include "ir/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

#include "ir/TenonDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ir/TenonOps.cpp.inc"

void tenon::TenonDialect::initialize() {
  registerTypes();
  registerAttributes();
  registerOperations();
}

void tenon::TenonDialect::registerOperations() {
  addOperations<
#define GET_OP_LIST
#include "ir/TenonOps.cpp.inc"
      >();
}

Operation* tenon::TenonDialect::materializeConstant(OpBuilder& builder, Attribute value, Type type,
                                                    Location loc) {
  auto elements = llvm::dyn_cast<DenseElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, type, elements);
}

/// Checks that the attribute is an `AttrT` on an `OpT`.
template <typename AttrT, typename OpT>
static LogicalResult verifyPlacement(Operation* op, NamedAttribute attribute, StringRef expected) {
  if (!llvm::isa<OpT>(op))
    return op->emitOpError("does not take the attribute '") << attribute.getName().strref() << "'";
  if (!llvm::isa<AttrT>(attribute.getValue()))
    return op->emitOpError("expects ") << expected << " as '" << attribute.getName().strref()
                                       << "', but got " << attribute.getValue();
  return success();
}

/// An argument or a result takes a name and nothing else of the dialect.
static LogicalResult verifyPortAttribute(Operation* op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name != tenon::TenonDialect::portAttrName || !llvm::isa<func::FuncOp>(op))
    return op->emitOpError("has an argument or result with the attribute '")
           << name << "', which is none of the dialect's";
  if (!llvm::isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("expects a string as '")
           << name << "', but got " << attribute.getValue();
  return success();
}

LogicalResult tenon::TenonDialect::verifyRegionArgAttribute(Operation* op, unsigned regionIndex,
                                                            unsigned argIndex,
                                                            NamedAttribute attribute) {
  return verifyPortAttribute(op, attribute);
}

LogicalResult tenon::TenonDialect::verifyRegionResultAttribute(Operation* op, unsigned regionIndex,
                                                               unsigned resultIndex,
                                                               NamedAttribute attribute) {
  return verifyPortAttribute(op, attribute);
}

LogicalResult tenon::TenonDialect::verifyOperationAttribute(Operation* op,
                                                            NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == phaseAttrName)
    return verifyPlacement<PhaseAttr, ModuleOp>(op, attribute, "a #tenon.phase");
  if (name == targetAttrName)
    return verifyPlacement<TargetAttr, ModuleOp>(op, attribute, "a #tenon.target");
  if (name == modelAttrName)
    return verifyPlacement<ModelAttr, ModuleOp>(op, attribute, "a #tenon.model");
  if (name == quantizeAttrName)
    return verifyPlacement<UnitAttr, ModuleOp>(op, attribute, "a unit attribute");
  if (name == entryAttrName)
    return verifyPlacement<EntryAttr, func::FuncOp>(op, attribute, "a #tenon.entry");
  if (name == workspaceAttrName)
    return verifyPlacement<IntegerAttr, func::FuncOp>(op, attribute, "an integer");
  return op->emitOpError("has an unknown attribute of the dialect: '") << name << "'";
}
