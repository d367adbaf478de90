#include "ir/Interfaces.h"

#include <limits>

#include "ir/Types.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

#include "ir/TenonInterfaces.cpp.inc"

namespace tenon::detail {

/// The shape of a tensor or state.
static llvm::ArrayRef<int64_t> shapeOf(Type type) { return getTensorType(type).getShape(); }

std::string formatShape(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "[";
  llvm::interleaveComma(shape, stream);
  stream << "]";
  return text;
}

Work defaultWork(Operation* op) {
  Work work;
  if (op->getNumResults() > 0)
    if (auto tensor = llvm::dyn_cast<RankedTensorType>(op->getResult(0).getType()))
      work.flops = tensor.getNumElements();
  for (Type type : op->getOperandTypes())
    work.operandBytes.push_back(getStorageBytes(type).value_or(0));
  for (Type type : op->getResultTypes())
    work.resultBytes.push_back(getStorageBytes(type).value_or(0));
  return work;
}

Work copyWork(Operation* op) {
  Work work = defaultWork(op);
  work.flops = 0;
  return work;
}

int64_t saturatingProduct(llvm::ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors)
    if (llvm::MulOverflow(product, factor, product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

int64_t saturatingSum(llvm::ArrayRef<int64_t> terms) {
  int64_t sum = 0;
  for (int64_t term : terms)
    if (llvm::AddOverflow(sum, term, sum))
      return std::numeric_limits<int64_t>::max();
  return sum;
}

LogicalResult verifySameElementType(Operation* op) {
  Type result = getElementTypeOrSelf(op->getResult(0));
  for (Type type : op->getOperandTypes())
    if (getElementTypeOrSelf(type) != result)
      return op->emitOpError("expects a result of its input's element type, but got ")
             << type << " and " << op->getResult(0).getType();
  return success();
}

LogicalResult verifyRowIndices(std::optional<Location> location, llvm::StringRef opName,
                               int64_t rows, RankedTensorType sequences,
                               RankedTensorType positions) {
  bool matches = positions.getRank() == 1 && positions.getDimSize(0) == rows &&
                 sequences.getRank() == 1 &&
                 (sequences.getDimSize(0) == rows || sequences.getDimSize(0) == 1);
  if (matches)
    return success();
  return emitShapeError(location, opName,
                        "expects sequences [" + llvm::Twine(rows) + "] or [1] and positions [" +
                            llvm::Twine(rows) + "], but got " + formatType(sequences) + " and " +
                            formatType(positions));
}

LogicalResult verifyInferredShapes(Operation* op) {
  for (Type type : op->getOperandTypes())
    if (llvm::is_contained(shapeOf(type), 0))
      return op->emitOpError("expects positive extents, but got ") << type;
  for (Type type : op->getOperandTypes())
    if (!getStorageBytes(type))
      return op->emitOpError(
                 "expects rows that are whole blocks and sizes within 63 bits, but got ")
             << type;
  auto inferring = llvm::cast<InferShapedTypeOpInterface>(op);
  llvm::SmallVector<ShapedTypeComponents> shapes;
  if (failed(inferring.inferReturnTypeComponents(
          op->getContext(), op->getLoc(), op->getOperands(), op->getDiscardableAttrDictionary(),
          op->getPropertiesStorage(), op->getRegions(), shapes)))
    return failure();
  for (auto [index, result] : llvm::enumerate(op->getResults())) {
    llvm::ArrayRef<int64_t> expected = shapes[index].getDims();
    if (shapeOf(result.getType()) != expected)
      return op->emitOpError("expects result #")
             << index << " of shape " << formatShape(expected) << ", but got " << result.getType();
    if (!getStorageBytes(result.getType()))
      return op->emitOpError("expects a result size within 63 bits, but got ") << result.getType();
  }
  return success();
}

LogicalResult inferBroadcastShape(std::optional<Location> location, llvm::StringRef opName,
                                  ValueRange operands,
                                  llvm::SmallVectorImpl<ShapedTypeComponents>& shapes) {
  llvm::SmallVector<int64_t> shape;
  for (Value operand : operands) {
    llvm::ArrayRef<int64_t> extents = shapeOf(operand.getType());
    if (extents.size() > shape.size())
      shape.insert(shape.begin(), extents.size() - shape.size(), 1);
    size_t lead = shape.size() - extents.size();
    for (auto [axis, extent] : llvm::enumerate(extents)) {
      int64_t& common = shape[lead + axis];
      if (common == 1)
        common = extent;
      else if (extent != 1 && extent != common)
        return emitShapeError(location, opName,
                              "expects operands that broadcast, but got shapes " +
                                  formatShape(shapeOf(operands.front().getType())) + " and " +
                                  formatShape(extents));
    }
  }
  shapes.emplace_back(shape);
  return success();
}

/// Steps through a broadcast operand: the offset of element `index` (row-major in `shape`).
static int64_t broadcastOffset(int64_t index, llvm::ArrayRef<int64_t> shape,
                               llvm::ArrayRef<int64_t> operandShape) {
  if (shape == operandShape)
    return index;
  int64_t offset = 0, stride = 1;
  size_t lead = shape.size() - operandShape.size();
  for (size_t axis = shape.size(); axis-- > lead;) {
    int64_t coordinate = index % shape[axis];
    index /= shape[axis];
    int64_t extent = operandShape[axis - lead];
    if (extent != 1)
      offset += coordinate * stride;
    stride *= extent;
  }
  return offset;
}

/// True where the operation computes numbers of integers.
static bool isOfIntegers(Operation* op) {
  return op->hasTrait<OneKind>() && getElementTypeOrSelf(op->getResult(0)).isInteger();
}

/// One element of a result of integers, computed in 64 bits.
static double evaluateInteger(ElementwiseOpInterface op, llvm::ArrayRef<double> arguments) {
  llvm::SmallVector<int64_t> integers;
  for (double argument : arguments)
    integers.push_back(static_cast<int64_t>(argument));
  return static_cast<double>(
      wrapInteger(op.evaluateInteger(integers), getElementTypeOrSelf(op->getResult(0))));
}

void evaluateElementwise(Operation* op, llvm::ArrayRef<ReferenceTensor> operands,
                         llvm::MutableArrayRef<ReferenceTensor> results) {
  auto elementwise = llvm::cast<ElementwiseOpInterface>(op);
  bool ofIntegers = isOfIntegers(op);
  llvm::ArrayRef<int64_t> shape = results[0].getShape();
  std::vector<std::vector<double>> scratch(operands.size());
  llvm::SmallVector<llvm::ArrayRef<double>> inputs;
  for (auto [operand, storage] : llvm::zip_equal(operands, scratch))
    inputs.push_back(operand.getAll(storage));
  llvm::MutableArrayRef<double> values = results[0].getValues();
  llvm::SmallVector<double> arguments(operands.size());
  for (int64_t i = 0, e = values.size(); i < e; ++i) {
    for (auto [argument, operand, input] : llvm::zip_equal(arguments, operands, inputs))
      argument = input[broadcastOffset(i, shape, operand.getShape())];
    values[i] = ofIntegers ? evaluateInteger(elementwise, arguments)
                           : elementwise.evaluateElement(arguments);
  }
}

LogicalResult emitShapeError(std::optional<Location> location, llvm::StringRef opName,
                             const llvm::Twine& message) {
  return emitOptionalError(location, "'", opName, "' op ", message);
}

std::string formatType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Value buildSplat(OpBuilder& builder, Location loc, Type type, float value) {
  TypedAttr attribute = builder.getF32FloatAttr(value);
  if (auto vector = llvm::dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(builder, loc, attribute);
}

Value buildIntegerSplat(OpBuilder& builder, Location loc, Type type, int64_t value) {
  TypedAttr attribute = builder.getI64IntegerAttr(value);
  if (auto vector = llvm::dyn_cast<VectorType>(type))
    attribute = DenseElementsAttr::get(vector, value);
  return arith::ConstantOp::create(builder, loc, attribute);
}

Type computedType(Type elementType) {
  if (elementType.isInteger())
    return IntegerType::get(elementType.getContext(), 64);
  return Float32Type::get(elementType.getContext());
}

Type withElement(Type type, Type elementType) {
  if (auto vector = llvm::dyn_cast<VectorType>(type))
    return VectorType::get(vector.getShape(), elementType);
  return elementType;
}

int64_t wrapInteger(int64_t value, Type elementType) {
  if (elementType.isInteger(1))
    return value & 1;
  return elementType.isInteger(32) ? static_cast<int32_t>(value) : value;
}

LogicalResult verifyOneKind(Operation* op, TypeRange tensors) {
  Type first = getElementTypeOrSelf(tensors.front());
  for (Type type : tensors) {
    Type element = getElementTypeOrSelf(type);
    if (element == first || (llvm::isa<FloatType>(element) && llvm::isa<FloatType>(first)))
      continue;
    return op->emitOpError(
               "expects tensors that are all of floats, or all of one integer type, but "
               "got ")
           << tensors.front() << " and " << type;
  }
  return success();
}

} // namespace tenon::detail
