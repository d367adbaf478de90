#include "kernels/cpu/Sequence.h"

#include "ir/Views.h"
#include "kernels/cpu/Elementwise.h"
#include "kernels/cpu/Experts.h"
#include "kernels/cpu/KvWrite.h"
#include "kernels/cpu/Matmul.h"
#include "kernels/cpu/Rows.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cpu {

namespace {

/// What a thread keeps of values that no other kernel reads: at home in the second-level cache.
constexpr int64_t mostScratchBytes = int64_t(256) * 1024;

/// `first_tile` of what each thread computes before its tiles.
constexpr int64_t beforeTiles = -1;

std::string nameOf(Operation* op) { return op->getName().stripDialect().str(); }

/// What the operation computes; of a cache write, what it stores.
RankedTensorType typeOf(Operation* op) {
  if (auto write = llvm::dyn_cast<KvWriteOp>(op))
    return write.getValues().getType();
  return llvm::cast<RankedTensorType>(op->getResult(0).getType());
}

/// Elements that the operation takes at once: a row, or all heads of a token.
int64_t rowElementsOf(Operation* op) {
  llvm::ArrayRef<int64_t> shape = typeOf(op).getShape();
  return ShapedType::getNumElements(shape.take_back(llvm::isa<KvWriteOp, RopeOp>(op) ? 2 : 1));
}

bool isGemm(Operation* op) { return llvm::isa<MatmulOp, ExpertMatmulOp>(op); }

/// A region taken apart.
struct Sequence {
  llvm::SmallVector<Operation*> prologue; ///< before tiles: each thread computes all of it
  llvm::SmallVector<Operation*> tiled;
  std::vector<llvm::SmallVector<Operation*>> groups; ///< of `tiled`: those that read one another
};

/// Takes a region apart, see `acceptsSequence`.
class SequenceReader {
public:
  explicit SequenceReader(KernelOp kernel) : kernel(kernel) {}

  VerdictOr<Sequence> read();

private:
  Verdict readOperations();
  static Verdict checkOperation(Operation* op);
  Verdict readRows();
  static Verdict checkRows(llvm::ArrayRef<Operation*> group);
  std::vector<llvm::SmallVector<Operation*>> connectedGroups();
  llvm::DenseSet<Operation*> findPrologue();
  Verdict readColumns();
  Verdict readGroups();
  Verdict checkColumns(Operation* op);
  bool isYielded(Operation* op);
  llvm::SmallVector<Operation*> producersOf(Operation* op);

  KernelOp kernel;
  llvm::SmallVector<Operation*> ops;
  Sequence sequence;
};

} // namespace

/// The operations of the region that compute operands of `op`, through views.
llvm::SmallVector<Operation*> SequenceReader::producersOf(Operation* op) {
  llvm::SmallVector<Operation*> producers;
  for (Value operand : op->getOperands())
    if (Operation* producer = getViewSource(operand).getDefiningOp())
      producers.push_back(producer);
  return producers;
}

bool SequenceReader::isYielded(Operation* op) {
  return llvm::any_of(kernel.getYield().getValues(),
                      [&](Value value) { return getViewSource(value).getDefiningOp() == op; });
}

Verdict SequenceReader::checkOperation(Operation* op) {
  bool isKnown = worksOnRows(op) || isGemm(op) ||
                 llvm::isa<ElementwiseOpInterface, KvWriteOp, WeightedSumOp>(op);
  if (!isKnown || typeOf(op).getRank() == 0)
    return Refusal{"a sequence of tiles cannot hold " + nameOf(op)};
  if (auto matmul = llvm::dyn_cast<MatmulOp>(op)) {
    if (matmul.getWeight().getType().getRank() != 2)
      return Refusal{"a sequence of tiles holds no batched matmul"};
    if (!isMultiplied(matmul))
      return Refusal{"no emitter for CPUs multiplies quants of " +
                     std::string(getEncoding(matmul.getWeight().getType().getElementType())->name)};
  }
  if (auto gemms = llvm::dyn_cast<ExpertMatmulOp>(op))
    return acceptsExpertColumns(gemms);
  if (llvm::isa<EmbeddingOp>(op) && !llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>))
    return Refusal{"a sequence of tiles reads tables from memory"};
  return Verdict::accept();
}

Verdict SequenceReader::readOperations() {
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (isView(&op))
      continue;
    if (Verdict verdict = checkOperation(&op); !verdict)
      return verdict;
    ops.push_back(&op);
  }
  for (Value value : kernel.getYield().getValues())
    if (!value.getDefiningOp() || isView(value.getDefiningOp()))
      return Refusal{"a sequence of tiles yields what it computes"};
  if (ops.size() < 2)
    return Refusal{"a sequence has two operations or more"};
  return Verdict::accept();
}

/// Operations that read one another, each group in program order.
std::vector<llvm::SmallVector<Operation*>> SequenceReader::connectedGroups() {
  llvm::EquivalenceClasses<Operation*> classes;
  for (Operation* op : sequence.tiled) {
    classes.insert(op);
    for (Operation* producer : producersOf(op))
      if (llvm::is_contained(sequence.tiled, producer))
        classes.unionSets(op, producer);
  }
  std::vector<llvm::SmallVector<Operation*>> groups;
  llvm::DenseMap<Operation*, size_t> indices;
  for (Operation* op : sequence.tiled) {
    auto [found, isNew] = indices.try_emplace(classes.getLeaderValue(op), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[found->second].push_back(op);
  }
  return groups;
}

/// Why operations that read one another do not work on the same rows, one tile after the other.
Verdict SequenceReader::checkRows(llvm::ArrayRef<Operation*> group) {
  int64_t total = typeOf(group.front()).getNumElements(), unit = 1;
  for (Operation* op : group)
    unit = std::max(unit, rowElementsOf(op));
  for (Operation* op : group) {
    if (typeOf(op).getNumElements() != total)
      return Refusal{"tiles of rows do not fit together: " + nameOf(group.front()) + " has " +
                     detail::formatShape(typeOf(group.front()).getShape()) + ", " + nameOf(op) +
                     " " + detail::formatShape(typeOf(op).getShape())};
    if (unit % rowElementsOf(op) != 0)
      return Refusal{"tiles of rows do not fit together: " + nameOf(op) + " has rows of " +
                     std::to_string(rowElementsOf(op)) + " elements beside rows of " +
                     std::to_string(unit)};
    if (llvm::isa<KvWriteOp>(op) && total != unit)
      return Refusal{
          "of several rows two may be for one place of the cache, and the later one has to stay"};
    for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
      if (!getViewSource(operand).getDefiningOp())
        continue;
      // What an operation reads of another one must be its own tile of the same elements.
      if (llvm::cast<RankedTensorType>(operand.getType()).getNumElements() != total ||
          (index > 0 && !llvm::isa<ElementwiseOpInterface>(op)))
        return Refusal{nameOf(op) + " reads other rows than its own"};
    }
  }
  return Verdict::accept();
}

/// Groups of operations that work on the same rows; each group has tiles of its own.
Verdict SequenceReader::readRows() {
  if (llvm::any_of(ops, llvm::IsaPred<WeightedSumOp>))
    return Refusal{"weighted_sum reads other rows than its own"};
  sequence.tiled = ops;
  for (llvm::SmallVector<Operation*>& group : connectedGroups()) {
    if (Verdict verdict = checkRows(group); !verdict)
      return verdict;
    sequence.groups.push_back(std::move(group));
  }
  return Verdict::accept();
}

/// What GEMMs read, and rows of tables, which tiles of columns read.
llvm::DenseSet<Operation*> SequenceReader::findPrologue() {
  llvm::DenseSet<Operation*> before;
  for (Operation* op : llvm::reverse(ops)) {
    if (isGemm(op) || before.contains(op))
      for (Operation* producer : producersOf(op))
        before.insert(producer);
    if (llvm::isa<EmbeddingOp>(op) && !isYielded(op))
      before.insert(op);
  }
  return before;
}

/// GEMMs by columns: what stands before them is computed whole by each thread, what
/// stands after them column by column.
Verdict SequenceReader::readColumns() {
  llvm::DenseSet<Operation*> before = findPrologue();
  int64_t scratchBytes = 0;
  for (Operation* op : ops) {
    if (!before.contains(op)) {
      sequence.tiled.push_back(op);
      continue;
    }
    if (isGemm(op) || llvm::isa<WeightedSumOp>(op))
      return Refusal{"a matmul needs whole rows of another one, which other tiles compute"};
    if (isYielded(op))
      return Refusal{nameOf(op) +
                     " is computed by every thread before its matmul and cannot be stored"};
    scratchBytes += *getStorageBytes(typeOf(op));
    sequence.prologue.push_back(op);
  }
  if (scratchBytes > mostScratchBytes)
    return Refusal{"what stands before a matmul takes " + std::to_string(scratchBytes) +
                   " bytes of a thread, more than " + std::to_string(mostScratchBytes)};
  return readGroups();
}

/// Whether a tile of `op` is columns of what the same tile computes before.
Verdict SequenceReader::checkColumns(Operation* op) {
  if (!isGemm(op) && !llvm::isa<ElementwiseOpInterface, WeightedSumOp>(op))
    return Refusal{nameOf(op) + " needs whole rows of a matmul, which other tiles compute"};
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    Operation* producer = getViewSource(operand).getDefiningOp();
    if (!producer || isGemm(op))
      continue;
    if (llvm::is_contained(sequence.prologue, producer) && !llvm::isa<EmbeddingOp>(producer))
      return Refusal{nameOf(op) + " reads what stands before a matmul, not its result"};
    bool isSummed = llvm::isa<WeightedSumOp>(op) && index == 0;
    if (llvm::isa<WeightedSumOp>(op) && !isSummed)
      return Refusal{nameOf(op) + " reads its weights from memory"};
    if (typeOf(producer).getShape() !=
        (isSummed ? llvm::cast<RankedTensorType>(operand.getType()) : typeOf(op)).getShape())
      return Refusal{nameOf(op) + " has other columns than " + nameOf(producer)};
  }
  return Verdict::accept();
}

/// GEMMs whose results meet, gate and up, share tiles; others have tiles of their own.
Verdict SequenceReader::readGroups() {
  for (Operation* op : sequence.tiled)
    if (Verdict verdict = checkColumns(op); !verdict)
      return verdict;
  sequence.groups = connectedGroups();
  int64_t scratchBytes = 0;
  for (const auto& group : sequence.groups) {
    if (llvm::none_of(group, isGemm))
      return Refusal{nameOf(group.front()) + " has nothing to do with the matmul beside it"};
    for (Operation* op : group)
      if (!isYielded(op) && typeOf(op).getNumElements() != typeOf(op).getShape().back())
        scratchBytes += *getStorageBytes(typeOf(op));
  }
  if (scratchBytes > mostScratchBytes)
    return Refusal{"values between the operations take " + std::to_string(scratchBytes) +
                   " bytes of a thread, more than " + std::to_string(mostScratchBytes)};
  return Verdict::accept();
}

VerdictOr<Sequence> SequenceReader::read() {
  if (Verdict verdict = readOperations(); !verdict)
    return verdict.refusal();
  Verdict verdict = llvm::any_of(ops, isGemm) ? readColumns() : readRows();
  if (!verdict)
    return verdict.refusal();
  return std::move(sequence);
}

Verdict acceptsSequence(KernelOp kernel) {
  if (VerdictOr<Sequence> sequence = SequenceReader(kernel).read(); !sequence)
    return sequence.refusal();
  return Verdict::accept();
}

VerdictOr<SequenceKernel> SequenceKernel::read(KernelOp kernel) {
  VerdictOr<SequenceSchedule> schedule = parseSchedule<SequenceSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return SequenceKernel{kernel, *schedule};
}

namespace kinds {
extern constexpr CpuKernelKind sequence = kindOf<SequenceKernel>();
} // namespace kinds

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) { return bool(acceptsSequence(kernel)); }

/// `elements` elements a tile, whole rows.
static ScheduleAttr rowPart(Operation* op, int64_t elements, const CpuTarget& target) {
  int64_t total = typeOf(op).getNumElements(), innermost = typeOf(op).getShape().back();
  auto tiles = static_cast<int64_t>(llvm::divideCeil(total, elements));
  if (llvm::isa<ElementwiseOpInterface>(op))
    return printSchedule(op->getContext(), ElementwiseKernel::name,
                         ElementwiseSchedule{tiles, innermost, elements / innermost, innermost});
  if (llvm::isa<KvWriteOp>(op))
    return printSchedule(op->getContext(), KvWriteKernel::name,
                         KvWriteSchedule{tiles, *getStorageBytes(typeOf(op))});
  setRowOrder(op, target);
  return printSchedule(op->getContext(), op->getName().stripDialect(),
                       RowSchedule{tiles, elements / rowElementsOf(op)});
}

static void setPart(Operation* op, ScheduleAttr part, int64_t firstTile) {
  op->setAttr(partAttrName, part);
  op->removeAttr(firstTileAttrName);
  if (firstTile != 0)
    op->setAttr(firstTileAttrName, Builder(op->getContext()).getI64IntegerAttr(firstTile));
}

/// As many rows a tile as are worth a thread's while. Returns the tiles.
static int64_t chooseRows(llvm::ArrayRef<Operation*> group, int64_t firstTile,
                          const CpuTarget& target) {
  int64_t unit = 1, total = typeOf(group.front()).getNumElements();
  for (Operation* op : group)
    unit = std::max(unit, rowElementsOf(op));
  int64_t elements = unit * std::clamp<int64_t>(elementsPerTile / unit, 1, total / unit);
  for (Operation* op : group)
    setPart(op, rowPart(op, elements, target), firstTile);
  return llvm::divideCeil(total, elements);
}

/// The GEMMs of a group as each would be alone.
struct ColumnGemms {
  llvm::DenseMap<Operation*, AnyMatmulKernel> dense;
  llvm::DenseMap<Operation*, DotBlockSchedule> experts;
};

/// Finds the GEMMs of `group`. Returns the columns of the widest of their tiles, whole vectors.
static int64_t chooseGemms(llvm::ArrayRef<Operation*> group, ColumnGemms& gemms,
                           const CpuTarget& target) {
  int64_t perTile = target.lanes;
  auto widen = [&](int64_t columns) {
    perTile = std::max<int64_t>(perTile, llvm::alignTo(columns, target.lanes));
  };
  for (Operation* op : group) {
    if (auto matmul = llvm::dyn_cast<MatmulOp>(op)) {
      AnyMatmulKernel& gemm = gemms.dense[op] = chooseMatmul(matmul, target);
      widen(std::visit([](const auto& kernel) { return kernel.schedule.columnsPerTile; }, gemm));
    }
    if (auto experts = llvm::dyn_cast<ExpertMatmulOp>(op))
      widen((gemms.experts[op] = chooseExpertColumns(experts, target)).columnsPerTile);
  }
  return perTile;
}

/// `tiles` tiles of `perTile` columns of `op`.
static ScheduleAttr columnPart(Operation* op, const ColumnGemms& gemms, int64_t perTile,
                               int64_t tiles) {
  if (auto gemm = gemms.dense.find(op); gemm != gemms.dense.end())
    return printWithColumns(gemm->second, perTile, tiles);
  if (auto gemm = gemms.experts.find(op); gemm != gemms.experts.end()) {
    DotBlockSchedule schedule = gemm->second;
    schedule.tiles = tiles, schedule.columnsPerTile = perTile;
    return printSchedule(op->getContext(), ExpertColumnsKernel::name, schedule);
  }
  int64_t columns = typeOf(op).getShape().back(), rows = typeOf(op).getNumElements() / columns;
  if (llvm::isa<WeightedSumOp>(op))
    return printSchedule(op->getContext(), WeightedSumKernel::name,
                         WeightedSumSchedule{tiles, perTile, rows});
  return printSchedule(op->getContext(), ElementwiseKernel::name,
                       ElementwiseSchedule{tiles, columns, rows, std::min(perTile, columns)});
}

/// The schedules of a group with one number of columns a tile. Returns the tiles.
static int64_t chooseColumns(llvm::ArrayRef<Operation*> group, int64_t firstTile,
                             const CpuTarget& target) {
  ColumnGemms gemms;
  int64_t perTile = chooseGemms(group, gemms, target);
  auto tiles =
      static_cast<int64_t>(llvm::divideCeil(typeOf(group.front()).getShape().back(), perTile));
  for (Operation* op : group)
    setPart(op, columnPart(op, gemms, perTile, tiles), firstTile);
  return tiles;
}

static ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  VerdictOr<Sequence> sequence = SequenceReader(kernel).read();
  assert(sequence && "the rule matches");
  for (Operation* op : sequence->prologue)
    setPart(op, rowPart(op, typeOf(op).getNumElements(), target), beforeTiles);
  int64_t tiles = 0;
  for (const auto& group : sequence->groups)
    tiles += llvm::any_of(group, isGemm) ? chooseColumns(group, tiles, target)
                                         : chooseRows(group, tiles, target);
  return printSchedule(kernel.getContext(), SequenceKernel::name, SequenceSchedule{tiles});
}

extern const ScheduleRule sequence = {matches, choose, nullptr, /*composes=*/true};

} // namespace tenon::kernels::cpu::rules
