#include "passes/cost/Occupancy.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::passes::cost {

namespace {

/// What the blocks of one emitter take.
struct BlockNeeds {
  int64_t threads = 256;
  int64_t registers = 40;    ///< a thread
  int64_t smemBytes = 0;     ///< a block
  int64_t bytesAThread = 16; ///< asked for at once
  bool tensorCores = false;
  bool wholeTiles = false; ///< all of a tile is asked for at once
};

} // namespace

static int64_t inputRowBytes(KernelOp kernel) {
  for (auto op : kernel.getBlock().getOps<MatmulOp>()) {
    RankedTensorType type = op.getInput().getType();
    constexpr int64_t floatBytes = 4;
    return type.getNumElements() * floatBytes;
  }
  return 0;
}

/// From the emitters' own arithmetic: what they unroll, and what they put into shared memory.
static BlockNeeds needsOf(KernelOp kernel) {
  ScheduleAttr schedule = kernel.getScheduleAttr();
  llvm::StringRef emitter = schedule.getEmitter();
  BlockNeeds needs;
  needs.threads = schedule.getParameter("threads").value_or(needs.threads);
  int64_t vector = schedule.getParameter("vector").value_or(4);
  if (emitter == "gemv") { // unrolled four times
    needs.registers = 64;
    needs.bytesAThread = 4 * 16 * schedule.getParameter("columns_per_warp").value_or(1);
  } else if (emitter == "gemv_bulk") {
    constexpr int64_t stageBytes = 4096;
    int64_t ring = needs.threads / 32 * schedule.getParameter("stages").value_or(1) * stageBytes;
    needs.registers = 64;
    needs.smemBytes = ring + inputRowBytes(kernel);
    needs.bytesAThread = ring / needs.threads;
  } else if (emitter == "narrow_gemm") {
    needs.registers = 64, needs.bytesAThread = 64, needs.tensorCores = true;
  } else if (emitter == "tensor_gemm") {
    needs.registers = 128, needs.tensorCores = true, needs.bytesAThread = 96;
    needs.smemBytes = 3 * (schedule.getParameter("tile_rows").value_or(64) + 128) * 40 * 2;
  } else if (emitter == "gemm" || emitter == "decode_attention") {
    needs.registers = 96, needs.smemBytes = 32 * 1024;
  } else if (schedule.getParameter("group")) {
    needs.wholeTiles = true; // rows, which threads keep in registers
  } else {
    // A thread loads the vectors of all inputs before it needs the first.
    needs.bytesAThread = std::max<int64_t>(16, vector * 2 * kernel.getBlock().getNumArguments());
  }
  return needs;
}

Occupancy estimateOccupancy(KernelOp kernel, const KernelWork& work, TargetAttr target) {
  BlockNeeds needs = needsOf(kernel);
  auto limit = [&](llvm::StringRef property) { return *target.getProperty(property); };
  int64_t blocks = limit("blocks_per_sm");
  blocks = std::min(blocks, limit("threads_per_sm") / needs.threads);
  blocks = std::min(blocks, limit("registers_per_sm") / (needs.registers * needs.threads));
  if (needs.smemBytes > 0)
    blocks = std::min(blocks, limit("smem_bytes_per_sm") / needs.smemBytes);
  Occupancy occupancy;
  occupancy.tilesAtOnce = std::max<int64_t>(1, blocks) * limit("sms");
  int64_t tiles = kernel.getScheduleAttr().getTiles();
  double running = static_cast<double>(std::min(occupancy.tilesAtOnce, tiles));
  double bytes = static_cast<double>(work.weightBytes) + work.readBytes + work.writtenBytes;
  occupancy.bytesInFlight = needs.wholeTiles
                                ? std::max(1.0, bytes * running / static_cast<double>(tiles))
                                : running * static_cast<double>(needs.threads * needs.bytesAThread);
  occupancy.tensorCores = needs.tensorCores;
  return occupancy;
}

} // namespace tenon::passes::cost
