#include "codegen/cuda/RegionPrinter.h"

#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/WeightedVectors.h"
#include "kernels/regions/Regions.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

bool isPrintable(Operation* op) { return isElementOperation(*op); }

void RegionPrinter::moveTo(CodeWriter& writer, RowPosition where) {
  code = &writer;
  position = std::move(where);
  variables.clear();
}

/// The type of variables of the values of a tensor.
static const char* variableType(Type tensor) {
  return elementTypeOf(tensor).isInteger() ? "Int64" : "float";
}

/// The function that widens an element of a tensor.
static const char* widening(Type tensor) {
  return elementTypeOf(tensor).isInteger() ? "toInteger" : "toFloat";
}

/// The element of a tensor that the current row starts at, following the broadcast.
std::string RegionPrinter::rowOffset(RankedTensorType type) const {
  llvm::ArrayRef<int64_t> extents = type.getShape();
  if (flat || extents.size() <= 1)
    return "0";
  if (extents.drop_back() == shape.drop_back())
    return absl::StrFormat("(%s) * %d", position.row, extents.back());
  std::string offset;
  int64_t rowStride = 1, stride = extents.back();
  size_t lead = shape.size() - extents.size();
  for (size_t axis = shape.size() - 1; axis-- > lead;) {
    if (extents[axis - lead] != 1)
      offset += absl::StrFormat("%s(%s) / %d %% %d * %d", offset.empty() ? "" : " + ", position.row,
                                rowStride, shape[axis], stride);
    rowStride *= shape[axis];
    stride *= extents[axis - lead];
  }
  return offset.empty() ? "0" : offset;
}

/// True where a tensor has one element for a whole row.
bool RegionPrinter::isSingle(RankedTensorType type) const {
  return flat ? type.getNumElements() == 1 && ShapedType::getNumElements(shape) != 1
              : type.getRank() == 0 || type.getShape().back() == 1;
}

std::string RegionPrinter::address(BlockArgument argument) const {
  auto type = llvm::cast<RankedTensorType>(argument.getType());
  std::string row = context.pointer(argument) + " + " + rowOffset(type);
  return isSingle(type) ? row : row + " + " + position.column;
}

void RegionPrinter::load(BlockArgument argument, const std::string& variable) {
  std::string source = address(argument);
  if (isSingle(llvm::cast<RankedTensorType>(argument.getType()))) {
    code->unroll();
    code->format("for (int j = 0; j < %d; ++j)", width);
    code->format("  %s[j] = %s(*(%s));", variable, widening(argument.getType()), source);
  } else if (position.valid.empty()) {
    code->format("loadVector(%s, %s);", variable, source);
  } else {
    code->format("loadPart(%s, %s, %s);", variable, source, position.valid);
  }
}

RegionPrinter::Variable RegionPrinter::printLoad(BlockArgument argument) {
  auto type = llvm::cast<RankedTensorType>(argument.getType());
  if (isBlockQuantized(type.getElementType()))
    return printRow(argument, position.row, type);
  std::string name = newName();
  if (isSingle(type)) {
    code->format("const %s %s = %s(*(%s));", variableType(type), name, widening(type),
                 address(argument));
    return {name, false};
  }
  if (packs(type) && position.valid.empty())
    return widenPacked(name, absl::StrFormat("loadPacked<%d>(%s)", width, address(argument)));
  code->format("%s %s[%d];", variableType(type), name, width);
  load(argument, name);
  return {name, true};
}

/// Elements of row `row` of a table of any encoding.
RegionPrinter::Variable RegionPrinter::printRow(Value table, const std::string& row,
                                                RankedTensorType type) {
  std::string name = newName(), pointer = context.pointer(table);
  code->format("float %s[%d];", name, width);
  Type element = type.getElementType();
  if (position.valid.empty() || isBlockQuantized(element))
    code->format("decodeRow<%s>(%s, %s, %s, %d, %s);", deviceType(element), name, pointer, row,
                 type.getShape().back(), position.column);
  else
    code->format("loadPart(%s, %s + (%s) * %d + %s, %s);", name, pointer, row,
                 type.getShape().back(), position.column, position.valid);
  return {name, true};
}

/// An id outside the table gives zeros: a row that exists is read and not used.
RegionPrinter::Variable RegionPrinter::printEmbedding(EmbeddingOp op) {
  RankedTensorType table = op.getTable().getType();
  std::string id = newName(), type = deviceType(elementTypeOf(op.getIds().getType()));
  if (auto known = ids.find(op.getIds()); known != ids.end())
    code->format("const %s %s = %s;", type, id, known->second);
  else
    code->format("const %s %s = %s[%s];", type, id, context.pointer(op.getIds()), position.row);
  code->format("const bool %s_exists = %s >= 0 && %s < %d;", id, id, id, table.getShape()[0]);
  Variable row = printRow(
      op.getTable(), absl::StrFormat("static_cast<long long>(%s_exists ? %s : 0)", id, id), table);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", width);
  code->format("  %s[j] = %s_exists ? roundTo<%s>(%s[j]) : 0.0f;", row.name, id,
               deviceType(op.getType().getElementType()), row.name);
  return row;
}

RegionPrinter::Variable RegionPrinter::printWeightedSum(WeightedSumOp op) {
  llvm::ArrayRef<int64_t> extents = op.getInput().getType().getShape();
  std::string name = newName(), input = context.pointer(op.getInput());
  std::string pair = absl::StrFormat("((%s) * %d + vector)", position.row, extents[1]);
  std::string source =
      absl::StrFormat("%s + %s * %d + %s", input, pair, extents[2], position.column);
  std::string load = position.valid.empty()
                         ? absl::StrFormat("loadVector(x, %s);", source)
                         : absl::StrFormat("loadPart(x, %s, %s);", source, position.valid);
  std::string weight = absl::StrFormat("toFloat(%s[%s])", context.pointer(op.getWeights()), pair);
  WeightedVectors vectors = {extents[1], width, /*unrolled=*/8, load, weight};
  vectors.printSum(*code, name);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", width);
  code->format("  %s[j] = roundTo<%s>(%s[j]);", name, deviceType(op.getType().getElementType()),
               name);
  return {name, true};
}

RegionPrinter::Variable RegionPrinter::printConstant(ConstantOp op) {
  Type element = op.getType().getElementType();
  if (element.isInteger()) {
    APInt value = llvm::cast<DenseElementsAttr>(op.getValue()).getSplatValue<APInt>();
    return {integerLiteral(element.isInteger(1) ? static_cast<int64_t>(value.getZExtValue())
                                                : value.getSExtValue()),
            false};
  }
  APFloat value = llvm::cast<DenseElementsAttr>(op.getValue()).getSplatValue<APFloat>();
  return {floatLiteral(static_cast<float>(value.convertToDouble())), false};
}

/// True where values of that type are kept packed.
bool RegionPrinter::packs(Type type) const {
  Type element = elementTypeOf(type);
  return keepsPacked && width % 2 == 0 && llvm::isa<FloatType>(element) &&
         elementBytes(element) == 2;
}

/// The array `name` beside its `Packed`, which is `expression`.
RegionPrinter::Variable RegionPrinter::widenPacked(const std::string& name,
                                                   const std::string& expression) {
  std::string packed = name + "_packed";
  code->format("const auto %s = %s;", packed, expression);
  code->format("float %s[%d];", name, width);
  code->format("widen(%s, %s);", name, packed);
  return {name, true, packed};
}

/// A sum of two packed values as an expression; empty where `op` is none.
FailureOr<std::string> RegionPrinter::printPackedSum(Operation* op) {
  if (!llvm::isa<AddOp>(op) || !packs(op->getResult(0).getType()))
    return std::string();
  llvm::SmallVector<std::string> terms;
  for (Value operand : op->getOperands()) {
    FailureOr<Variable> variable = print(operand);
    if (failed(variable))
      return failure();
    if (variable->packed.empty() ||
        elementTypeOf(operand.getType()) != elementTypeOf(op->getResult(0).getType()))
      return std::string();
    terms.push_back(variable->packed);
  }
  return absl::StrFormat("addPacked(%s, %s)", terms[0], terms[1]);
}

FailureOr<RegionPrinter::Variable> RegionPrinter::printElementwise(ElementwiseOpInterface op) {
  FailureOr<std::string> sum = printPackedSum(op);
  if (failed(sum))
    return failure();
  if (!sum->empty())
    return widenPacked(newName(), *sum);
  bool isArray = false;
  llvm::SmallVector<std::string> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Variable> variable = print(operand);
    if (failed(variable))
      return failure();
    isArray |= variable->isArray;
    operands.push_back(variable->isArray ? variable->name + "[j]" : variable->name);
  }
  std::string name = newName();
  auto type = llvm::cast<RankedTensorType>(op->getResult(0).getType());
  bool isPacked = isArray && packs(type);
  std::string element = deviceType(type.getElementType());
  bool isRounded = !type.getElementType().isF32() && !type.getElementType().isInteger(64);
  std::string function = type.getElementType().isInteger() ? "wrapTo<" : "roundTo<";
  std::string rounding = isPacked || !isRounded ? "" : function + element + ">";
  std::string rounded = name;
  if (isPacked)
    name += "_exact";
  if (isArray) {
    code->format("%s %s[%d];", variableType(type), name, width);
    code->unroll();
    code->openFormat("for (int j = 0; j < %d; ++j)", width);
  }
  FailureOr<std::string> result = printScalarBody(op, operands, name, *code);
  if (failed(result))
    return failure();
  if (isArray) {
    code->format("%s[j] = %s(%s);", name, rounding, *result);
    code->close();
  } else {
    code->format("const %s %s = %s(%s);", variableType(type), name, rounding, *result);
  }
  if (isPacked)
    return widenPacked(rounded, absl::StrFormat("pack<%s>(%s)", element, name));
  return Variable{name, isArray};
}

FailureOr<RegionPrinter::Variable> RegionPrinter::print(Value value) {
  if (auto known = variables.find(value); known != variables.end())
    return known->second;
  Variable variable;
  if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
    variable = printLoad(argument);
  } else if (auto op = value.getDefiningOp<ElementwiseOpInterface>()) {
    FailureOr<Variable> printed = printElementwise(op);
    if (failed(printed))
      return failure();
    variable = *printed;
  } else if (auto embedding = value.getDefiningOp<EmbeddingOp>()) {
    variable = printEmbedding(embedding);
  } else if (auto sum = value.getDefiningOp<WeightedSumOp>()) {
    variable = printWeightedSum(sum);
  } else if (auto dequantize = value.getDefiningOp<DequantizeOp>()) {
    variable = printRow(dequantize.getInput(), position.row, dequantize.getInput().getType());
  } else if (auto constant = value.getDefiningOp<ConstantOp>()) {
    variable = printConstant(constant);
  } else {
    return value.getDefiningOp()->emitOpError("expects to be the hero of its kernel, or an "
                                              "operation of which a thread needs one element");
  }
  variables[value] = variable;
  return variable;
}

FailureOr<std::string> RegionPrinter::element(Value value) {
  FailureOr<Variable> variable = print(value);
  if (failed(variable))
    return failure();
  return variable->isArray ? variable->name + "[j]" : variable->name;
}

FailureOr<std::string> RegionPrinter::packed(Value value) {
  FailureOr<Variable> variable = print(value);
  if (failed(variable))
    return failure();
  if (!variable->packed.empty())
    return variable->packed;
  return absl::StrFormat("pack<%s>(%s)", deviceType(elementTypeOf(value.getType())),
                         asArray(*variable, value.getType()));
}

/// The name of an array of a variable's elements.
std::string RegionPrinter::asArray(const Variable& variable, Type tensor) {
  if (variable.isArray)
    return variable.name;
  std::string name = newName();
  code->format("%s %s[%d];", variableType(tensor), name, width);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", width);
  code->format("  %s[j] = %s;", name, variable.name);
  return name;
}

/// Offers the elements at this position to the search for the largest of their rows.
LogicalResult RegionPrinter::offer(ArgmaxOp op) {
  FailureOr<std::string> value = element(op.getInput());
  if (failed(value))
    return failure();
  std::string name = newName();
  code->format("float %s[%d];", name, width);
  code->unroll();
  code->format("for (int j = 0; j < %d; ++j)", width);
  code->format("  %s[j] = %s;", name, *value);
  code->format("largest.offer(%s, %s, %s, %s);", position.row, position.column, name,
               position.valid.empty() ? std::to_string(width) : position.valid);
  return success();
}

LogicalResult RegionPrinter::store(Value value) {
  if (auto argmax = value.getDefiningOp<ArgmaxOp>())
    return offer(argmax);
  FailureOr<Variable> variable = print(value);
  if (failed(variable))
    return failure();
  std::string name = asArray(*variable, value.getType());
  auto type = llvm::cast<RankedTensorType>(value.getType());
  for (const std::string& pointer : context.destinations(value)) {
    std::string target = pointer + " + " + rowOffset(type) + " + " + position.column;
    if (!position.valid.empty())
      code->format("storePart(%s, %s, %s);", target, name, position.valid);
    else if (!variable->packed.empty())
      code->format("storePacked(%s, %s);", target, variable->packed);
    else
      code->format("storeVector(%s, %s);", target, name);
  }
  return success();
}

} // namespace tenon::codegen::cuda
