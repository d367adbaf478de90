#include "kernels/cuda/ParameterKind.h"
#include "kernels/regions/HeadRegion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::kinds {

static constexpr int64_t floatBytes = 4;

/// Elements of a row that a thread keeps; it reads longer rows again for each pass.
static constexpr int64_t mostElements = 64;

/// Registers of a thread that has `elements` of a row, beside those that do not depend on it, as ptxas
/// gives them to rows of 768 to 8,192 elements (CUDA 13.0): the row and what is added to it, weights,
/// and the difference from the mean where there is one.
template <typename OpTy> static int64_t keptRegisters(OpTy hero, int64_t elements) {
  auto bytesOf = [](Value value) {
    return getElementTypeOrSelf(value).getIntOrFloatBitWidth() / 8;
  };
  bool packed = bytesOf(hero->getOperand(0)) == 2;
  int64_t quarters = 4 + (!llvm::isa<LayerNormOp>(*hero) ? 0 : packed ? 1 : 5);
  for (Value weight : hero->getOperands().drop_front())
    quarters += packed ? bytesOf(weight) : 2;
  return llvm::divideCeil(elements * quarters, 4);
}

/// Rows that threads keep in registers, with the vectors that scale and shift them.
template <typename OpTy, int64_t sums, int64_t extrema>
static Verdict fillRows(KernelOp kernel, BlockResources& resources) {
  constexpr int64_t others = 36, othersFused = 44;
  int64_t group = sizeParameter(kernel, "group"), vector = sizeParameter(kernel, "vector");
  auto hero = findOp<OpTy>(kernel);
  if (group < 1 || vector < 1 || !hero)
    return Refusal{"expects rows, a group of threads and a vector for each"};
  int64_t length = llvm::cast<RankedTensorType>(hero->getOperand(0).getType()).getShape().back();
  int64_t elements = llvm::divideCeil(length, group * vector) * vector;
  bool alone = llvm::hasNItems(kernel.getBlock(), 2);
  int64_t kept = elements <= mostElements ? keptRegisters(hero, elements) : vector;
  resources.registers = std::min<int64_t>(llvm::alignTo((alone ? others : othersFused) + kept, 8),
                                          BlockResources::mostRegisters);
  resources.wholeTiles = true;
  OrderAttr order = hero.getOrderAttr();
  int64_t parts = group * vector;
  if (order && order.getChunk() > 0 && order.getChunk() < length)
    parts =
        resources.threads / group * llvm::alignTo(llvm::divideCeil(length, order.getChunk()), 4);
  if (group > 32) // a warp combines by itself
    resources.staticSmemBytes = floatBytes * (sums * parts + extrema * (group / 32));
  return Verdict::accept();
}

static Verdict fillReduce(KernelOp kernel, BlockResources& resources) {
  auto op = findOp<ReduceOp>(kernel);
  bool sums = op && (op.getKind() == ReduceKind::Sum || op.getKind() == ReduceKind::Mean);
  Verdict verdict = sums ? fillRows<ReduceOp, 1, 0>(kernel, resources)
                         : fillRows<ReduceOp, 0, 1>(kernel, resources);
  if (!verdict)
    return verdict;
  resources.registers = 40; // the one pass keeps nothing
  return Verdict::accept();
}

/// A candidate, value and index, of each warp.
template <int64_t buffers> static Verdict fillSelection(KernelOp, BlockResources& resources) {
  constexpr int64_t candidateBytes = 8;
  resources.registers = 40;
  resources.staticSmemBytes = buffers * candidateBytes * (resources.threads / 32);
  return Verdict::accept();
}

/// A head of each warp, with the lanes of its norm's sum.
static Verdict fillHeads(KernelOp kernel, BlockResources& resources) {
  VerdictOr<HeadRegion> region = readHeadRegion(kernel);
  if (!region)
    return region.refusal();
  int64_t size = 0, lanes = 0;
  for (HeadRegion::Chain& chain : region->chains) {
    size = std::max<int64_t>(size, llvm::alignTo(chain.size, 4));
    if (chain.norm && chain.norm.getOrderAttr())
      lanes = std::max(lanes, chain.norm.getOrderAttr().getLanes());
  }
  resources.registers = 64;
  resources.wholeTiles = true;
  resources.staticSmemBytes = detail::saturatingProduct(
      {floatBytes * (resources.threads / 32), detail::saturatingSum({size, lanes})});
  return Verdict::accept();
}

static PriceTerms rowTerms(KernelOp kernel) {
  constexpr int64_t warp = 32;
  PriceTerms terms;
  terms.keepsRows = true;
  terms.sharesRows = sizeParameter(kernel, "group") > warp;
  return terms;
}

/// Sines and cosines of a row, of each rope at most, and a barrier's vote.
static Verdict fillHeadRows(KernelOp kernel, BlockResources& resources) {
  resources.registers = 48;
  resources.wholeTiles = true;
  for (RopeOp op : kernel.getBlock().getOps<RopeOp>())
    resources.staticSmemBytes +=
        2 * floatBytes * op.getInverseFrequencies().getType().getNumElements();
  return Verdict::accept();
}

const ParameterKind rmsNorm = {"rms_norm", fillRows<RmsNormOp, 1, 0>, rowTerms};
const ParameterKind layerNorm = {"layer_norm", fillRows<LayerNormOp, 2, 0>, rowTerms};
const ParameterKind softmax = {"softmax", fillRows<SoftmaxOp, 1, 1>, rowTerms};
const ParameterKind reduce = {"reduce", fillReduce, rowTerms};
const ParameterKind argmax = {"argmax", fillSelection<1>};
const ParameterKind topK = {"top_k", fillSelection<2>};
const ParameterKind heads = {"heads", fillHeads};
const ParameterKind headRows = {"head_rows", fillHeadRows};

} // namespace tenon::kernels::kinds
