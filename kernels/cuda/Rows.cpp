#include "kernels/cuda/Rows.h"

#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/regions/Norms.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

static bool isReduction(Operation& op) {
  return llvm::isa<LayerNormOp, ReduceOp, RmsNormOp, SoftmaxOp>(op);
}

static OrderAttr orderOf(Operation* hero) {
  return llvm::TypeSwitch<Operation*, OrderAttr>(hero)
      .Case<LayerNormOp, ReduceOp, RmsNormOp, SoftmaxOp>(
          [](auto reduction) { return reduction.getOrderAttr(); });
}

static int64_t lengthOf(Operation* hero) {
  return llvm::cast<RankedTensorType>(hero->getOperand(0).getType()).getShape().back();
}

VerdictOr<RowKernel> RowKernel::read(KernelOp kernel) {
  llvm::StringRef name = kernel.getScheduleAttr().getEmitter();
  llvm::SmallVector<Operation*, 1> heroes;
  for (Operation& op : kernel.getBlock())
    if (isReduction(op) && op.getName().stripDialect() == name)
      heroes.push_back(&op);
  if (heroes.empty())
    return Refusal{"expects a tenon." + name.str() + " in a kernel of the emitter " + name.str()};
  VerdictOr<RowSchedule> schedule = parseSchedule<RowSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  Operation* hero = heroes.front();
  heroes.erase(heroes.begin());
  return RowKernel{hero, heroes, *schedule, llvm::hasNItems(kernel.getBlock(), 2)};
}

/// Elements of a row that a thread keeps; it reads longer rows again for each pass.
static constexpr int64_t mostElements = 64;

static int64_t bytesOf(Value value) {
  return getElementTypeOrSelf(value).getIntOrFloatBitWidth() / 8;
}

bool RowKernel::keepsRow() const { return elementsOfThread() <= mostElements; }

int64_t RowKernel::elementsOfThread() const {
  return llvm::divideCeil(lengthOf(hero), schedule.group * schedule.vector) * schedule.vector;
}

/// Registers of what scales and shifts `elements` of a row.
int64_t RowKernel::registersOfOperands(int64_t elements) const {
  bool packed = bytesOf(hero->getOperand(0)) == 2;
  int64_t quarters = 0;
  auto add = [&](Operation* op) {
    for (Value operand : op->getOperands().drop_front())
      quarters += packed ? bytesOf(operand) : 2;
  };
  add(hero);
  llvm::for_each(siblings, add);
  return llvm::divideCeil(elements * quarters, 4);
}

bool RowKernel::preloads() const {
  constexpr int64_t mostRegisters = 128;
  return schedule.rows == 1 && registersOfOperands(elementsOfThread()) <= mostRegisters;
}

/// Registers of a thread that has `elements` of a row, beside operands and those that do not depend
/// on it, as ptxas gives them to rows of 768 to 8,192 elements (CUDA 13.0): the row and what is
/// added to it, and the difference from the mean where there is one.
static int64_t keptRegisters(Operation* hero, int64_t elements) {
  bool packed = bytesOf(hero->getOperand(0)) == 2;
  int64_t quarters = 4 + (!llvm::isa<LayerNormOp>(hero) ? 0 : packed ? 1 : 5);
  return llvm::divideCeil(elements * quarters, 4);
}

/// Sums and extrema that the threads of a row combine in shared memory.
static std::pair<int64_t, int64_t> combinedOf(Operation* hero) {
  if (auto reduce = llvm::dyn_cast<ReduceOp>(hero))
    return reduce.getKind() == ReduceKind::Sum || reduce.getKind() == ReduceKind::Mean
               ? std::pair(1, 0)
               : std::pair(0, 1);
  return {llvm::isa<LayerNormOp>(hero) ? 2 : 1, llvm::isa<SoftmaxOp>(hero) ? 1 : 0};
}

/// Rows that threads keep in registers, with the vectors that scale and shift them; the one pass of
/// a reduction to one element keeps nothing.
BlockResources RowKernel::resources() const {
  constexpr int64_t others = 36, othersFused = 44, ofReduce = 40, floatBytes = 4, warp = 32;
  auto [threads, group, vector] = std::tuple(schedule.threads, schedule.group, schedule.vector);
  int64_t length = lengthOf(hero), elements = elementsOfThread();
  int64_t kept = keepsRow() ? keptRegisters(hero, elements) * schedule.rows +
                                  registersOfOperands(preloads() ? elements : vector)
                            : vector;
  BlockResources resources;
  resources.threads = threads;
  resources.registers =
      llvm::isa<ReduceOp>(hero)
          ? ofReduce
          : std::min<int64_t>(llvm::alignTo((isAlone ? others : othersFused) + kept, 8),
                              BlockResources::mostRegisters);
  resources.wholeTiles = true;
  OrderAttr order = orderOf(hero);
  int64_t parts = group * vector;
  if (order && order.getChunk() > 0 && order.getChunk() < length)
    parts = threads / group * schedule.rows *
            llvm::alignTo(llvm::divideCeil(length, order.getChunk()), 4);
  auto [sums, extrema] = combinedOf(hero);
  if (group > warp) // a warp combines by itself
    resources.staticSmemBytes = floatBytes * (sums * parts + extrema * (group / warp));
  return resources;
}

PriceTerms RowKernel::priceTerms() const {
  constexpr int64_t warp = 32;
  PriceTerms terms;
  terms.keepsRows = true;
  terms.sharesRows = schedule.group > warp;
  return terms;
}

namespace {

/// Who takes the rows of a reduction, and in what order a row is added.
struct RowShape {
  RowShape(Operation& hero)
      : length(llvm::cast<RankedTensorType>(hero.getOperand(0).getType()).getShape().back()),
        rows(llvm::cast<RankedTensorType>(hero.getOperand(0).getType()).getNumElements() / length),
        vector(getElementTypeOrSelf(hero.getOperand(0)).isF32() ? 4 : 8),
        vectors(llvm::divideCeil(length, vector)) {}

  int64_t length, rows;
  int64_t vector, vectors;           ///< elements of 16 bytes; such vectors of a row
  int64_t group = 32, threads = 128; ///< of a row, of a block
  int64_t lanes = 0, chunk = 0;      ///< of the order
};

} // namespace

/// Chunks of a row. Every thread adds all of them, in code without a loop, from shared memory:
/// longer rows are added in one chunk, which takes a buffer of one size for any length.
constexpr int64_t mostRowChunks = 1024;

/// A warp for short rows, up to 1,024 lanes in one chunk for long ones.
static void shareInOneChunk(RowShape& shape) {
  constexpr int64_t mostLanes = 1024, vectorsPerThread = 4;
  int64_t wanted = llvm::PowerOf2Ceil(llvm::divideCeil(shape.vectors, vectorsPerThread));
  shape.group = std::clamp<int64_t>(wanted, 32, mostLanes / shape.vector);
  shape.threads = shape.group > 32 ? shape.group : shape.rows > 1 ? 128 : 32;
  shape.lanes = shape.group * shape.vector;
}

/// A multiprocessor for each row: few vectors a thread, since all that a row takes waits for one
/// another. Chunks of one vector of a warp, so that any number of warps can share a row: a GEMM
/// that makes the norm itself has other threads than the norm's own kernel.
static void shareFewRows(RowShape& shape) {
  constexpr int64_t mostThreads = 512;
  int64_t perThread = llvm::divideCeil(shape.vectors, mostThreads);
  shape.group = llvm::alignTo(llvm::divideCeil(shape.vectors, perThread), 32);
  shape.threads = shape.group;
  shape.lanes = shape.chunk = 32 * shape.vector;
}

/// Warps among which `vectors` of a warp divide with the fewest left empty, of the counts from the
/// fewest that leave each at most `most` up to twice as many.
static int64_t divideEvenly(int64_t vectors, int64_t most) {
  int64_t fewest = llvm::divideCeil(vectors, most), best = fewest;
  auto taken = [&](int64_t warps) { return warps * llvm::divideCeil(vectors, warps); };
  for (int64_t warps = fewest; warps <= 2 * fewest; ++warps)
    if (taken(warps) < taken(best))
      best = warps;
  return best;
}

/// Rows wait for each other's multiprocessors: a chunk for a warp, which then halves its lanes once
/// for each sum. A norm with two sums has half of the warps: what they do for their sums, and the
/// barriers, count twice.
static void shareManyRows(RowShape& shape, int64_t sums, const CudaTarget& target) {
  constexpr int64_t vectorsOfSum = 4, mostThreads = 1024, threads = 128;
  int64_t ofWarp = llvm::divideCeil(shape.vectors, 32);
  int64_t warps = divideEvenly(ofWarp, vectorsOfSum * sums);
  if (32 * warps > mostThreads)
    return shareFewRows(shape);
  int64_t rowsOfBlock = std::clamp<int64_t>(llvm::bit_floor<uint64_t>(shape.rows / target.sms), 1,
                                            std::max<int64_t>(1, threads / (32 * warps)));
  shape.group = 32 * warps;
  shape.threads = shape.group * rowsOfBlock;
  shape.lanes = 32 * shape.vector;
  if (warps > 1)
    shape.chunk = llvm::divideCeil(ofWarp, warps) * shape.lanes;
}

static RowShape shareRows(Operation& hero, const CudaTarget& target) {
  RowShape shape(hero);
  shareInOneChunk(shape);
  if (isNorm(&hero) && shape.group > 32 && shape.vectors <= 32 * mostRowChunks)
    shape.rows <= target.sms ? shareFewRows(shape)
                             : shareManyRows(shape, llvm::isa<LayerNormOp>(hero) ? 2 : 1, target);
  return shape;
}

bool hasChunksOf(Operation& hero, int64_t elements, const CudaTarget& target) {
  RowShape shape = shareRows(hero, target);
  return shape.lanes == elements && shape.chunk == elements;
}

/// Sets the hero's order.
static RowSchedule chooseRows(Operation& hero, const CudaTarget& target) {
  RowShape shape = shareRows(hero, target);
  OrderAttr order = makeOrder(hero.getContext(), shape.lanes, shape.chunk);
  llvm::TypeSwitch<Operation&>(hero).Case<LayerNormOp, ReduceOp, RmsNormOp, SoftmaxOp>(
      [&](auto reduction) { reduction.setOrderAttr(order); });
  RowSchedule schedule;
  schedule.tiles = static_cast<int64_t>(llvm::divideCeil(shape.rows, shape.threads / shape.group));
  schedule.threads = shape.threads, schedule.group = shape.group, schedule.vector = shape.vector;
  return schedule;
}

ScheduleAttr scheduleRows(Operation& hero, const CudaTarget& target) {
  return printSchedule(hero.getContext(), hero.getName().stripDialect(), chooseRows(hero, target));
}

namespace kinds {
extern constexpr KernelKind layerNorm = kindOf<RowKernelOf<LayerNormOp>>();
extern constexpr KernelKind reduce = kindOf<RowKernelOf<ReduceOp>>();
extern constexpr KernelKind rmsNorm = kindOf<RowKernelOf<RmsNormOp>>();
extern constexpr KernelKind softmax = kindOf<RowKernelOf<SoftmaxOp>>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

static bool isHero(Operation& op) { return llvm::isa<ReduceOp>(op) || forms::cudaRows.isHero(op); }

/// A reduction to one element a row stands alone.
static bool matches(KernelOp kernel, const CudaTarget&) {
  return soleOp<ReduceOp>(kernel) || acceptsForm(forms::cudaRows, kernel);
}

/// Two rows a group, a group a block, where threads have no registers for what scales and shifts a
/// row: they read it again for each group. Two layer norms of one value of 2,560 elements with f32
/// weights and biases took 8.5 µs instead of 9.0 and, one after the other, 12.3 with 512 rows, and
/// 13.6 instead of 16.9 and 25.0 with 2,048 (in prompts of pythia-2.8b, H200, 2026-11-29).
static void takeTogether(RowSchedule& schedule, Operation& hero,
                         llvm::ArrayRef<Operation*> siblings) {
  constexpr int64_t together = 2;
  int64_t length = lengthOf(&hero);
  int64_t rows =
      llvm::cast<RankedTensorType>(hero.getOperand(0).getType()).getNumElements() / length;
  RowKernel kernel = {&hero, llvm::SmallVector<Operation*, 1>(siblings), schedule, false};
  if (!isNorm(&hero) || rows % together != 0 || kernel.preloads() || !kernel.keepsRow())
    return;
  schedule.rows = together, schedule.threads = schedule.group;
  schedule.tiles = rows / together;
}

/// Few rows let the next kernel start at their entry, so that it brings its weights meanwhile. Many
/// with other operations beside their reduction have bytes of their own to bring, and blocks of the
/// next kernel that wait beside them cost more than their early start saves: residual + RMSNorm of
/// 16, 128 and 1,024 rows takes 1.49, 2.09 and 4.19 us with a trigger at entry, 1.56, 1.82 and 3.68
/// without (H200, docs/notebook/2026-11-21-torch-operators.md). A sum and a norm in kernels of
/// their own lose by it.
static ScheduleAttr choose(KernelOp kernel, const CudaTarget& target, Neighbours) {
  Operation& hero = *llvm::find_if(kernel.getBlock(), isHero);
  RowSchedule schedule = chooseRows(hero, target);
  llvm::SmallVector<Operation*, 1> siblings;
  for (Operation& op : kernel.getBlock()) {
    if (!isSibling(hero, op))
      continue;
    chooseRows(op, target);
    siblings.push_back(&op);
  }
  bool isMany = 2 * schedule.tiles > target.sms;
  bool isFused = !llvm::hasNItems(kernel.getBlock(), 2); // beside the terminator
  schedule.triggerAtExit = isMany && isFused ? 1 : 0;
  takeTogether(schedule, hero, siblings);
  return printSchedule(kernel.getContext(), hero.getName().stripDialect(), schedule);
}

const CudaScheduleRule rows = {matches, choose, &forms::cudaRows};

} // namespace tenon::kernels::cuda_rules
