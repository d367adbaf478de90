#include "ir/ProductRegion.h"

#include "ir/Regions.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace tenon {

namespace {

/// Sorts the operations of a region into prologue, products and what joins them. Each step returns
/// what speaks against the region.
class RegionReader {
public:
  RegionReader(KernelOp kernel, ProductRegion& region) : kernel(kernel), region(region) {}

  std::string read();

private:
  std::string addProduct(MatmulOp op);
  std::string addOther(Operation& op);
  void collectGroups();
  std::string checkGroups();
  std::string checkPrologue();
  std::string checkElement(Operation& op, llvm::ArrayRef<int64_t> positions);

  KernelOp kernel;
  ProductRegion& region;
  llvm::SmallVector<MatmulOp> products;
  llvm::SmallVector<Operation*> prologue;
  llvm::EquivalenceClasses<Operation*> joined; ///< of products
  llvm::DenseMap<Value, Operation*> behind;    ///< a product that a value depends on
};

} // namespace

static llvm::ArrayRef<int64_t> shapeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getShape();
}

static Type elementOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getElementType();
}

static std::string nameOf(Operation& op) { return op.getName().stripDialect().str(); }

std::string RegionReader::addProduct(MatmulOp op) {
  if (!llvm::isa<BlockArgument>(op.getWeight()) || shapeOf(op.getWeight()).size() != 2)
    return "the emitter of several products reads each weight [N, K] from memory";
  if (behind.contains(op.getInput()))
    return "the emitter of several products has none that another one's input depends on";
  if (!products.empty() && (op.getInput() != products.front().getInput() ||
                            elementOf(op.getWeight()) != elementOf(products.front().getWeight())))
    return "the emitter of several products takes one input and weights of one element type";
  products.push_back(op);
  joined.insert(op);
  behind[op.getResult()] = op;
  return "";
}

std::string RegionReader::addOther(Operation& op) {
  Operation* product = nullptr;
  for (Value operand : op.getOperands())
    if (auto found = behind.find(operand); found != behind.end()) {
      if (product)
        joined.unionSets(product, found->second);
      product = found->second;
    }
  if (product) {
    if (!llvm::isa<ElementwiseOpInterface>(op))
      return "the emitter of products computes elementwise operations behind them, not " +
             nameOf(op);
    behind[op.getResult(0)] = product;
    return "";
  }
  prologue.push_back(&op);
  if (!llvm::isa<RmsNormOp, LayerNormOp>(op))
    return isElementOperation(op) ? ""
                                  : "the emitter of products computes operations on elements and "
                                    "norms before them, not " +
                                        nameOf(op);
  if (region.norm)
    return "the emitter of products computes one norm before them, not two";
  region.norm = &op;
  return "";
}

void RegionReader::collectGroups() {
  llvm::MapVector<Operation*, ProductRegion::Group> groups;
  for (MatmulOp product : products)
    groups[joined.getLeaderValue(product)].products.push_back(product);
  for (Value yielded : kernel.getYield().getValues()) {
    auto product = behind.find(yielded);
    if (product == behind.end()) {
      if (!llvm::is_contained(region.prologueYields, yielded))
        region.prologueYields.push_back(yielded);
      continue;
    }
    auto& yields = groups[joined.getLeaderValue(product->second)].yields;
    if (!llvm::is_contained(yields, yielded))
      yields.push_back(yielded);
  }
  for (auto& [leader, group] : groups) {
    group.firstLine = region.lines;
    group.columns = shapeOf(group.products.front().getWeight())[0];
    region.lines += group.columns;
    region.groups.push_back(std::move(group));
  }
}

/// Behind products: positions are those of their result.
std::string RegionReader::checkElement(Operation& op, llvm::ArrayRef<int64_t> positions) {
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  return shape == positions
             ? ""
             : "the emitter of products works on positions " + detail::formatShape(positions) +
                   ", not on those of " + nameOf(op) + " " + detail::formatShape(shape);
}

std::string RegionReader::checkGroups() {
  for (ProductRegion::Group& group : region.groups) {
    llvm::ArrayRef<int64_t> positions = shapeOf(group.products.front().getResult());
    if (static_cast<int64_t>(group.products.size()) != region.joined())
      return "the emitter of products wants as many products in each group that is joined behind "
             "them";
    if (group.yields.empty())
      return "the emitter of products stores something of each product";
    for (MatmulOp product : group.products)
      if (shapeOf(product.getResult()) != positions)
        return "the emitter of products joins results of one shape, not " +
               detail::formatShape(positions) + " and " +
               detail::formatShape(shapeOf(product.getResult()));
  }
  for (Operation& op : kernel.getBlock().without_terminator())
    if (auto found = op.getNumResults() == 1 ? behind.find(op.getResult(0)) : behind.end();
        found != behind.end())
      if (std::string reason = checkElement(op, shapeOf(found->second->getResult(0)));
          !reason.empty())
        return reason;
  return "";
}

/// Before products: positions are those of their input, along which everything may broadcast.
std::string RegionReader::checkPrologue() {
  llvm::ArrayRef<int64_t> positions = shapeOf(region.input);
  for (Operation* op : prologue) {
    llvm::ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
    bool whole = llvm::isa<ConstantOp>(op) || shape == positions;
    if (!whole)
      return "the emitter of products works on positions " + detail::formatShape(positions) +
             " of their input, not on those of " + nameOf(*op) + " " + detail::formatShape(shape);
    bool readsRow = llvm::isa<EmbeddingOp, DequantizeOp>(op);
    if (readsRow && !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>))
      return "the emitter of products embeds rows of a table in memory";
  }
  for (Value value : region.prologueYields)
    if (llvm::isa<BlockArgument>(value) || shapeOf(value) != positions)
      return "the emitter of products computes its results and copies none";
  if (region.norm && elementOf(region.norm->getOperand(0)) != elementOf(region.input))
    return "the emitter of products takes a norm whose input has the element type of theirs";
  return "";
}

std::string RegionReader::read() {
  for (Operation& op : kernel.getBlock().without_terminator()) {
    auto product = llvm::dyn_cast<MatmulOp>(op);
    if (std::string reason = product ? addProduct(product) : addOther(op); !reason.empty())
      return reason;
  }
  if (products.empty())
    return "the emitter of products has no product here";
  region.input = products.front().getInput();
  region.depth = shapeOf(region.input).back();
  region.rows = ShapedType::getNumElements(shapeOf(region.input)) / region.depth;
  collectGroups();
  if (std::string reason = checkGroups(); !reason.empty())
    return reason;
  return checkPrologue();
}

std::string readProductRegion(KernelOp kernel, ProductRegion& region) {
  return RegionReader(kernel, region).read();
}

} // namespace tenon
