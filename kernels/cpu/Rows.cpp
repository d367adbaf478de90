#include "kernels/cpu/Rows.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels::cpu {

static bool movesElements(Operation* op) {
  return llvm::isa<ConcatOp, ReshapeOp, SliceOp, TransposeOp>(op);
}

RowExtents rowExtentsOf(Operation* op) {
  bool countsResult =
      movesElements(op) || llvm::isa<EmbeddingOp, GatherOp, PatchesOp, ScatterOp>(op);
  auto type = llvm::cast<RankedTensorType>(countsResult ? op->getResult(0).getType()
                                                        : op->getOperand(0).getType());
  auto elementsOf = [&](int64_t axes) {
    return ShapedType::getNumElements(type.getShape().take_back(axes));
  };
  auto elements = llvm::TypeSwitch<Operation*, int64_t>(op)
                      .Case([&](ConcatOp concat) {
                        return elementsOf(type.getRank() - static_cast<int64_t>(concat.getAxis()));
                      })
                      .Case([](QuantizeOp quantize) {
                        return getEncoding(quantize.getType().getElementType())->blockSize;
                      })
                      .Case([](RingPlacesOp) { return 1; })
                      .Case([&](RopeOp) { return elementsOf(2); })
                      .Default([&](Operation*) { return elementsOf(1); });
  return {type.getNumElements() / elements, elements};
}

bool worksOnRows(Operation* op) {
  return llvm::isa<EmbeddingOp, LayerNormOp, RmsNormOp, RopeOp, SoftmaxOp>(op);
}

void setRowOrder(Operation* op, const CpuTarget& target) {
  // Four accumulators hide the latency of addition.
  OrderAttr order = makeOrder(op->getContext(), 4 * target.lanes);
  llvm::TypeSwitch<Operation*>(op).Case<LayerNormOp, ReduceOp, RmsNormOp, SoftmaxOp>(
      [&](auto reduction) { reduction.setOrderAttr(order); });
}

std::optional<PartTile> RowSchedule::tileOf(Operation* op) const {
  if (!worksOnRows(op))
    return std::nullopt;
  auto [rows, elements] = rowExtentsOf(op);
  int64_t total = rows * elements;
  return PartTile{false, std::min(detail::saturatingProduct({rowsPerTile, elements}), total),
                  total};
}

VerdictOr<CopyKernel> CopyKernel::read(KernelOp kernel) {
  Operation* op = &kernel.getBlock().front();
  if (!llvm::hasNItems(kernel.getBlock(), 2) || !movesElements(op))
    return Refusal{"expects a region of one operation that moves elements for the emitter copy"};
  VerdictOr<RowSchedule> schedule = parseSchedule<RowSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return CopyKernel{op, *schedule};
}

namespace kinds {
extern constexpr CpuKernelKind accept = kindOf<RowKernelOf<AcceptOp>>();
extern constexpr CpuKernelKind argmax = kindOf<RowKernelOf<ArgmaxOp>>();
extern constexpr CpuKernelKind copy = kindOf<CopyKernel>();
extern constexpr CpuKernelKind cumulativeSum = kindOf<RowKernelOf<CumulativeSumOp>>();
extern constexpr CpuKernelKind dequantize = kindOf<RowKernelOf<DequantizeOp>>();
extern constexpr CpuKernelKind embedding = kindOf<RowKernelOf<EmbeddingOp>>();
extern constexpr CpuKernelKind gather = kindOf<RowKernelOf<GatherOp>>();
extern constexpr CpuKernelKind hadamard = kindOf<RowKernelOf<HadamardOp>>();
extern constexpr CpuKernelKind layerNorm = kindOf<RowKernelOf<LayerNormOp>>();
extern constexpr CpuKernelKind patches = kindOf<RowKernelOf<PatchesOp>>();
extern constexpr CpuKernelKind quantize = kindOf<RowKernelOf<QuantizeOp>>();
extern constexpr CpuKernelKind reduce = kindOf<RowKernelOf<ReduceOp>>();
extern constexpr CpuKernelKind ringPlaces = kindOf<RowKernelOf<RingPlacesOp>>();
extern constexpr CpuKernelKind rmsNorm = kindOf<RowKernelOf<RmsNormOp>>();
extern constexpr CpuKernelKind rope = kindOf<RowKernelOf<RopeOp>>();
extern constexpr CpuKernelKind scatter = kindOf<RowKernelOf<ScatterOp>>();
extern constexpr CpuKernelKind softmax = kindOf<RowKernelOf<SoftmaxOp>>();
extern constexpr CpuKernelKind topK = kindOf<RowKernelOf<TopKOp>>();
} // namespace kinds

} // namespace tenon::kernels::cpu

namespace tenon::kernels::cpu::rules {

static bool matches(KernelOp kernel) {
  Operation* op = &kernel.getBlock().front();
  return llvm::hasNItems(kernel.getBlock(), 2) &&
         (movesElements(op) || worksOnRows(op) ||
          llvm::isa<AcceptOp, ArgmaxOp, CumulativeSumOp, DequantizeOp, GatherOp, HadamardOp,
                    PatchesOp, QuantizeOp, ReduceOp, RingPlacesOp, ScatterOp, TopKOp>(op));
}

/// As many rows a tile as are worth a thread's while.
static ScheduleAttr choose(KernelOp kernel, const CpuTarget& target) {
  Operation* op = &kernel.getBlock().front();
  setRowOrder(op, target);
  auto [rows, elements] = rowExtentsOf(op);
  int64_t perTile = std::clamp<int64_t>(elementsPerTile / elements, 1, rows);
  return printSchedule(kernel.getContext(),
                       movesElements(op) ? llvm::StringRef(CopyKernel::name)
                                         : op->getName().stripDialect(),
                       RowSchedule{static_cast<int64_t>(llvm::divideCeil(rows, perTile)), perTile});
}

extern const ScheduleRule rows = {matches, choose};

} // namespace tenon::kernels::cpu::rules
