#include "ir/schedules/NarrowGemm.h"
#include "passes/schedule/cuda/CudaScheduleRule.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::schedule {

namespace {

constexpr int64_t warps = 8;

/// Pieces of 16 rows of W of all groups.
int64_t tilesOf(const ProductRegion& region) {
  int64_t tiles = 0;
  for (const ProductRegion::Group& group : region.groups)
    tiles += llvm::divideCeil(group.columns, NarrowGemmMemory::tileColumns);
  return tiles;
}

/// Stages of the rings, at most 4, beside `inputBytes` of inputs, where as many blocks as the target
/// wants fit on a multiprocessor, each with 1 KiB of the system's. 0 or 1: too few.
int64_t stagesFor(NarrowGemmMemory memory, int64_t inputBytes, const CudaTarget& target) {
  constexpr int64_t mostStages = 4, reservedBytes = 1024;
  int64_t left = target.smemBytesPerSm / target.narrowBlocksPerSm - reservedBytes - inputBytes -
                 warps * memory.partBytes();
  return std::clamp<int64_t>(left / (warps * memory.pieceBytes), 0, mostStages);
}

int64_t stagesFor(const ProductRegion& region, const CudaTarget& target) {
  NarrowGemmMemory memory = {region.rows};
  int64_t inputBytes = 0;
  for (const ProductRegion::Input& input : region.inputs)
    inputBytes += input.norm ? memory.inputBytes(input.depth) : 0;
  return stagesFor(memory, inputBytes, target);
}

bool isInMemory(Value value) { return llvm::isa<BlockArgument>(value); }

/// True where the input lies in memory, or is the norm of one that does.
bool isDirect(const ProductRegion::Input& input) {
  if (!input.norm)
    return isInMemory(input.value);
  return input.norm->getResult(0) == input.value &&
         llvm::all_of(input.norm->getOperands(), isInMemory);
}

} // namespace

bool suitsTensorCores(MatmulOp op) {
  RankedTensorType weight = op.getWeight().getType();
  Type type = weight.getElementType();
  return op.getInput().getType().getElementType() == type && (type.isF16() || type.isBF16()) &&
         weight.getNumElements() == weight.getShape().end()[-2] * weight.getShape().back() &&
         weight.getShape().back() % 8 == 0;
}

std::string refuseNarrowGemm(const ProductRegion& region, const CudaTarget& target) {
  constexpr int64_t mostRows = 16, mostJoined = 4;
  if (region.rows < 2 || region.rows > mostRows)
    return "the emitter of products on tensor cores takes 2 to 16 rows";
  for (const ProductRegion::Group& group : region.groups)
    for (const ProductRegion::Product& product : group.products)
      if (!suitsTensorCores(product.op))
        return "the emitter of products on tensor cores takes factors of one 16-bit type and "
               "depths of multiples of 8";
  if (region.joined() > mostJoined)
    return "the emitter of products on tensor cores joins at most 4";
  if (!llvm::all_of(region.inputs, isDirect))
    return "the emitter of products on tensor cores reads its inputs from memory, or makes norms "
           "of "
           "what it reads";
  if (!region.prologueYields.empty())
    return "the emitter of products on tensor cores stores results of products alone";
  constexpr int64_t leastStages = 2;
  if (stagesFor(region, target) < leastStages)
    return "the inputs do not fit into shared memory beside the weights";
  return "";
}

static ScheduleAttr makeNarrow(MLIRContext* context, int64_t tiles, int64_t stages,
                               const CudaTarget& target) {
  return makeSchedule(
      context, "narrow_gemm", std::min<int64_t>(tiles, target.narrowBlocksPerSm * target.sms),
      {{"threads", 32 * warps}, {"stages", stages}, {"blocks_per_sm", target.narrowBlocksPerSm}});
}

ScheduleAttr scheduleNarrowGemm(MatmulOp op, const CudaTarget& target) {
  op.removeOrderAttr(); // tensor cores have none
  llvm::ArrayRef<int64_t> weight = op.getWeight().getType().getShape();
  NarrowGemmMemory memory = {op.getInput().getType().getNumElements() / weight.back()};
  return makeNarrow(op.getContext(),
                    llvm::divideCeil(weight.end()[-2], NarrowGemmMemory::tileColumns),
                    std::max<int64_t>(1, stagesFor(memory, 0, target)), target);
}

ScheduleAttr scheduleNarrowGemm(const ProductRegion& region, const CudaTarget& target) {
  return makeNarrow(region.first().getContext(), tilesOf(region), stagesFor(region, target),
                    target);
}

} // namespace tenon::passes::schedule
