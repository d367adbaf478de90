#include "kernels/regions/GemmRegion.h"

#include "kernels/regions/Norms.h"
#include "kernels/regions/Regions.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

namespace {

/// Sorts the operations of a region into prologue, GEMMs and what joins them. Each step may
/// refuse the region.
class RegionReader {
public:
  RegionReader(KernelOp kernel, GemmRegion& region) : kernel(kernel), region(region) {}

  Verdict read();

private:
  Verdict addProduct(MatmulOp op);
  Verdict addOther(Operation& op);
  Verdict addOrder(GatherOp op);
  Verdict addBehind(Operation& op, Operation* gemm);
  GemmRegion::Input inputOf(MatmulOp gemm) const;
  void collectInputs();
  void collectGroups();
  Verdict checkGroups();
  Verdict checkGroup(GemmRegion::Group& group);
  Verdict checkInputs();
  Verdict checkPrologue();
  Verdict checkPositions(Operation& op);

  KernelOp kernel;
  GemmRegion& region;
  llvm::SmallVector<MatmulOp> gemms;
  llvm::SmallVector<Operation*> prologue;
  llvm::EquivalenceClasses<Operation*> joined; ///< of GEMMs
  llvm::DenseMap<Value, Operation*> behind;    ///< a GEMM that a value depends on
  llvm::DenseMap<Value, Operation*> norms;     ///< the norm that a value of the prologue depends on
  llvm::DenseMap<Value, GatherOp> orders;      ///< of inputs in another order
};

} // namespace

static llvm::ArrayRef<int64_t> shapeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getShape();
}

static Type elementOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getElementType();
}

static std::string nameOf(Operation& op) { return op.getName().stripDialect().str(); }

Verdict RegionReader::addProduct(MatmulOp op) {
  if (op.isQuantized())
    return Refusal{"the emitter of several products multiplies floats, not quants"};
  if (!llvm::isa<BlockArgument>(op.getWeight()) || shapeOf(op.getWeight()).size() != 2)
    return Refusal{"the emitter of several products reads each weight [N, K] from memory"};
  if (behind.contains(op.getInput()))
    return Refusal{"the emitter of several products has none that another one's input depends on"};
  if (!gemms.empty() && (elementOf(op.getInput()) != elementOf(gemms.front().getInput()) ||
                         elementOf(op.getWeight()) != elementOf(gemms.front().getWeight())))
    return Refusal{
        "the emitter of several products takes inputs of one element type and weights of one"};
  gemms.push_back(op);
  joined.insert(op);
  behind[op.getResult()] = op;
  return Verdict::accept();
}

/// An operation after `gemm`.
Verdict RegionReader::addBehind(Operation& op, Operation* gemm) {
  if (auto search = llvm::dyn_cast<ArgmaxOp>(op)) {
    behind[search.getResult()] = gemm;
    return acceptsSearch(search, shapeOf(gemm->getResult(0)));
  }
  if (!llvm::isa<ElementwiseOpInterface>(op) || !isFloatOperation(op))
    return Refusal{
        "the emitter of products computes elementwise operations on floats after them, not " +
        nameOf(op)};
  if (llvm::any_of(op.getOperands(), [&](Value operand) { return norms.contains(operand); }))
    return Refusal{"the emitter of products has no norm at hand after them"};
  behind[op.getResult(0)] = gemm;
  return Verdict::accept();
}

/// An input in another order, which nothing but GEMMs takes.
Verdict RegionReader::addOrder(GatherOp op) {
  auto indices = llvm::dyn_cast<BlockArgument>(op.getIndices());
  bool isLast = static_cast<int64_t>(op.getAxis()) == op.getType().getRank() - 1;
  if (!isLast || shapeOf(op.getInput()) != shapeOf(op.getResult()) || !indices ||
      !elementOf(indices).isInteger(32))
    return Refusal{"the emitter of products takes rows of their inputs in another order by "
                   "indices of i32 in memory"};
  if (behind.contains(op.getInput()))
    return Refusal{"the emitter of products reorders their inputs, and no results"};
  for (OpOperand& use : op.getResult().getUses())
    if (auto gemm = llvm::dyn_cast<MatmulOp>(use.getOwner()); !gemm || gemm.getInput() != use.get())
      return Refusal{"the emitter of products reorders inputs for products alone, not for " +
                     nameOf(*use.getOwner())};
  orders[op.getResult()] = op;
  return Verdict::accept();
}

Verdict RegionReader::addOther(Operation& op) {
  if (auto order = llvm::dyn_cast<GatherOp>(op))
    return addOrder(order);
  Operation *gemm = nullptr, *norm = nullptr;
  for (Value operand : op.getOperands()) {
    if (auto found = behind.find(operand); found != behind.end()) {
      if (gemm)
        joined.unionSets(gemm, found->second);
      gemm = found->second;
    }
    if (auto found = norms.find(operand); found != norms.end()) {
      if (norm && norm != found->second)
        return Refusal{"the emitter of products computes one norm of an input, not two"};
      norm = found->second;
    }
  }
  if (gemm)
    return addBehind(op, gemm);
  prologue.push_back(&op);
  bool makesNorm = isNorm(&op);
  if (!makesNorm && !isFloatOperation(op) && !llvm::isa<WeightedSumOp>(op))
    return Refusal{
        "the emitter of products computes operations on floats and norms before them, not " +
        nameOf(op)};
  if (makesNorm && norm)
    return Refusal{"the emitter of products computes one norm of an input, not two"};
  if (makesNorm || norm)
    norms[op.getResult(0)] = makesNorm ? &op : norm;
  return Verdict::accept();
}

GemmRegion::Input RegionReader::inputOf(MatmulOp gemm) const {
  Value value = gemm.getInput();
  GatherOp order = orders.lookup(value);
  if (order)
    value = order.getInput();
  return {value, norms.lookup(value), shapeOf(value).back(),
          order ? llvm::cast<BlockArgument>(order.getIndices()) : nullptr};
}

static bool isSame(const GemmRegion::Input& a, const GemmRegion::Input& b) {
  return a.value == b.value && a.order == b.order;
}

void RegionReader::collectInputs() {
  for (MatmulOp gemm : gemms) {
    GemmRegion::Input found = inputOf(gemm);
    if (llvm::none_of(region.inputs, [&](const auto& input) { return isSame(input, found); }))
      region.inputs.push_back(found);
  }
  const GemmRegion::Input& first = region.inputs.front();
  region.rows = ShapedType::getNumElements(shapeOf(first.value)) / first.depth;
}

void RegionReader::collectGroups() {
  llvm::MapVector<Operation*, GemmRegion::Group> groups;
  for (MatmulOp gemm : gemms) {
    auto input = llvm::find_if(region.inputs,
                               [&](const auto& input) { return isSame(input, inputOf(gemm)); });
    groups[joined.getLeaderValue(gemm)].gemms.push_back(
        {gemm, static_cast<unsigned>(input - region.inputs.begin())});
  }
  for (Value yielded : kernel.getYield().getValues()) {
    auto gemm = behind.find(yielded);
    if (gemm == behind.end()) {
      if (!llvm::is_contained(region.prologueYields, yielded))
        region.prologueYields.push_back(yielded);
      continue;
    }
    auto& yields = groups[joined.getLeaderValue(gemm->second)].yields;
    if (!llvm::is_contained(yields, yielded))
      yields.push_back(yielded);
  }
  for (auto& [leader, group] : groups) {
    group.firstLine = region.lines;
    group.columns = shapeOf(group.gemms.front().op.getWeight())[0];
    region.lines += group.columns;
    region.groups.push_back(std::move(group));
  }
}

Verdict RegionReader::checkGroup(GemmRegion::Group& group) {
  llvm::ArrayRef<int64_t> positions = shapeOf(group.gemms.front().op.getResult());
  if (group.gemms.size() != region.groups.front().gemms.size())
    return Refusal{
        "the emitter of products wants as many products in each group that is joined after "
        "them"};
  if (group.yields.empty())
    return Refusal{"the emitter of products stores something of each product"};
  for (auto [gemm, like] : llvm::zip_equal(group.gemms, region.groups.front().gemms)) {
    llvm::ArrayRef<int64_t> shape = shapeOf(gemm.op.getResult());
    if (shape != positions)
      return Refusal{"the emitter of products joins results of one shape, not " +
                     detail::formatShape(positions) + " and " + detail::formatShape(shape)};
    if (shapeOf(gemm.op.getInput()).back() != shapeOf(like.op.getInput()).back())
      return Refusal{"the emitter of products wants the same depths in each group of products"};
  }
  return Verdict::accept();
}

/// After GEMMs: positions are those of their result.
Verdict RegionReader::checkGroups() {
  for (GemmRegion::Group& group : region.groups)
    if (Verdict verdict = checkGroup(group); !verdict)
      return verdict;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    auto found = op.getNumResults() == 1 ? behind.find(op.getResult(0)) : behind.end();
    if (found == behind.end() || llvm::isa<ArgmaxOp>(op))
      continue;
    llvm::ArrayRef<int64_t> positions = shapeOf(found->second->getResult(0));
    llvm::ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
    if (shape != positions)
      return Refusal{"the emitter of products works on positions " +
                     detail::formatShape(positions) + ", not on those of " + nameOf(op) + " " +
                     detail::formatShape(shape)};
  }
  return Verdict::accept();
}

Verdict RegionReader::checkInputs() {
  for (const GemmRegion::Input& input : region.inputs) {
    llvm::ArrayRef<int64_t> shape = shapeOf(input.value);
    if (ShapedType::getNumElements(shape) != region.rows * input.depth)
      return Refusal{"the emitter of products takes inputs of as many rows, not of " +
                     std::to_string(region.rows) + " and " + detail::formatShape(shape)};
    if (input.norm && elementOf(input.norm->getOperand(0)) != elementOf(input.value))
      return Refusal{
          "the emitter of products takes a norm whose input has the element type of theirs"};
  }
  return Verdict::accept();
}

/// Before GEMMs: positions are those of the inputs that `op` feeds, along which everything may
/// broadcast; of any input where it feeds none.
Verdict RegionReader::checkPositions(Operation& op) {
  if (llvm::isa<ConstantOp>(op))
    return Verdict::accept();
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  llvm::DenseSet<Value> reached = {op.getResult(0)};
  for (Operation* next : prologue)
    if (llvm::any_of(next->getOperands(), [&](Value value) { return reached.contains(value); }))
      reached.insert(next->getResult(0));
  bool feeds = false, known = false;
  for (const GemmRegion::Input& input : region.inputs) {
    known |= shapeOf(input.value) == shape;
    if (!reached.contains(input.value))
      continue;
    feeds = true;
    if (shapeOf(input.value) != shape)
      return Refusal{"the emitter of products works on positions " +
                     detail::formatShape(shapeOf(input.value)) +
                     " of their input, not on those of " + nameOf(op) + " " +
                     detail::formatShape(shape)};
  }
  if (!feeds && norms.contains(op.getResult(0)))
    return Refusal{"the emitter of products computes norms of their inputs alone"};
  if (!feeds && llvm::isa<WeightedSumOp>(op))
    return Refusal{"the emitter of products computes weighted sums of their inputs alone"};
  if (!feeds && !known)
    return Refusal{"the emitter of products has no input of the positions of " + nameOf(op) + " " +
                   detail::formatShape(shape)};
  return Verdict::accept();
}

Verdict RegionReader::checkPrologue() {
  for (Operation* op : prologue) {
    if (Verdict verdict = checkPositions(*op); !verdict)
      return verdict;
    bool readsRow = llvm::isa<EmbeddingOp, DequantizeOp>(op);
    if (readsRow && !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>))
      return Refusal{"the emitter of products embeds rows of a table in memory"};
    if (llvm::isa<WeightedSumOp>(op) &&
        !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>))
      return Refusal{"the emitter of products sums vectors by weights that lie in memory"};
  }
  for (Value value : region.prologueYields)
    if (llvm::isa<BlockArgument>(value) || value.getDefiningOp<ConstantOp>())
      return Refusal{"the emitter of products computes its results and copies none"};
  return Verdict::accept();
}

Verdict RegionReader::read() {
  for (Operation& op : kernel.getBlock().without_terminator()) {
    auto gemm = llvm::dyn_cast<MatmulOp>(op);
    if (Verdict verdict = gemm ? addProduct(gemm) : addOther(op); !verdict)
      return verdict;
  }
  if (gemms.empty())
    return Refusal{"the emitter of products has no product here"};
  collectInputs();
  collectGroups();
  for (auto check :
       {&RegionReader::checkGroups, &RegionReader::checkInputs, &RegionReader::checkPrologue})
    if (Verdict verdict = (this->*check)(); !verdict)
      return verdict;
  return Verdict::accept();
}

int64_t GemmRegion::firstTile(size_t group, int64_t lines) const {
  int64_t tiles = 0;
  for (const Group& before : llvm::ArrayRef(groups).take_front(group))
    tiles += llvm::divideCeil(before.columns, lines);
  return tiles;
}

llvm::SmallVector<int64_t, 2> GemmRegion::depths() const {
  llvm::SmallVector<int64_t, 2> found;
  for (const Gemm& gemm : groups.front().gemms)
    found.push_back(inputs[gemm.input].depth);
  return found;
}

bool GemmRegion::isReordered() const {
  return llvm::any_of(inputs, [](const Input& input) { return bool(input.order); });
}

VerdictOr<GemmRegion> readGemmRegion(KernelOp kernel) {
  VerdictOr<GemmRegion> region = readReorderedGemmRegion(kernel);
  if (region && region->isReordered())
    return Refusal{"the emitter of these products takes inputs in their order"};
  return region;
}

VerdictOr<GemmRegion> readReorderedGemmRegion(KernelOp kernel) {
  GemmRegion region;
  if (Verdict verdict = RegionReader(kernel, region).read(); !verdict)
    return verdict.refusal();
  return region;
}

GemmRegion regionOfGemm(MatmulOp op) {
  llvm::ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
  GemmRegion region;
  region.inputs.push_back({op.getInput(), nullptr, weight.back()});
  region.lines = weight.end()[-2];
  region.rows = op.getInput().getType().getNumElements() / weight.back();
  GemmRegion::Group& group = region.groups.emplace_back();
  group.gemms.push_back({op, 0});
  group.columns = region.lines;
  return region;
}

VerdictOr<GemmRegion> readGemms(KernelOp kernel) {
  VerdictOr<GemmRegion> several = readGemmRegion(kernel);
  auto gemms = kernel.getBlock().getOps<MatmulOp>();
  if (several || !llvm::hasSingleElement(gemms))
    return several;
  GemmRegion region = regionOfGemm(*gemms.begin());
  GemmRegion::Group& group = region.groups.front();
  for (Value yielded : kernel.getYield().getValues())
    if (!llvm::is_contained(group.yields, yielded))
      group.yields.push_back(yielded);
  return region;
}

} // namespace tenon::kernels
