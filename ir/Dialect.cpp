#include "ir/Dialect.h"

#include "ir/SharedPercent.h"
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

/// Whether results have that role; the others are of arguments.
static bool isOfResults(tenon::PortRole role) {
  switch (role) {
  case tenon::PortRole::Ids:
  case tenon::PortRole::Sequences:
  case tenon::PortRole::Positions:
  case tenon::PortRole::OutputRows:
  case tenon::PortRole::BlockTable:
    return false;
  case tenon::PortRole::Logits:
  case tenon::PortRole::NextIds:
  case tenon::PortRole::AcceptedIds:
  case tenon::PortRole::DraftIds:
  case tenon::PortRole::StepIds:
  case tenon::PortRole::StepPositions:
    return true;
  }
  llvm_unreachable("a role of ports");
}

/// A role stands where it belongs, on integers; logits are floats.
static LogicalResult verifyRole(Operation* op, Attribute value, bool isResult, Type type) {
  auto attribute = llvm::dyn_cast<tenon::PortRoleAttr>(value);
  if (!attribute)
    return op->emitOpError("expects a #tenon.port as 'tenon.role', but got ") << value;
  tenon::PortRole role = attribute.getValue();
  if (isOfResults(role) != isResult)
    return op->emitOpError("expects the role ")
           << tenon::stringifyPortRole(role) << " on " << (isResult ? "an argument" : "a result");
  auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  bool isLogits = role == tenon::PortRole::Logits;
  if (!tensor || tensor.getElementType().isInteger(32) == isLogits)
    return op->emitOpError("expects a tensor of ")
           << (isLogits ? "floats" : "i32") << " with the role " << tenon::stringifyPortRole(role)
           << ", but got " << type;
  return success();
}

/// An argument or a result takes a name and a role, and nothing else of the dialect.
static LogicalResult verifyPortAttribute(Operation* op, NamedAttribute attribute, bool isResult,
                                         unsigned index) {
  StringRef name = attribute.getName();
  auto function = llvm::dyn_cast<func::FuncOp>(op);
  if (function && name == tenon::TenonDialect::roleAttrName)
    return verifyRole(op, attribute.getValue(), isResult,
                      isResult ? function.getResultTypes()[index]
                               : function.getArgumentTypes()[index]);
  if (!function || name != tenon::TenonDialect::portAttrName)
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
  return verifyPortAttribute(op, attribute, /*isResult=*/false, argIndex);
}

LogicalResult tenon::TenonDialect::verifyRegionResultAttribute(Operation* op, unsigned regionIndex,
                                                               unsigned resultIndex,
                                                               NamedAttribute attribute) {
  return verifyPortAttribute(op, attribute, /*isResult=*/true, resultIndex);
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
  if (name == workspaceAttrName || name == sharedPercentAttrName)
    return verifyPlacement<IntegerAttr, func::FuncOp>(op, attribute, "an integer");
  return op->emitOpError("has an unknown attribute of the dialect: '") << name << "'";
}
