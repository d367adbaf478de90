#include "kernels/cuda/Moves.h"

#include "ir/KvCache.h"
#include "kernels/cuda/CudaScheduleRule.h"
#include "kernels/cuda/Selection.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::kernels {

VerdictOr<CopyKernel> CopyKernel::read(KernelOp kernel) {
  Operation& op = kernel.getBlock().front();
  if (!llvm::hasNItems(kernel.getBlock(), 2) ||
      !llvm::isa<ConcatOp, ReshapeOp, SliceOp, TransposeOp>(op))
    return Refusal{"expects a region of one operation that moves elements for the emitter copy"};
  VerdictOr<MoveSchedule> schedule = parseSchedule<MoveSchedule>(kernel.getScheduleAttr());
  if (!schedule)
    return schedule.refusal();
  return CopyKernel{&op, *schedule};
}

/// Elements of 16 bytes.
static int64_t wordElements(Type elementType) { return 16 / getEncoding(elementType)->blockBytes; }

int64_t PatchesKernel::mostVector(PatchesOp op) {
  int64_t vector = wordElements(op.getType().getElementType());
  for (int64_t extent : {op.getInput().getType().getShape().back(), op.getWindow().back(),
                         op.getStrides().back(), op.getLow().back()})
    vector = dividingPower(extent, vector);
  return vector;
}

VerdictOr<PatchesKernel> PatchesKernel::read(KernelOp kernel) {
  VerdictOr<PatchesKernel> found = readSole<PatchesKernel>(kernel);
  if (!found)
    return found;
  int64_t vector = found->schedule.vector, most = mostVector(found->op);
  if (!llvm::isPowerOf2_64(vector) || vector > most)
    return Refusal{"expects a vector of a power of two up to " + std::to_string(most) +
                   " elements, which neither windows nor edges cut, but got " +
                   std::to_string(vector)};
  return found;
}

VerdictOr<AcceptKernel> AcceptKernel::read(KernelOp kernel) {
  VerdictOr<AcceptKernel> found = readSole<AcceptKernel>(kernel);
  if (found && found->schedule.threads != threads)
    return Refusal{"expects " + std::to_string(threads) +
                   " threads, a lane for each row, but got " +
                   std::to_string(found->schedule.threads)};
  return found;
}

namespace kinds {
extern constexpr KernelKind accept = kindOf<AcceptKernel>();
extern constexpr KernelKind copy = kindOf<CopyKernel>();
extern constexpr KernelKind patches = kindOf<PatchesKernel>();
extern constexpr KernelKind kvWrite = kindOf<KvWriteKernel>();
extern constexpr KernelKind ringPlaces = kindOf<RingPlacesKernel>();
extern constexpr KernelKind rope = kindOf<RopeKernel>();
extern constexpr KernelKind argmax = kindOf<SelectionKernel<ArgmaxOp>>();
extern constexpr KernelKind topK = kindOf<SelectionKernel<TopKOp>>();
} // namespace kinds

} // namespace tenon::kernels

namespace tenon::kernels::cuda_rules {

static constexpr int64_t threadsPerBlock = 128;

static bool isCopy(KernelOp kernel, const CudaTarget&) {
  return llvm::hasNItems(kernel.getBlock(), 2) &&
         llvm::isa<ConcatOp, ReshapeOp, SliceOp, TransposeOp>(kernel.getBlock().front());
}

/// The largest vector of 16 bytes or less that no step of the copy cuts.
static int64_t copyVector(Operation& op, int64_t limit) {
  auto type = llvm::cast<RankedTensorType>(op.getResult(0).getType());
  auto input = llvm::cast<RankedTensorType>(op.getOperand(0).getType());
  if (type.getRank() == 0 || input.getRank() == 0)
    return 1;
  int64_t inner = type.getShape().back(), inputInner = input.getShape().back();
  return llvm::TypeSwitch<Operation&, int64_t>(op)
      .Case([&](ReshapeOp) { return dividingPower(inner, limit); })
      .Case([&](TransposeOp transpose) {
        bool keeps = transpose.getPermutation().back() == type.getRank() - 1;
        return keeps ? dividingPower(inner, limit) : 1;
      })
      .Case([&](SliceOp slice) {
        if (slice.getStrides().back() != 1)
          return int64_t{1};
        int64_t vector = dividingPower(inner, dividingPower(inputInner, limit));
        return slice.getOffsets().back() == 0 ? vector
                                              : dividingPower(slice.getOffsets().back(), vector);
      })
      .Case([&](ConcatOp concat) {
        int64_t vector = limit;
        for (Value piece : concat.getInputs()) {
          auto shape = llvm::cast<RankedTensorType>(piece.getType()).getShape();
          vector =
              dividingPower(ShapedType::getNumElements(shape.drop_front(concat.getAxis())), vector);
        }
        return vector;
      });
}

static ScheduleAttr chooseCopy(KernelOp kernel, const CudaTarget&, Neighbours) {
  auto type = llvm::cast<RankedTensorType>(kernel.getResult(0).getType());
  int64_t vector = copyVector(kernel.getBlock().front(), wordElements(type.getElementType()));
  auto tiles =
      static_cast<int64_t>(llvm::divideCeil(type.getNumElements(), threadsPerBlock * vector));
  return printSchedule(kernel.getContext(), CopyKernel::name,
                       MoveSchedule{tiles, threadsPerBlock, vector});
}

static bool isPatches(KernelOp kernel, const CudaTarget&) {
  return bool(soleOp<PatchesOp>(kernel));
}

static ScheduleAttr choosePatches(KernelOp kernel, const CudaTarget&, Neighbours) {
  auto op = soleOp<PatchesOp>(kernel);
  int64_t vector = PatchesKernel::mostVector(op);
  auto tiles = static_cast<int64_t>(
      llvm::divideCeil(op.getType().getNumElements(), threadsPerBlock * vector));
  return printSchedule(kernel.getContext(), PatchesKernel::name,
                       MoveSchedule{tiles, threadsPerBlock, vector});
}

static bool isKvWrite(KernelOp kernel, const CudaTarget&) {
  return bool(soleOp<KvWriteOp>(kernel));
}

/// A block a row: whether a later row overwrites it is asked once.
static ScheduleAttr chooseKvWrite(KernelOp kernel, const CudaTarget&, Neighbours) {
  KvCache cache(soleOp<KvWriteOp>(kernel).getState().getType());
  int64_t rows = soleOp<KvWriteOp>(kernel).getValues().getType().getShape()[0];
  int64_t whole = cache.isPaged() ? cache.size : cache.rowElements();
  int64_t vector = cache.isQuantized() ? 1 : dividingPower(whole, wordElements(cache.elementType));
  return printSchedule(kernel.getContext(), KvWriteKernel::name,
                       MoveSchedule{rows, threadsPerBlock, vector});
}

static bool isRingPlaces(KernelOp kernel, const CudaTarget&) {
  return bool(soleOp<RingPlacesOp>(kernel));
}

static ScheduleAttr chooseRingPlaces(KernelOp kernel, const CudaTarget&, Neighbours) {
  int64_t rows = soleOp<RingPlacesOp>(kernel).getPositions().getType().getNumElements();
  auto tiles = static_cast<int64_t>(llvm::divideCeil(rows, threadsPerBlock));
  return printSchedule(kernel.getContext(), RingPlacesKernel::name,
                       MoveSchedule{tiles, threadsPerBlock, 1});
}

static bool isAccept(KernelOp kernel, const CudaTarget&) { return bool(soleOp<AcceptOp>(kernel)); }

static ScheduleAttr chooseAccept(KernelOp kernel, const CudaTarget&, Neighbours) {
  return printSchedule(kernel.getContext(), AcceptKernel::name,
                       MoveSchedule{1, AcceptKernel::threads, 1});
}

static bool isRope(KernelOp kernel, const CudaTarget&) { return bool(soleOp<RopeOp>(kernel)); }

/// A thread keeps the sine and cosine of its pair for as many heads of the row as leave the
/// multiprocessors half of their threads.
static ScheduleAttr chooseRope(KernelOp kernel, const CudaTarget& target, Neighbours) {
  constexpr int64_t most = 8, threadsPerSm = 1024;
  auto op = soleOp<RopeOp>(kernel);
  llvm::ArrayRef<int64_t> shape = op.getInput().getType().getShape();
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  int64_t work = shape[0] * shape[1] * (shape[2] - pairs);
  int64_t heads = dividingPower(shape[1], most);
  while (heads > 1 && work / heads < threadsPerSm * target.sms)
    heads /= 2;
  auto tiles = static_cast<int64_t>(llvm::divideCeil(work / heads, threadsPerBlock));
  return printSchedule(kernel.getContext(), RopeKernel::name,
                       RopeSchedule{tiles, threadsPerBlock, heads});
}

static bool isSelection(KernelOp kernel, const CudaTarget&) {
  return bool(soleOp<ArgmaxOp>(kernel)) || bool(soleOp<TopKOp>(kernel));
}

/// A block a row: as many threads as a long vocabulary keeps busy.
static ScheduleAttr chooseSelection(KernelOp kernel, const CudaTarget&, Neighbours) {
  Operation& op = kernel.getBlock().front();
  auto type = llvm::cast<RankedTensorType>(op.getOperand(0).getType());
  int64_t length = type.getShape().back();
  int64_t threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(length / 4), 32, 1024);
  return printSchedule(kernel.getContext(), op.getName().stripDialect(),
                       SelectionSchedule{type.getNumElements() / length, threads});
}

const CudaScheduleRule accept = {isAccept, chooseAccept};
const CudaScheduleRule copies = {isCopy, chooseCopy};
const CudaScheduleRule patches = {isPatches, choosePatches};
const CudaScheduleRule kvWrite = {isKvWrite, chooseKvWrite};
const CudaScheduleRule ringPlaces = {isRingPlaces, chooseRingPlaces};
const CudaScheduleRule rope = {isRope, chooseRope};
const CudaScheduleRule selection = {isSelection, chooseSelection};

} // namespace tenon::kernels::cuda_rules
