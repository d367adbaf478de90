#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/HeadChain.h"
#include "kernels/cuda/Heads.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Rope and cache writes of many rows in one kernel: a block takes a row of all tensors. Once for
/// all heads, its threads compute the sines and cosines of the row, in shared memory, and whether
/// the row stays in the caches. Then each takes vectors of 16 bytes of the row in turn, with the
/// elements that turn with them. Values are rounded as by `heads`.
///
/// Tiles are rows.
class HeadRowsEmission {
public:
  HeadRowsEmission(KernelContext& context, HeadRegion& region)
      : context(context), region(region), angles(distinctRopes(region)) {}

  LogicalResult emit();

private:
  size_t placeIndex(KvWriteOp op);
  void printAngles(CodeWriter& code);
  void printPlaces(CodeWriter& code);
  void printChain(CodeWriter& code, HeadRegion::Chain& chain);
  void printTurnedVector(CodeWriter& code, HeadRegion::Chain& chain);

  KernelContext& context;
  HeadRegion& region;
  llvm::SmallVector<RopeOp, 2> angles;
  llvm::SmallVector<KvWriteOp, 2> places; ///< writes that differ in more than values and cache
};

int64_t pairsOf(RopeOp op) { return op.getInverseFrequencies().getType().getNumElements(); }

} // namespace

size_t HeadRowsEmission::placeIndex(KvWriteOp op) {
  // All but the size of a head.
  auto extentsOf = [](KvWriteOp write) {
    return write.getState().getType().getShape().drop_back();
  };
  auto isSame = [&](KvWriteOp other) {
    return other.getPositions() == op.getPositions() && other.getSequences() == op.getSequences() &&
           other.getBlockTable() == op.getBlockTable() && extentsOf(other) == extentsOf(op);
  };
  return llvm::find_if(places, isSame) - places.begin();
}

void HeadRowsEmission::printAngles(CodeWriter& code) {
  for (auto [index, op] : llvm::enumerate(angles)) {
    code.format("__shared__ float sines%d[%d];", index, pairsOf(op));
    code.format("__shared__ float cosines%d[%d];", index, pairsOf(op));
    code.openFormat("for (int part = threadIdx.x; part < %d; part += %d)", pairsOf(op),
                    context.structure.threads);
    printTurn(context, code, op, context.pointer(op.getPositions()) + "[row]");
    code.format("sines%1$d[part] = sine, cosines%1$d[part] = cosine;", index);
    code.close();
  }
}

/// Where the row goes in the caches, and whether it stays there: unless a later one goes there.
void HeadRowsEmission::printPlaces(CodeWriter& code) {
  for (auto [index, op] : llvm::enumerate(places)) {
    int64_t rows = op.getPositions().getType().getNumElements();
    std::string sequences = context.pointer(op.getSequences());
    std::string positions = context.pointer(op.getPositions());
    bool shared = op.getSequences().getType().getNumElements() == 1;
    code.format("const int sequence%d = %s[%s], place%d = %s[row];", index, sequences,
                shared ? "0" : "row", index, positions);
    KvCache cache(op.getState().getType(), op.getBlockTable());
    code.format("using Cache%d = %s;", index, deviceCache(cache));
    code.format("bool stays%1$d = Cache%1$d::holds(sequence%1$d, place%1$d);", index);
    if (cache.isPaged()) {
      code.format(
          "const int* const blocks%1$d = Cache%1$d::blocksOf(%2$s, stays%1$d ? sequence%1$d : 0);",
          index, context.pointer(op.getBlockTable()));
      code.format("stays%1$d = stays%1$d && Cache%1$d::hasPage(blocks%1$d, place%1$d);", index);
    }
    code.open("");
    code.line("bool overwritten = false;");
    code.format("for (int later = row + 1 + threadIdx.x; later < %d; later += %d)", rows,
                context.structure.threads);
    code.format("  overwritten |= %s%s[later] == place%d;",
                shared ? "" : absl::StrFormat("%s[later] == sequence%d && ", sequences, index),
                positions, index);
    code.format("stays%d &= !__syncthreads_or(overwritten);", index);
    code.close();
  }
}

/// Turns those elements of `x`, a vector from element `k` of a head on, that a pair has.
void HeadRowsEmission::printTurnedVector(CodeWriter& code, HeadRegion::Chain& chain) {
  RopeOp op = chain.rope;
  int64_t vector = vectorOf(chain), pairs = pairsOf(op);
  size_t index = findRope(angles, op);
  std::string type = deviceType(op.getType().getElementType());
  auto printTurns = [&] {
    code.format("const float sine = sines%1$d[part], cosine = cosines%1$d[part];", index);
  };
  bool whole = 2 * pairs == chain.size;
  if (op.getPairing() == RopePairing::Adjacent) {
    code.unroll();
    code.openFormat("for (int j = 0; j < %d; j += 2)", vector);
    code.line("const int part = (k + j) / 2;");
    if (!whole)
      code.openFormat("if (part < %d)", pairs);
    printTurns();
    code.line("const float a = x[j], b = x[j + 1];");
    code.format("x[j] = %s;", turnedFirst);
    code.format("x[j + 1] = %s;", turnedSecond);
    if (!whole)
      code.close();
    code.close();
  } else {
    // Whole vectors turn with whole vectors, or each element with its own.
    bool vectors = pairs % vector == 0;
    if (!whole)
      code.openFormat("if (k < %d)", 2 * pairs);
    if (vectors) {
      code.format("const bool isFirst = k < %d;", pairs);
      code.format("float others[%d];", vector);
      code.format("loadVector(others, %s + at + (isFirst ? %d : %d));",
                  context.pointer(chain.source), pairs, -pairs);
    }
    code.unroll();
    code.openFormat("for (int j = 0; j < %d; ++j)", vector);
    if (!vectors) {
      code.line("const int element = k + j;");
      code.format("const bool isFirst = element < %d;", pairs);
      code.openFormat("if (element < %d)", 2 * pairs);
      code.format("const float other = toFloat(%s[at + j + (isFirst ? %d : %d)]);",
                  context.pointer(chain.source), pairs, -pairs);
    } else {
      code.line("const float other = others[j];");
    }
    code.format("const int part = %s - (isFirst ? 0 : %d);", vectors ? "k + j" : "element", pairs);
    printTurns();
    code.line("const float a = isFirst ? x[j] : other, b = isFirst ? other : x[j];");
    code.format("x[j] = isFirst ? %s : %s;", turnedFirst, turnedSecond);
    if (!vectors)
      code.close();
    code.close();
    if (!whole)
      code.close();
  }
  // Elements after the rotated ones take the result's type, too.
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", vector);
  code.format("  x[j] = roundTo<%s>(x[j]);", type);
}

void HeadRowsEmission::printChain(CodeWriter& code, HeadRegion::Chain& chain) {
  int64_t vector = vectorOf(chain), elements = chain.heads * chain.size;
  int64_t threads = context.structure.threads;
  code.openFormat("for (int i = threadIdx.x * %d; i < %d; i += %d)", vector, elements,
                  threads * vector);
  code.format("const long long at = (long long)row * %d + i;", elements);
  code.format("float x[%d];", vector);
  code.format("loadVector(x, %s + at);", context.pointer(chain.source));
  if (chain.rope) {
    code.format("const int k = i %% %d;", chain.size);
    printTurnedVector(code, chain);
  }
  if (chain.write) {
    size_t index = placeIndex(chain.write);
    std::string state = context.pointer(chain.write.getState());
    code.format("if (stays%d)", index);
    if (chain.write.getBlockTable())
      code.format("  storeVector(%1$s + Cache%2$d::headRow(blocks%2$d, place%2$d, i / %3$d) * %3$d "
                  "+ i %% %3$d, x);",
                  state, index, chain.size);
    else
      code.format("  storeVector(%1$s + Cache%2$d::row(sequence%2$d, place%2$d) * %3$d + i, x);",
                  state, index, elements);
  }
  for (const std::string& pointer : context.destinations(chain.end))
    code.format("storeVector(%s + at, x);", pointer);
  code.close();
}

LogicalResult HeadRowsEmission::emit() {
  if (failed(context.expectTiles(region.chains.front().rows)))
    return failure();
  context.structure.headers = {"kv_cache.cuh", "memory.cuh"};
  std::vector<Access> before, writes = context.results();
  for (RopeOp op : angles) {
    before.push_back(context.access(op.getPositions()));
    before.push_back(context.access(op.getInverseFrequencies()));
  }
  for (HeadRegion::Chain& chain : region.chains) {
    if (!chain.write)
      continue;
    writes.push_back(context.writeAccess(chain.write.getState()));
    if (placeIndex(chain.write) == places.size()) {
      places.push_back(chain.write);
      before.push_back(context.access(chain.write.getPositions()));
      before.push_back(context.access(chain.write.getSequences()));
      if (chain.write.getBlockTable())
        before.push_back(context.access(chain.write.getBlockTable()));
    }
  }
  CodeWriter& start =
      context.structure.begin(PhaseKind::Load, before, {{MemorySpace::Shared, "sines, cosines"}});
  start.line("const int row = static_cast<int>(tile);");
  printAngles(start);
  printPlaces(start); // all threads meet in it
  if (places.empty())
    start.line("__syncthreads();");
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Shared, "sines, cosines"});
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, writes);
  for (HeadRegion::Chain& chain : region.chains)
    printChain(code, chain);
  return success();
}

static LogicalResult emitHeadRows(KernelContext& context) {
  FailureOr<HeadRowsKernel> kernel = context.read<HeadRowsKernel>();
  if (failed(kernel))
    return failure();
  context.structure.triggersAtEntry = kernel->schedule.triggerAtExit == 0;
  return HeadRowsEmission(context, kernel->region).emit();
}

extern constexpr Emitter headRows = {HeadRowsKernel::name, emitHeadRows};

} // namespace tenon::codegen::cuda::emitters
