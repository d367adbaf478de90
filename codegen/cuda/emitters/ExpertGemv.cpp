#include "kernels/cuda/ExpertGemv.h"
#include "codegen/cuda/emitters/ChoicePrinter.h"
#include "codegen/cuda/emitters/ExpertResults.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// GEMMs with the experts that rows choose, bound by the bytes of their matrices: a warp takes
/// `columns_per_warp` rows of a matrix and reads each once for `pairs_at_once` pairs of a row of x
/// and an expert. A tile is some columns of one pair, whose expert it reads in the ids; or, with
/// `pairs_at_once`, some columns of one expert, which lists the pairs that it takes part in (the
/// order of the list changes no sum); or, beside a weighted sum, some columns of all pairs of a
/// row, which warps take in turn.
///
/// With `stages`, on sm_90 and later, a warp holds x of one pair and brings its rows through a ring
/// in shared memory, all that the ring holds as soon as it knows the expert; beside a weighted sum,
/// too, a warp has one pair of the row. Weights in blocks are multiplied with inputs of 16 bits on
/// tensor cores (`device/quants.cuh`).
///
/// Parameters: those of `ExpertGemvSchedule`. The order has 32 · vector lanes, which halve, or, of
/// blocks with `stages`, is of tensor cores.
class ExpertEmission {
public:
  ExpertEmission(KernelContext& context, ExpertGemvKernel kernel)
      : context(context), region(kernel.region), schedule(kernel.schedule), stage(region),
        first(region.gemms.front()) {}

  LogicalResult emit();

private:
  LogicalResult check();
  LogicalResult checkRegisters();
  LogicalResult checkRings();
  void printRing(CodeWriter& code);
  void printInput(CodeWriter& code);
  LogicalResult printRingGemms(CodeWriter& code);
  void printQuants(CodeWriter& code);
  void printElements(CodeWriter& code);
  void printPart(CodeWriter& code, const std::string& gemm);
  void printPlace(CodeWriter& code);
  void printRows(CodeWriter& code);
  void printStep(CodeWriter& code);
  void printGemms(CodeWriter& code);
  LogicalResult printExpert(CodeWriter& code);
  void printRowGemms(CodeWriter& code);
  ExpertResults results() { return {context, region, perTile(), schedule.pairsAtOnce}; }
  void printExpertOfPair(CodeWriter& code, const std::string& known);
  int64_t pairs() const { return std::max<int64_t>(schedule.pairsAtOnce, 1); }
  auto gemms() const { return static_cast<int64_t>(region.gemms.size()); }
  bool onTensorCores() const { return schedule.stages > 0 && stage.onTensorCores; }
  int64_t warps() const { return context.structure.threads / 32; }
  /// Warps of a tile that take columns of their own.
  int64_t warpsOfColumns() const {
    if (!region.sum)
      return warps();
    return schedule.stages > 0 ? warps() / region.chosen : 1;
  }
  int64_t perTile() const { return schedule.columnsPerWarp * warpsOfColumns(); }
  int64_t tilesOfPart() const { return llvm::divideCeil(region.columns, perTile()); }

  KernelContext& context;
  ExpertRegion region;
  ExpertGemvSchedule schedule;
  ExpertStage stage; ///< with rings
  ExpertMatmulOp first;
};

} // namespace

/// What loads into registers ask for.
LogicalResult ExpertEmission::checkRegisters() {
  if (gemms() * pairs() * schedule.columnsPerWarp * schedule.vector > 128)
    return context.kernel.emitOpError(
        "expects products, pairs_at_once, columns_per_warp and vector "
        "that fit into registers");
  if ((region.sum || region.choice) && schedule.pairsAtOnce > 0)
    return context.kernel.emitOpError(
               "expects no pairs_at_once beside a weighted sum or a choice of experts, but got ")
           << schedule.pairsAtOnce;
  return success();
}

/// What rings and tensor cores ask for.
LogicalResult ExpertEmission::checkRings() {
  constexpr int64_t copyBytes = BulkRows::copyBytes, superblock = 256;
  if (!context.architecture.isHopperOrLater())
    return context.kernel.emitOpError(
        "expects sm_90 or later for stages of the emitter expert_gemv");
  const Encoding& encoding = *getEncoding(elementTypeOf(first.getWeight().getType()));
  bool isNarrow = elementBytes(elementTypeOf(first.getInput().getType())) == 2;
  if (stage.onTensorCores
          ? !isNarrow || region.depth > ExpertGemvKernel::mostHeldQuants
          : region.depth % (32 * schedule.vector) != 0 || region.depth > ExpertGemvKernel::mostHeld)
    return context.kernel.emitOpError("expects whole lanes of at most ")
           << ExpertGemvKernel::mostHeld
           << " elements or, of weights in blocks, inputs of 16 bits of "
           << "at most " << ExpertGemvKernel::mostHeldQuants << " beside stages, but got "
           << region.depth;
  if (schedule.pairsAtOnce > 0)
    return context.kernel.emitOpError("expects no pairs_at_once beside stages, but got ")
           << schedule.pairsAtOnce;
  bool suitsWarp = encoding.blockSize == superblock &&
                   schedule.columnsPerWarp * stage.matrix.rowBytes % copyBytes == 0 &&
                   region.columns * stage.matrix.rowBytes % copyBytes == 0;
  if (!stage.matrix.areAligned() && !stage.matrix.skips && !suitsWarp)
    return context.kernel.emitOpError("expects the rows of a warp and of an expert to be multiples "
                                      "of 16 bytes beside stages, but got rows of ")
           << stage.matrix.rowBytes;
  if (region.sum && warps() % region.chosen != 0)
    return context.kernel.emitOpError("expects as many warps as a row has experts, or a multiple, "
                                      "beside stages, but got ")
           << warps();
  return success();
}

LogicalResult ExpertEmission::check() {
  int64_t vector = schedule.vector;
  if (!llvm::isPowerOf2_64(vector) || region.depth % vector != 0)
    return context.kernel.emitOpError(
               "expects a vector of a power of two that divides the depth of "
               "the experts, but got ")
           << vector;
  CombineTree tree = onTensorCores() ? CombineTree::TensorCores : CombineTree::Halving;
  if (region.choice && failed(ChoicePrinter(context, *region.choice).check()))
    return failure();
  for (ExpertMatmulOp op : region.gemms) {
    FailureOr<OrderAttr> order = orderOf(op);
    if (failed(order))
      return failure();
    bool whole = order->getChunk() == 0 || order->getChunk() >= region.depth;
    if (order->getLanes() != 32 * vector || order->getTree() != tree || !whole)
      return op.emitOpError("expects an order of one chunk in ")
             << 32 * vector << " lanes" << (onTensorCores() ? " of tensor cores" : " that halve")
             << ", but got " << *order;
  }
  if (failed(schedule.stages > 0 ? checkRings() : checkRegisters()))
    return failure();
  int64_t parts = schedule.pairsAtOnce > 0 ? region.experts : region.pairs();
  if (region.sum)
    parts = region.rows;
  return context.expectTiles(parts * tilesOfPart());
}

/// Where a warp's rows lie, and its ring, still empty: the expert is known after the wait.
void ExpertEmission::printRing(CodeWriter& code) {
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int lane = threadIdx.x % 32, warp = warpOfBlock();");
  code.format("const int firstColumn = static_cast<int>(tile %% %d) * %d;", tilesOfPart(),
              perTile());
  if (region.sum) {
    code.format("const long long row = tile / %d, pair = row * %d + warp %% %d;", tilesOfPart(),
                region.chosen, region.chosen);
    code.format("const int ofWarp = warp / %d * %d;", region.chosen, schedule.columnsPerWarp);
  } else {
    code.format("const long long pair = tile / %d;", tilesOfPart());
    code.format("const int ofWarp = warp * %d;", schedule.columnsPerWarp);
  }
  code.format("const int own = min(%d, %d - firstColumn - ofWarp);", schedule.columnsPerWarp,
              region.columns);
  code.format("const int turns = own <= 0 ? 0 : (own + %d) / %d * %d;", stage.rows - 1, stage.rows,
              gemms() / stage.pieces);
  code.line("int expert = 0;");
  code.open("auto firstByte = [&](int first) -> long long");
  code.format("return (static_cast<long long>(expert) * %d + firstColumn + ofWarp + first) * %d;",
              region.columns, stage.matrix.rowBytes);
  code.close(";");
  code.open("auto pieceAt = [&](int piece) -> Piece");
  code.format("const int first = piece / %d * %d;", gemms(), stage.rows);
  std::string weight = context.pointer(first.getWeight());
  if (gemms() > 1)
    weight = absl::StrFormat("(piece %% 2 == 0 ? %s : %s)", weight,
                             context.pointer(region.gemms.back().getWeight()));
  code.format("const unsigned bytes = min(%d, own - first) * %du;", stage.rows,
              stage.matrix.rowBytes);
  std::string source = absl::StrFormat("reinterpret_cast<const unsigned char*>(%s)", weight);
  if (stage.matrix.skips) {
    code.line("const unsigned skipped = firstByte(first) & 15;");
    code.format("return {%s + (firstByte(first) - skipped), (skipped + bytes + 15) / 16 * 16};",
                source);
  } else {
    code.format("return {%s + firstByte(first), bytes};", source);
  }
  code.close(";");
  code.format("using Ring = PieceRing<%d, %d, %d>;", schedule.stages, stage.pieceBytes,
              stage.pieces);
  code.format("Ring ring(reinterpret_cast<Ring::Shared*>(memory)[warp], turns * %d);",
              stage.pieces);
  code.line("ring.start<0>(pieceAt);");
}

/// `id`, chosen by the scores that are asked for or the one that is `known`, and whether it is one
/// of an expert.
void ExpertEmission::printExpertOfPair(CodeWriter& code, const std::string& known) {
  if (region.choice) {
    ChoicePrinter(context, *region.choice).printOfPair(code, region.chosen * tilesOfPart());
    code.format("const int id = chosen[pair %% %d];", region.chosen);
  } else {
    code.format("const int id = %s;", known);
  }
  code.format("const bool exists = id >= 0 && id < %d;", region.experts);
}

/// Brings x into registers before the experts are known: behind their rows, all of which are on
/// their way at once, it would be the last to arrive
/// (docs/notebook/2026-11-28-x-before-the-experts.md).
void ExpertEmission::printInput(CodeWriter& code) {
  if (stage.onTensorCores) {
    code.format("QuantInput<%s, %s, %d> held;",
                deviceType(elementTypeOf(first.getWeight().getType())),
                deviceType(elementTypeOf(first.getInput().getType())), region.depth);
    code.format("held.load(x, %d);", region.depth);
    return;
  }
  int64_t vector = schedule.vector, lanes = 32 * vector, steps = region.depth / lanes;
  code.format("float held[%d][%d];", steps, vector);
  code.unroll();
  code.format("for (int step = 0; step < %d; ++step)", steps);
  code.format("  loadVector(held[step], x + step * %d + lane * %d);", lanes, vector);
}

/// The sums of a warp's rows for its pair, in `parts`.
LogicalResult ExpertEmission::printRingGemms(CodeWriter& code) {
  code.format("const %s* x = %s + pair / %d * %d;",
              deviceType(elementTypeOf(first.getInput().getType())),
              context.pointer(first.getInput()), region.sharing(), region.depth);
  if (region.choice)
    ChoicePrinter(context, *region.choice).printScoresOfPair(code);
  else
    code.format("const int early = %s[pair];", context.pointer(first.getIds()));
  printInput(code);
  printExpertOfPair(code, "early");
  code.line("expert = exists ? id : 0;");
  if (failed(results().preload(code)))
    return failure();
  code.line("ring.fill<0>(pieceAt);");
  results().keep(code);
  code.format("__shared__ float parts[%d][%d][%d];", gemms(), region.sum ? region.chosen : 1,
              perTile());
  if (stage.onTensorCores)
    printQuants(code);
  else
    printElements(code);
  code.line("__syncthreads();");
  return success();
}

/// A row of two GEMMs, or rows of one, are lines of the same instructions.
void ExpertEmission::printQuants(CodeWriter& code) {
  bool joined = stage.rows == 1;
  int64_t groups = joined ? 1 : stage.pieces, lines = joined ? stage.pieces : stage.rows;
  code.line("#pragma unroll 1");
  code.open("for (int turn = 0; turn < turns; ++turn)");
  code.format("float partial[%d][%d] = {};", groups, lines);
  code.format("const unsigned char* bytes = ring.take()%s;",
              stage.matrix.skips ? absl::StrFormat(" + (firstByte(turn * %d) & 15)", stage.rows)
                                 : "");
  code.unroll();
  code.format("for (int p = 0; p < %d; ++p)", groups);
  code.format("  held.multiply(partial[p], bytes + p * %d, %d, %d);", stage.pieceBytes,
              joined ? stage.pieceBytes : stage.matrix.rowBytes, region.depth);
  code.line("ring.release(turn, pieceAt);");
  code.unroll();
  code.openFormat("for (int p = 0; p < %d; ++p)", groups);
  code.line("const float sum = sumOverWarp(partial[p]);");
  code.format("const int line = lane / %d, column = turn * %d + %s;", 32 / lines, stage.rows,
              joined ? "0" : "line");
  code.format("if (lane %% %d == 0 && column < own)", 32 / lines);
  printPart(code, joined ? "line" : "p");
  code.close();
  code.close();
}

/// A row of each GEMM in turn.
void ExpertEmission::printElements(CodeWriter& code) {
  int64_t vector = schedule.vector, lanes = 32 * vector, steps = region.depth / lanes;
  code.line("#pragma unroll 1");
  code.open("for (int turn = 0; turn < turns; ++turn)");
  code.format("float partial[%d] = {};", vector);
  code.line("const unsigned char* bytes = ring.take();");
  code.unroll();
  code.openFormat("for (int step = 0; step < %d; ++step)", steps);
  code.format("float w[%d];", vector);
  code.format("decodeRow<%s>(w, bytes, 0, %d, step * %d + lane * %d);",
              deviceType(elementTypeOf(first.getWeight().getType())), region.depth, lanes, vector);
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", vector);
  code.line("  partial[j] = __fmaf_rn(held[step][j], w[j], partial[j]);");
  code.close();
  code.line("ring.release(turn, pieceAt);");
  code.line("const float sum = combineWarpLanes(partial);");
  code.format("const int column = turn / %d;", gemms());
  code.line("if (lane == 0)");
  printPart(code, absl::StrFormat("turn %% %d", gemms()));
  code.close();
}

/// Stores the `sum` of `column` of a GEMM, under the condition before it.
void ExpertEmission::printPart(CodeWriter& code, const std::string& gemm) {
  code.format("  parts[%s][%s][ofWarp + column] = %s;", gemm,
              region.sum ? absl::StrFormat("warp %% %d", region.chosen) : "0",
              region.sum ? "exists ? sum : 0.0f" : "sum");
}

void ExpertEmission::printPlace(CodeWriter& code) {
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const int firstColumn = static_cast<int>(tile %% %d) * %d;", tilesOfPart(),
              perTile());
  if (region.sum) {
    code.format("const long long row = tile / %d;", tilesOfPart());
    code.format("__shared__ float parts[1][%d][%d];", region.chosen, perTile());
    return;
  }
  if (schedule.pairsAtOnce > 0) {
    code.format("const int expert = static_cast<int>(tile / %d);", tilesOfPart());
  } else {
    code.format("const long long pair = tile / %d;", tilesOfPart());
    if (region.choice)
      ChoicePrinter(context, *region.choice).printScoresOfPair(code);
    printExpertOfPair(code, context.pointer(first.getIds()) + "[pair]");
    code.line("const int expert = exists ? id : 0;");
  }
  code.format("__shared__ float parts[%d][%d][%d];", region.gemms.size(), pairs(), perTile());
}

/// The rows of W of a warp; columns after the end repeat the last one and are not stored.
void ExpertEmission::printRows(CodeWriter& code) {
  code.format("long long weightRow[%d];", schedule.columnsPerWarp);
  code.unroll();
  code.format("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
  code.format("  weightRow[c] = static_cast<long long>(expert) * %d + min(firstColumn + %sc, %d);",
              region.columns,
              region.sum ? "" : absl::StrFormat("warp * %d + ", schedule.columnsPerWarp),
              region.columns - 1);
}

/// One step along the depth: the rows of W of each GEMM, then every row of x in turn.
void ExpertEmission::printStep(CodeWriter& code) {
  std::string weightType = deviceType(elementTypeOf(first.getWeight().getType()));
  code.format("float w[%d][%d][%d];", region.gemms.size(), schedule.columnsPerWarp,
              schedule.vector);
  for (auto [index, gemm] : llvm::enumerate(region.gemms)) {
    code.unroll();
    code.format("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
    code.format("  decodeRow<%s>(w[%d][c], %s, weightRow[c], %d, k);", weightType, index,
                context.pointer(gemm.getWeight()), region.depth);
  }
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", pairs());
  code.format("float x[%d];", schedule.vector);
  code.format("loadVector(x, %s + inputRow[m] * %d + k);", context.pointer(first.getInput()),
              region.depth);
  for (size_t index = 0; index < region.gemms.size(); ++index) {
    code.unroll();
    code.format("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
    code.unroll();
    code.format("  for (int j = 0; j < %d; ++j)", schedule.vector);
    code.format("    sums[%d][m][c][j] = __fmaf_rn(x[j], w[%d][c][j], sums[%d][m][c][j]);", index,
                index, index);
  }
  code.close();
}

/// The sums of all GEMMs for the rows `inputRow`, in `parts`.
void ExpertEmission::printGemms(CodeWriter& code) {
  code.format("float sums[%d][%d][%d][%d] = {};", region.gemms.size(), pairs(),
              schedule.columnsPerWarp, schedule.vector);
  code.line("#pragma unroll 4");
  code.openFormat("for (int k = lane * %d; k < %d; k += %d)", schedule.vector, region.depth,
                  32 * schedule.vector);
  printStep(code);
  code.close();
  code.unroll();
  code.format("for (int p = 0; p < %d; ++p)", region.gemms.size());
  code.unroll();
  code.format("for (int m = 0; m < %d; ++m)", pairs());
  code.unroll();
  code.openFormat("for (int c = 0; c < %d; ++c)", schedule.columnsPerWarp);
  code.line("const float sum = combineLanes<32>(sums[p][m][c], nullptr);");
  code.line("if (lane == 0)");
  if (region.sum)
    code.line("  parts[p][j][c] = exists ? sum : 0.0f;");
  else
    code.format("  parts[p][m][warp * %d + c] = sum;", schedule.columnsPerWarp);
  code.close();
}

/// A tile of an expert: lists its pairs, the first expert's also those of none, as complements, and
/// multiplies them some at once.
LogicalResult ExpertEmission::printExpert(CodeWriter& code) {
  int64_t segment = std::min(ExpertGemvKernel::mostListed, region.pairs());
  code.format("__shared__ int listed[%d];", segment);
  code.line("__shared__ int found;");
  code.openFormat("for (int segment = 0; segment < %d; segment += %d)", region.pairs(), segment);
  code.line("if (threadIdx.x == 0)");
  code.line("  found = 0;");
  code.line("__syncthreads();");
  code.openFormat("for (int i = segment + threadIdx.x; i < min(segment + %d, %d); i += %d)",
                  segment, region.pairs(), context.structure.threads);
  code.format("const int id = %s[i];", context.pointer(first.getIds()));
  code.format("const bool exists = id >= 0 && id < %d;", region.experts);
  code.line("if (exists ? id == expert : expert == 0)");
  code.line("  listed[atomicAdd(&found, 1)] = exists ? i : ~i;");
  code.close();
  code.line("__syncthreads();");
  code.openFormat("for (int begin = 0; begin < found; begin += %d)", pairs());
  code.format("long long inputRow[%d];", pairs());
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", pairs());
  code.line("const int entry = listed[min(begin + m, found - 1)];");
  code.format("inputRow[m] = (entry >= 0 ? entry : ~entry) / %d;", region.sharing());
  code.close();
  printGemms(code);
  code.line("__syncthreads();");
  if (failed(results().print(code)))
    return failure();
  code.line("__syncthreads();");
  code.close();
  code.line("__syncthreads();");
  code.close();
  return success();
}

/// The GEMMs of a row, of which each warp takes whole ones, in `parts`.
void ExpertEmission::printRowGemms(CodeWriter& code) {
  code.openFormat("for (int j = warp; j < %d; j += %d)", region.chosen,
                  context.structure.threads / 32);
  code.format("const long long pair = row * %d + j;", region.chosen);
  printExpertOfPair(code, context.pointer(first.getIds()) + "[pair]");
  code.line("const int expert = exists ? id : 0;");
  printRows(code);
  code.format("const long long inputRow[1] = {pair / %d};", region.sharing());
  printGemms(code);
  code.close();
  code.line("__syncthreads();");
}

LogicalResult ExpertEmission::emit() {
  if (failed(check()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh"};
  if (region.choice)
    structure.headers.push_back("expert_choice.cuh");
  if (schedule.stages > 0) {
    structure.headers.push_back("bulk.cuh");
    if (stage.onTensorCores)
      structure.headers.push_back("quants.cuh");
    printRing(structure.begin(PhaseKind::Load, {}, {{MemorySpace::Shared, "ring"}}));
  }
  std::vector<Access> reads = context.arguments(true);
  llvm::append_range(reads, context.arguments(false));
  CodeWriter& code = structure.begin(PhaseKind::Store, reads, context.results());
  if (schedule.stages > 0)
    return failed(printRingGemms(code)) ? failure() : results().print(code);
  printPlace(code);
  if (schedule.pairsAtOnce > 0) {
    printRows(code);
    return printExpert(code);
  }
  if (failed(results().preload(code)))
    return failure();
  results().keep(code);
  if (region.sum) {
    printRowGemms(code);
    return results().print(code);
  }
  printRows(code);
  code.format("const long long inputRow[1] = {pair / %d};", region.sharing());
  printGemms(code);
  code.line("__syncthreads();");
  return results().print(code);
}

static LogicalResult emitExpertGemv(KernelContext& context) {
  FailureOr<ExpertGemvKernel> kernel = context.read<ExpertGemvKernel>();
  return failed(kernel) ? failure() : ExpertEmission(context, *kernel).emit();
}

extern constexpr Emitter expertGemv = {ExpertGemvKernel::name, emitExpertGemv};

} // namespace tenon::codegen::cuda::emitters
