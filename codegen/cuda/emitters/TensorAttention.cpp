#include <limits>
#include <utility>

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/ScoreOperands.h"
#include "codegen/cuda/emitters/TensorOperands.h"
#include "kernels/cuda/TensorPrefillAttention.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Attention of many rows of one sequence: a block takes a query head of `threads` / 2 ·
/// `row_tiles` rows and all keys that they see. Blocks with the most keys, those of the last rows,
/// come first.
static LogicalResult emitTensorPrefill(KernelContext& context) {
  FailureOr<TensorPrefillKernel> kernel = context.read<TensorPrefillKernel>();
  if (failed(kernel) || failed(verifyTensorOperands(kernel->op, 16)))
    return failure();
  AttentionOp op = kernel->op;
  int64_t rowTiles = kernel->schedule.rowTiles;
  if (op.getSequences().getType().getNumElements() != 1)
    return op.emitOpError("expects one sequence for the emitter tensor_prefill_attention, but got ")
           << op.getSequences().getType();
  llvm::ArrayRef<int64_t> query = shapeOf(op.getQuery().getType()); // [M, Hq, D]
  llvm::ArrayRef<int64_t> key = shapeOf(op.getKey().getType());     // [S, C, Hkv, D]
  llvm::ArrayRef<int64_t> value = shapeOf(op.getValue().getType()); // [S, C, Hkv, Dv]
  if (key[1] > std::numeric_limits<int32_t>::max() / 2 ||
      key[0] > std::numeric_limits<int32_t>::max())
    return op.emitOpError("expects a cache of at most 2^30 positions and 2^31 - 1 sequences, but "
                          "got ")
           << key[1] << " and " << key[0];
  PhaseStructure& structure = context.structure;
  int64_t warps = structure.threads / 32, rows = warps * rowTiles * 16;
  int64_t blocks = llvm::divideCeil(query[0], rows);
  if (failed(context.expectTiles(blocks * query[1])))
    return failure();
  structure.headers = {"tensor_attention.cuh"};
  std::string sequences = context.pointer(op.getSequences());
  CodeWriter& code = structure.begin(PhaseKind::MainLoop, context.arguments(false),
                                     {{MemorySpace::Shared, "kernel"}});
  for (const Access& access : context.arguments(true))
    structure.phases.back().reads.push_back(access);
  code.format("using Kernel = PrefillAttention<%s, %d, %d, %d, %d, %d>;",
              deviceType(elementTypeOf(op.getQuery().getType())), query[2], value[3], warps,
              rowTiles, kernel->schedule.keysPerBlock);
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Kernel kernel(*reinterpret_cast<Kernel::Shared*>(memory));");
  code.format("const int head = static_cast<int>(tile %% %d);", query[1]);
  code.format("const int first = (%d - static_cast<int>(tile / %d)) * Kernel::rows;", blocks - 1,
              query[1]);
  code.format("const int count = min(Kernel::rows, %d - first);", query[0]);
  code.format("using Cache = %s;", deviceCache(KvCache(op.getKey().getType())));
  code.format("kernel.findRanges<Cache>(%s[0], %s + first, count, %s, %d);", sequences,
              context.pointer(op.getPositions()), op.getCausal() ? "true" : "false",
              std::min<int64_t>(op.getWindow(), std::numeric_limits<int32_t>::max()));
  code.format("const long long cache = Cache::headRow(%s[0], 0, head / %d);", sequences,
              query[1] / key[2]);
  ScoreOperands scores(context, op);
  std::string scale = scoreScale(op);
  scores.printAdded(code, "first + item", "head");
  scores.printDenominator(code, "head", /*inPowersOfTwo=*/true);
  if (scores.addToScores())
    code.format("const auto scale = addScores(%s, added);", std::exchange(scale, "scale"));
  code.format("kernel.attend(%s + ((long long)first * %d + head) * %d, %d, count, %s + cache * %d, "
              "%d, %s + cache * %d, %d, %s);",
              context.pointer(op.getQuery()), query[1], query[2], query[1] * query[2],
              context.pointer(op.getKey()), key[3], key[2] * key[3], context.pointer(op.getValue()),
              value[3], value[2] * value[3], scale);
  if (scores.areEmpty())
    code.line("kernel.finish();");
  else
    code.format("kernel.finish(%s.factor(), denominator);", scale);
  CodeWriter& store =
      structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "kernel"}}, context.results());
  store.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  store.openFormat("for (int i = lane; i < %d; i += 32)", rowTiles * 2 * value[3]);
  store.format("const int row = warp * %d + i / %d, d = i %% %d * 8;", rowTiles * 16, value[3] / 8,
               value[3] / 8);
  store.open("if (row < count)");
  store.line("const uint4 bits = *reinterpret_cast<const uint4*>(&kernel.shared.query[row][d]);");
  for (const std::string& pointer : context.destinations(op.getResult()))
    store.format("*reinterpret_cast<uint4*>(%s + ((long long)(first + row) * %d + head) * %d + d) "
                 "= bits;",
                 pointer, query[1], value[3]);
  store.close();
  store.close();
  return success();
}

extern const Emitter tensorPrefillAttention = {TensorPrefillKernel::name, emitTensorPrefill};

} // namespace tenon::codegen::cuda::emitters
