#include "kernels/regions/Regions.h"

#include "kernels/regions/Norms.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace tenon::kernels {

bool isElementOperation(Operation& op) {
  if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
    auto elements = llvm::dyn_cast<DenseElementsAttr>(constant.getValue());
    return elements && elements.isSplat();
  }
  return llvm::isa<ElementwiseOpInterface, EmbeddingOp, DequantizeOp>(op);
}

static bool isOfIntegers(Type type) { return getElementTypeOrSelf(type).isInteger(); }

bool isFloatOperation(Operation& op) {
  if (!isElementOperation(op) || llvm::any_of(op.getResultTypes(), isOfIntegers))
    return false;
  return llvm::isa<EmbeddingOp>(op) || llvm::none_of(op.getOperandTypes(), isOfIntegers);
}

bool concerns(const RegionForm& form, KernelOp kernel) {
  auto operations = kernel.getBlock().without_terminator();
  if (form.isHero)
    return llvm::any_of(operations, form.isHero);
  return !operations.empty() && llvm::all_of(operations, form.isElement);
}

static bool isSplatOrElementwise(Operation& op) {
  return isElementOperation(op) && !llvm::isa<EmbeddingOp, DequantizeOp>(op);
}

template <typename... OpTys> static bool isOp(Operation& op) { return llvm::isa<OpTys...>(op); }

namespace forms {

constexpr RegionForm cpuElementwise = {"the emitter of elementwise chains", nullptr,
                                       isSplatOrElementwise, false};
constexpr RegionForm cudaElementwise = {"the emitter of elementwise chains", nullptr,
                                        isElementOperation, false};
constexpr RegionForm cudaMatmul = {"the emitter of matrix products", isOp<MatmulOp>,
                                   isFloatOperation, false, true};
constexpr RegionForm cudaRows = {"the emitter of row reductions",
                                 isOp<LayerNormOp, RmsNormOp, SoftmaxOp>, isFloatOperation, true};

} // namespace forms

static std::string nameOf(Operation* op) { return op->getName().stripDialect().str(); }

/// True where `shape` broadcasts to `positions`.
static bool broadcastsTo(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> positions) {
  if (shape.size() > positions.size())
    return false;
  for (auto [extent, whole] : llvm::zip_equal(shape, positions.take_back(shape.size())))
    if (extent != 1 && extent != whole)
      return false;
  return true;
}

static llvm::ArrayRef<int64_t> shapeOf(Value value) {
  return llvm::cast<RankedTensorType>(value.getType()).getShape();
}

/// The hero of the region, the first of several norms of one value, null for a form without one; or
/// why there is none.
static VerdictOr<Operation*> findHero(const RegionForm& form, KernelOp kernel) {
  Operation* hero = nullptr;
  if (!form.isHero)
    return hero;
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (!form.isHero(op))
      continue;
    if (hero && isSibling(*hero, op))
      continue;
    if (hero)
      return Refusal{form.name.str() + " computes one " + nameOf(hero) + " a kernel, not also " +
                     nameOf(&op)};
    hero = &op;
  }
  if (!hero)
    return Refusal{form.name.str() + " has no hero here"};
  return hero;
}

/// Operations that embed or decode rows take the row of the position itself, from memory.
static bool fitsPositions(Operation& op, llvm::ArrayRef<int64_t> positions) {
  llvm::ArrayRef<int64_t> shape = shapeOf(op.getResult(0));
  if (llvm::isa<EmbeddingOp, DequantizeOp>(op))
    return shape == positions && llvm::all_of(op.getOperands(), llvm::IsaPred<BlockArgument>);
  return broadcastsTo(shape, positions);
}

ArgmaxOp findSearch(KernelOp kernel) {
  auto found = kernel.getBlock().getOps<ArgmaxOp>();
  bool isAlone = llvm::hasSingleElement(kernel.getBlock().without_terminator());
  return found.empty() || isAlone ? ArgmaxOp() : *found.begin();
}

Verdict acceptsSearch(ArgmaxOp op, llvm::ArrayRef<int64_t> positions) {
  if (shapeOf(op.getInput()) != positions)
    return Refusal{"tiles search the largest element of rows of shape " +
                   detail::formatShape(positions) + ", not of " +
                   detail::formatShape(shapeOf(op.getInput()))};
  if (llvm::isa<BlockArgument>(op.getInput()))
    return Refusal{"tiles search among what they compute, not among an input"};
  if (op.getType().getNumElements() > mostSearchedRows)
    return Refusal{"tiles search the largest element of at most " +
                   std::to_string(mostSearchedRows) + " rows, not of " +
                   std::to_string(op.getType().getNumElements())};
  for (Operation* user : op->getUsers())
    if (!llvm::isa<YieldOp>(user))
      return Refusal{
          "the index of the largest element is known when every tile is done, too late for " +
          nameOf(user)};
  if (!op.getType().getElementType().isInteger(32))
    return Refusal{"tiles store the index of the largest element in i32, not in i64"};
  auto searches = op->getBlock()->getOps<ArgmaxOp>();
  if (!llvm::hasSingleElement(searches))
    return Refusal{"tiles search for one argmax, not for several"};
  return Verdict::accept();
}

/// Yields must be tensors over all positions, floats beside a hero: one element a position is
/// stored, once.
static Verdict acceptsResults(const RegionForm& form, KernelOp kernel,
                              llvm::ArrayRef<int64_t> positions) {
  for (Value value : kernel.getYield().getValues()) {
    if (form.hasSearch && value.getDefiningOp<ArgmaxOp>())
      continue;
    auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
    if (!type || (form.isHero && !llvm::isa<FloatType>(type.getElementType())))
      return Refusal{form.name.str() +
                     (form.isHero ? " stores float tensors, not " : " stores tensors, not ") +
                     detail::formatType(value.getType())};
    if (type.getShape() != positions)
      return Refusal{form.name.str() + " stores results of shape " +
                     detail::formatShape(positions) + ", not " +
                     detail::formatShape(type.getShape())};
  }
  return Verdict::accept();
}

Verdict acceptsForm(const RegionForm& form, KernelOp kernel) {
  VerdictOr<Operation*> found = findHero(form, kernel);
  if (!found)
    return found.refusal();
  Operation* hero = *found;
  if (kernel->getNumResults() == 0 ||
      !llvm::isa<RankedTensorType>(kernel.getYield().getValues().front().getType()))
    return Refusal{form.name.str() + " stores float tensors"};
  llvm::ArrayRef<int64_t> positions =
      shapeOf(hero ? hero->getResult(0) : kernel.getYield().getValues().front());
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (&op == hero || (hero && isSibling(*hero, op)))
      continue;
    if (auto search = llvm::dyn_cast<ArgmaxOp>(op); search && form.hasSearch) {
      if (Verdict verdict = acceptsSearch(search, positions); !verdict)
        return verdict;
      continue;
    }
    if (!form.isElement(op) && isElementOperation(op) && !isFloatOperation(op))
      return Refusal{form.name.str() + " computes floats, and cannot hold " + nameOf(&op) +
                     " of integers"};
    if (!form.isElement(op))
      return Refusal{form.name.str() + " cannot hold " + nameOf(&op)};
    if (!fitsPositions(op, positions))
      return Refusal{form.name.str() + " works on positions " + detail::formatShape(positions) +
                     ", to which " + nameOf(&op) + " " +
                     detail::formatShape(shapeOf(op.getResult(0))) + " does not broadcast"};
  }
  for (Value operand : hero ? ValueRange(hero->getOperands()) : ValueRange())
    if (!form.hasPrologue && !llvm::isa<BlockArgument>(operand))
      return Refusal{form.name.str() + " reads its operands from memory: nothing may come before " +
                     nameOf(hero) + ", but " + nameOf(operand.getDefiningOp()) + " does"};
  return acceptsResults(form, kernel, positions);
}

} // namespace tenon::kernels
