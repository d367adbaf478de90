#include "kernels/cuda/Heads.h"

#include <cmath>

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/HeadChain.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Q/K norm, rope, Hadamard transform and cache writes in one kernel: a warp takes heads of one row
/// of one tensor, one after the other, through their chain, in shared memory as f32, rounded after
/// each operation as that operation's own kernel rounds it; the sum of the norm is added in that
/// kernel's order. The sines and cosines of the row, and whether it stays in the cache, are
/// computed once for all heads of a warp.
///
/// `heads_per_warp` is a power of two, of which a tensor takes the largest divisor of its heads.
/// Tiles are blocks of warps, numbered by chain, row, group of heads.
class HeadsEmission {
public:
  HeadsEmission(KernelContext& context, HeadsKernel& kernel)
      : context(context), region(kernel.region), headsPerWarp(kernel.schedule.headsPerWarp) {}

  LogicalResult emit();

private:
  LogicalResult checkChain(HeadRegion::Chain& chain);
  void printChain(CodeWriter& code, HeadRegion::Chain& chain);
  void printTurns(CodeWriter& code, RopeOp op);
  void printRope(CodeWriter& code, HeadRegion::Chain& chain);
  void printHadamard(CodeWriter& code, HeadRegion::Chain& chain);
  void printWrite(CodeWriter& code, HeadRegion::Chain& chain);
  void printCopy(CodeWriter& code, HeadRegion::Chain& chain, const std::string& target);

  KernelContext& context;
  HeadRegion& region;
  int64_t headsPerWarp;
  int64_t mostSize = 0, mostLanes = 0;
};

} // namespace

LogicalResult HeadsEmission::checkChain(HeadRegion::Chain& chain) {
  mostSize = std::max<int64_t>(mostSize, llvm::alignTo(chain.size, 4));
  FailureOr<int64_t> lanes = normLanesOf(chain);
  if (succeeded(lanes))
    mostLanes = std::max(mostLanes, *lanes);
  return lanes;
}

void HeadsEmission::printRope(CodeWriter& code, HeadRegion::Chain& chain) {
  RopeOp op = chain.rope;
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  std::string type = deviceType(op.getType().getElementType());
  code.unroll();
  code.openFormat("for (int turn = 0; turn < %d; ++turn)", llvm::divideCeil(pairs, 32));
  code.line("const int part = lane + 32 * turn;");
  code.openFormat("if (part < %d)", pairs);
  code.line("const float sine = sines[turn], cosine = cosines[turn];");
  printPair(code, op);
  code.line("const float a = values[first], b = values[second];");
  code.format("values[first] = roundTo<%s>(%s);", type, turnedFirst);
  code.format("values[second] = roundTo<%s>(%s);", type, turnedSecond);
  code.close();
  code.close();
  // Elements after the rotated ones take the result's type as they are.
  if (2 * pairs < chain.size &&
      op.getType().getElementType() != op.getInput().getType().getElementType()) {
    code.openFormat("for (int k = %d + lane; k < %d; k += 32)", 2 * pairs, chain.size);
    code.format("values[k] = roundTo<%s>(values[k]);", type);
    code.close();
  }
  code.line("__syncwarp();");
}

/// `sines` and `cosines` of the pairs of a lane, for the row.
void HeadsEmission::printTurns(CodeWriter& code, RopeOp op) {
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  int64_t turns = llvm::divideCeil(pairs, 32);
  code.format("float sines[%d], cosines[%d];", turns, turns);
  code.unroll();
  code.openFormat("for (int turn = 0; turn < %d; ++turn)", turns);
  code.line("const int part = lane + 32 * turn;");
  code.openFormat("if (part < %d)", pairs);
  printTurn(context, code, op, context.pointer(op.getPositions()) + "[row]");
  code.line("sines[turn] = sine, cosines[turn] = cosine;");
  code.close();
  code.close();
}

void HeadsEmission::printHadamard(CodeWriter& code, HeadRegion::Chain& chain) {
  HadamardOp op = chain.hadamard;
  int64_t run = op.getRun();
  code.format("transformRuns<%s, %d, %d>(values, %s);", deviceType(op.getType().getElementType()),
              chain.size, run, floatLiteral(1 / std::sqrt(static_cast<double>(run))));
}

void HeadsEmission::printCopy(CodeWriter& code, HeadRegion::Chain& chain,
                              const std::string& target) {
  int64_t vector = vectorOf(chain);
  code.openFormat("for (int k = lane * %d; k < %d; k += %d)", vector, chain.size, 32 * vector);
  code.format("float x[%d];", vector);
  code.line("loadVector(x, values + k);");
  code.format("storeVector(%s + k, x);", target);
  code.close();
}

void HeadsEmission::printWrite(CodeWriter& code, HeadRegion::Chain& chain) {
  KvWriteOp op = chain.write;
  KvCache cache(op.getState().getType());
  std::string target = context.pointer(op.getState()) + " + at";
  code.open("if (stays)");
  code.format("const long long at = Cache::headRow(%s, place, head %% %d) * %d;",
              cache.isPaged() ? "blocks" : "sequence", cache.heads, headUnits(cache));
  if (cache.isQuantized())
    code.format("CacheElements<%s>::store(%s, values);", deviceType(cache.elementType), target);
  else
    printCopy(code, chain, target);
  code.close();
}

void HeadsEmission::printChain(CodeWriter& code, HeadRegion::Chain& chain) {
  int64_t perWarp = headsOfWarp(chain, headsPerWarp);
  code.format("const int row = static_cast<int>(group / %d);", chain.heads / perWarp);
  if (chain.rope)
    printTurns(code, chain.rope);
  if (chain.write)
    printStays(context, code, chain.write);
  if (perWarp > 1)
    code.openFormat("for (long long head = group * %1$d; head < (group + 1) * %1$d; ++head)",
                    perWarp);
  else
    code.line("const long long head = group;");
  printHeadLoad(context, code, chain, "head");
  if (chain.norm)
    printHeadNorm(context, code, chain);
  if (chain.rope)
    printRope(code, chain);
  if (chain.hadamard)
    printHadamard(code, chain);
  if (chain.write)
    printWrite(code, chain);
  for (const std::string& pointer : context.destinations(chain.end))
    printCopy(code, chain, absl::StrFormat("%s + head * %d", pointer, chain.size));
  if (perWarp > 1) {
    code.line("__syncwarp();");
    code.close();
  }
}

LogicalResult HeadsEmission::emit() {
  if (!llvm::isPowerOf2_64(headsPerWarp))
    return context.kernel.emitOpError("expects heads_per_warp to be a power of two, but got ")
           << headsPerWarp;
  int64_t total = 0, warps = context.structure.threads / 32;
  for (HeadRegion::Chain& chain : region.chains) {
    if (failed(checkChain(chain)))
      return failure();
    total += chain.rows * chain.heads / headsOfWarp(chain, headsPerWarp);
  }
  if (failed(context.expectTiles(llvm::divideCeil(total, warps))))
    return failure();
  context.structure.headers = {"kv_cache.cuh", "memory.cuh", "reduce.cuh"};
  if (llvm::any_of(region.chains, [](HeadRegion::Chain& chain) {
        return chain.write && KvCache(chain.write.getState().getType()).isQuantized();
      }))
    context.structure.headers.push_back("cache_heads.cuh");
  if (llvm::any_of(region.chains, [](HeadRegion::Chain& chain) { return bool(chain.hadamard); }))
    context.structure.headers.push_back("hadamard.cuh");
  std::vector<Access> reads = context.arguments(false), writes = context.results();
  llvm::append_range(reads, context.arguments(true));
  for (HeadRegion::Chain& chain : region.chains)
    if (chain.write)
      writes.push_back(context.writeAccess(chain.write.getState()));
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, writes);
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const long long number = tile * %d + warp;", warps);
  code.format("__shared__ __align__(16) float memory[%d][%d];", warps, mostSize + mostLanes);
  code.line("float* const values = memory[warp];");
  if (mostLanes > 0)
    code.format("float* const sums = values + %d;", mostSize);
  int64_t first = 0;
  for (HeadRegion::Chain& chain : region.chains) {
    int64_t end = first + chain.rows * chain.heads / headsOfWarp(chain, headsPerWarp);
    code.openFormat("if (number >= %d && number < %d)", first, end);
    code.format("const long long group = number - %d;", first);
    printChain(code, chain);
    code.close();
    first = end;
  }
  return success();
}

static LogicalResult emitHeads(KernelContext& context) {
  FailureOr<HeadsKernel> kernel = context.read<HeadsKernel>();
  if (failed(kernel))
    return failure();
  context.structure.triggersAtEntry = kernel->schedule.triggerAtExit == 0;
  return HeadsEmission(context, *kernel).emit();
}

extern constexpr Emitter heads = {HeadsKernel::name, emitHeads};

} // namespace tenon::codegen::cuda::emitters
