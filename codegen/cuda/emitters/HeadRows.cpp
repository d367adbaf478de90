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
/// the row stays in the caches. Each brings all of its vectors of 16 bytes of the row, with the
/// elements that turn with them, before it turns and stores the first: they are on their way
/// together. Values are rounded as by `heads`.
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
  void printMeeting(CodeWriter& code);
  void openVectors(CodeWriter& code, const HeadRegion::Chain& chain);
  static void closeVectors(CodeWriter& code);
  void printLoads(CodeWriter& code, HeadRegion::Chain& chain, size_t index);
  void printOthers(CodeWriter& code, HeadRegion::Chain& chain, size_t index);
  void printChain(CodeWriter& code, HeadRegion::Chain& chain, size_t index);
  void printTurnedVector(CodeWriter& code, HeadRegion::Chain& chain, size_t index);

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
    int64_t width = dividingPower(rows, 4);
    code.format("bool overwritten%d = false;", index);
    code.openFormat("for (int first = (row + 1) / %1$d * %1$d + threadIdx.x * %1$d; first < %2$d; "
                    "first += %3$d)",
                    width, rows, context.structure.threads * width);
    code.format("const auto later = loadPacked<%d>(%s + first);", width, positions);
    if (!shared)
      code.format("const auto others = loadPacked<%d>(%s + first);", width, sequences);
    code.unroll();
    code.format("for (int j = 0; j < %d; ++j)", width);
    code.format("  overwritten%1$d |= first + j > row && later.elements[j] == place%1$d%2$s;",
                index,
                shared ? "" : absl::StrFormat(" && others.elements[j] == sequence%d", index));
    code.close();
  }
}

/// All threads meet: the sines are there, and it is known whether the row stays.
void HeadRowsEmission::printMeeting(CodeWriter& code) {
  for (size_t index = 0; index < places.size(); ++index)
    code.format("stays%1$d &= !__syncthreads_or(overwritten%1$d);", index);
  if (places.empty())
    code.line("__syncthreads();");
}

/// Opens a loop over the thread's vectors `i` of a row: from element `column` of the row on, from
/// element `k` of a head on.
void HeadRowsEmission::openVectors(CodeWriter& code, const HeadRegion::Chain& chain) {
  int64_t vector = vectorOf(chain), elements = chain.heads * chain.size;
  code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)",
                  HeadRowsKernel::vectorsOfThread(chain, context.structure.threads));
  code.format("const int column = (threadIdx.x + i * %d) * %d;", context.structure.threads, vector);
  bool whole = elements % (context.structure.threads * vector) == 0;
  code.open(whole ? "" : absl::StrFormat("if (column < %d)", elements));
  if (chain.rope)
    code.format("const int k = column %% %d;", chain.size);
}

void HeadRowsEmission::closeVectors(CodeWriter& code) {
  code.close();
  code.close();
}

/// Brings the vectors of a chain, and of halves those that they turn with.
void HeadRowsEmission::printLoads(CodeWriter& code, HeadRegion::Chain& chain, size_t index) {
  int64_t elements = chain.heads * chain.size;
  int64_t count = HeadRowsKernel::vectorsOfThread(chain, context.structure.threads);
  std::string type = absl::StrFormat("Packed<%d, %s>", vectorOf(chain),
                                     deviceType(elementTypeOf(chain.source.getType())));
  code.format("%s x%d[%d];", type, index, count);
  if (HeadRowsKernel::turnsHalves(chain))
    code.format("%s others%d[%d];", type, index, count);
  openVectors(code, chain);
  code.format("const auto* const source = %s + static_cast<long long>(row) * %d + column;",
              context.pointer(chain.source), elements);
  code.format("loadPacked(x%d[i], source);", index);
  if (HeadRowsKernel::turnsHalves(chain))
    printOthers(code, chain, index);
  closeVectors(code);
}

/// The elements that those of a vector turn with, in the widest pieces that no end of the pairs
/// cuts.
void HeadRowsEmission::printOthers(CodeWriter& code, HeadRegion::Chain& chain, size_t index) {
  int64_t vector = vectorOf(chain), pairs = pairsOf(chain.rope);
  int64_t piece = dividingPower(pairs, vector);
  bool whole = 2 * pairs == chain.size;
  if (piece == vector) {
    if (!whole)
      code.format("if (k < %d)", 2 * pairs);
    code.format("%sloadPacked(others%d[i], source + (k < %d ? %d : %d));", whole ? "" : "  ", index,
                pairs, pairs, -pairs);
    return;
  }
  code.unroll();
  code.openFormat("for (int j = 0; j < %d; j += %d)", vector, piece);
  if (!whole)
    code.openFormat("if (k + j < %d)", 2 * pairs);
  code.format("const auto piece = loadPacked<%d>(source + j + (k + j < %d ? %d : %d));", piece,
              pairs, pairs, -pairs);
  code.unroll();
  code.format("for (int e = 0; e < %d; ++e)", piece);
  code.format("  others%d[i].elements[j + e] = piece.elements[e];", index);
  if (!whole)
    code.close();
  code.close();
}

/// Turns those elements of `x`, a vector from element `k` of a head on, that a pair has.
void HeadRowsEmission::printTurnedVector(CodeWriter& code, HeadRegion::Chain& chain, size_t index) {
  RopeOp op = chain.rope;
  int64_t vector = vectorOf(chain), pairs = pairsOf(op);
  size_t angle = findRope(angles, op);
  std::string type = deviceType(op.getType().getElementType());
  bool whole = 2 * pairs == chain.size, halves = HeadRowsKernel::turnsHalves(chain);
  code.unroll();
  code.openFormat("for (int j = 0; j < %d; j += %d)", vector, halves ? 1 : 2);
  if (halves)
    code.format("const bool isFirst = k + j < %d;", pairs);
  code.line(halves ? absl::StrFormat("const int part = k + j - (isFirst ? 0 : %d);", pairs)
                   : "const int part = (k + j) / 2;");
  if (!whole)
    code.openFormat("if (%s < %d)", halves ? "k + j" : "part", halves ? 2 * pairs : pairs);
  code.format("const float sine = sines%1$d[part], cosine = cosines%1$d[part];", angle);
  if (halves) {
    code.format("const float other = toFloat(others%d[i].elements[j]);", index);
    code.line("const float a = isFirst ? x[j] : other, b = isFirst ? other : x[j];");
    code.format("x[j] = isFirst ? %s : %s;", turnedFirst, turnedSecond);
  } else {
    code.line("const float a = x[j], b = x[j + 1];");
    code.format("x[j] = %s;", turnedFirst);
    code.format("x[j + 1] = %s;", turnedSecond);
  }
  if (!whole)
    code.close();
  code.close();
  // Elements after the rotated ones take the result's type, too.
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", vector);
  code.format("  x[j] = roundTo<%s>(x[j]);", type);
}

void HeadRowsEmission::printChain(CodeWriter& code, HeadRegion::Chain& chain, size_t index) {
  int64_t elements = chain.heads * chain.size;
  openVectors(code, chain);
  code.format("float x[%d];", vectorOf(chain));
  code.format("widen(x, x%d[i]);", index);
  if (chain.rope)
    printTurnedVector(code, chain, index);
  if (chain.write) {
    size_t place = placeIndex(chain.write);
    std::string state = context.pointer(chain.write.getState());
    code.format("if (stays%d)", place);
    if (chain.write.getBlockTable())
      code.format("  storeVector(%1$s + Cache%2$d::headRow(blocks%2$d, place%2$d, column / %3$d) * "
                  "%3$d + column %% %3$d, x);",
                  state, place, chain.size);
    else
      code.format("  storeVector(%1$s + Cache%2$d::row(sequence%2$d, place%2$d) * %3$d + column, "
                  "x);",
                  state, place, elements);
  }
  for (const std::string& pointer : context.destinations(chain.end))
    code.format("storeVector(%s + static_cast<long long>(row) * %d + column, x);", pointer,
                elements);
  closeVectors(code);
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
  printPlaces(start);
  printAngles(start);
  std::vector<Access> reads = context.arguments(false);
  CodeWriter& loads =
      context.structure.begin(PhaseKind::Load, reads, {{MemorySpace::Registers, "x"}});
  for (auto [index, chain] : llvm::enumerate(region.chains))
    printLoads(loads, chain, index);
  CodeWriter& code = context.structure.begin(
      PhaseKind::Store, {{MemorySpace::Shared, "sines, cosines"}, {MemorySpace::Registers, "x"}},
      writes);
  printMeeting(code);
  for (auto [index, chain] : llvm::enumerate(region.chains))
    printChain(code, chain, index);
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
