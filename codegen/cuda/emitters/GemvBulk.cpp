#include "kernels/cuda/GemvBulk.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/GemmInputs.h"
#include "codegen/cuda/emitters/GemmResults.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// y = x · Wᵀ for very few rows of x, on sm_90 and later. A block owns consecutive lines and its
/// warps take the lines' segments in turn (GemvBulkLayout): each brings its own through a ring in
/// shared memory by bulk copies that it issues itself, which on an H200 beats loads into registers
/// and a ring shared by the block, whose cost is a barrier a piece (measured 2026-11-20). Weights
/// that are constant are on their way before the kernel waits for the one before.
///
/// x lies in shared memory, made by every block (GemmInputs). Warps meet after that and again
/// when all sums are there; the epilogue of a block's lines follows (GemmResults).
///
/// Weights in blocks are multiplied with inputs of 16 bits on tensor cores (`device/quants.cuh`).
///
/// Parameters: those of `GemvBulkSchedule`.
/// Orders have chunks of whole lanes, 32 · vector of them, or are of tensor cores.
class GemvBulkEmission {
public:
  GemvBulkEmission(KernelContext& context, GemvBulkKernel& kernel)
      : context(context), region(kernel.region), layout(kernel.layout) {}

  LogicalResult emit();

private:
  LogicalResult readLayout();
  void printRing(CodeWriter& code);
  void printPlace(CodeWriter& code);
  void printPieces(CodeWriter& code);
  void printOperand(CodeWriter& code);
  void printHeld(CodeWriter& code);
  void printMainLoop(CodeWriter& code);
  std::string fillStatement() const;
  /// Whether copies bring bytes beside those of segments.
  bool skips() const {
    return llvm::any_of(layout.gemms,
                        [](const GemvBulkLayout::Gemm& gemm) { return gemm.matrix.skips; });
  }
  void printSegment(CodeWriter& code);
  void printHeldQuants(CodeWriter& code);
  void printQuants(CodeWriter& code);
  void printSums(CodeWriter& code);
  /// Elements of the longest segment.
  int64_t mostElements() const;
  using Statement = llvm::function_ref<std::string(GemmRegion::Group&, size_t index)>;
  void printCases(CodeWriter& code, Statement statement);

  KernelContext& context;
  GemmRegion& region;
  const GemvBulkLayout& layout;
  bool hasOneLength = false;  ///< every segment has as many elements
  bool hasWholeLanes = false; ///< every segment has whole lanes
};

} // namespace

LogicalResult GemvBulkEmission::readLayout() {
  if (!context.architecture.isHopperOrLater())
    return context.kernel.emitOpError("expects sm_90 or later for the emitter gemv_bulk");
  const GemvBulkLayout::Gemm& first = layout.gemms.front();
  hasOneLength = llvm::all_of(layout.gemms, [&](const GemvBulkLayout::Gemm& gemm) {
    return gemm.chunk == first.chunk && gemm.depth % gemm.chunk == 0;
  });
  hasWholeLanes = llvm::all_of(layout.gemms, [&](const GemvBulkLayout::Gemm& gemm) {
    return gemm.depth % (32 * layout.vector) == 0;
  });
  return success();
}

int64_t GemvBulkEmission::mostElements() const {
  int64_t most = 0;
  for (const GemvBulkLayout::Gemm& gemm : layout.gemms)
    most = std::max(most, gemm.chunk);
  return most;
}

/// The statement of each GEMM where `line` and `segment` are its own; once where all are alike.
void GemvBulkEmission::printCases(CodeWriter& code, Statement statement) {
  std::vector<std::pair<std::string, std::string>> cases; // condition, statement
  for (GemmRegion::Group& group : region.groups)
    for (size_t index = 0; index < group.gemms.size(); ++index) {
      const GemvBulkLayout::Gemm& gemm = layout.gemms[index];
      llvm::SmallVector<std::string> conditions;
      if (&group != &region.groups.back())
        conditions.push_back(absl::StrFormat("line < %d", group.firstLine + group.columns));
      if (index + 1 < group.gemms.size())
        conditions.push_back(absl::StrFormat("segment < %d", gemm.firstSegment + gemm.segments));
      cases.emplace_back(llvm::join(conditions, " && "), statement(group, index));
    }
  auto isLast = [&](const auto& entry) { return entry.second == cases.back().second; };
  if (llvm::all_of(cases, isLast))
    return code.line(cases.back().second);
  for (size_t i = 0; i + 1 < cases.size(); ++i) {
    code.format("%sif (%s)", i == 0 ? "" : "else ", cases[i].first);
    code.line("  " + cases[i].second);
  }
  code.line("else");
  code.line("  " + cases.back().second);
}

/// Where a warp's pieces lie, and the first of them on their way.
void GemvBulkEmission::printRing(CodeWriter& code) {
  std::string batch = layout.batch > 1 ? absl::StrFormat(", %d", layout.batch) : "";
  code.format("using Ring = PieceRing<%d, %d%s>;", layout.stages, layout.pieceBytes, batch);
  code.line("extern __shared__ __align__(128) unsigned char memory[];");
  code.line("const int lane = threadIdx.x % 32, warp = warpOfBlock();");
  code.format("const int firstLine = static_cast<int>(tile) * %d / %d;", region.lines,
              layout.tiles);
  code.format("const int lastLine = (static_cast<int>(tile) + 1) * %d / %d;", region.lines,
              layout.tiles);
  code.format("const int segments = (lastLine - firstLine) * %d;", layout.segments);
  code.format("const int pieces = (segments - warp + %d) / %d;", layout.warps - 1, layout.warps);
  printPieces(code);
  code.line("Ring ring(reinterpret_cast<Ring::Shared*>(memory)[warp], pieces);");
  if (layout.early == layout.stages)
    code.line("ring.start(pieceAt);");
  else
    code.format("ring.start<%d>(pieceAt);", layout.early);
}

/// What fills the ring after the loads of x; empty where it is full before.
std::string GemvBulkEmission::fillStatement() const {
  return layout.early == layout.stages ? ""
                                       : absl::StrFormat("ring.fill<%d>(pieceAt);", layout.early);
}

/// `line` and `segment` of the warp's segment `piece`.
void GemvBulkEmission::printPlace(CodeWriter& code) {
  int64_t segments = layout.segments;
  if (layout.warps % segments == 0) { // the same segment of each line
    code.format("[[maybe_unused]] const int line = firstLine + warp / %d + piece * %d;", segments,
                layout.warps / segments);
    return code.format("[[maybe_unused]] const int segment = warp %% %d;", segments);
  }
  code.format("[[maybe_unused]] const int line = firstLine + (warp + piece * %d) / %d;",
              layout.warps, segments);
  code.format("[[maybe_unused]] const int segment = (warp + piece * %d) %% %d;", layout.warps,
              segments);
}

/// What brings segment `piece` of a warp; where copies bring bytes beside it, also where it begins
/// in its weight.
void GemvBulkEmission::printPieces(CodeWriter& code) {
  auto beginOf = [&](GemmRegion::Group& group, size_t index) {
    const GemvBulkLayout::Gemm& gemm = layout.gemms[index];
    return absl::StrFormat("(line - %d) * %dLL + (segment - %d) * %d", group.firstLine,
                           gemm.matrix.rowBytes, gemm.firstSegment, gemm.chunkBytes);
  };
  if (skips()) {
    code.open("auto firstByte = [&](int piece) -> long long");
    printPlace(code);
    printCases(code, [&](GemmRegion::Group& group, size_t index) {
      return "return " + beginOf(group, index) + ";";
    });
    code.close(";");
  }
  code.open("auto pieceAt = [&](int piece) -> Piece");
  printPlace(code);
  if (skips()) {
    code.line("const long long first = firstByte(piece);");
    code.line("const unsigned skipped = first & 15;");
  }
  printCases(code, [&](GemmRegion::Group& group, size_t index) {
    const GemvBulkLayout::Gemm& gemm = layout.gemms[index];
    std::string bytes = absl::StrFormat("%du", gemm.chunkBytes);
    if (gemm.lastBytes != gemm.chunkBytes)
      bytes = absl::StrFormat("segment == %d ? %du : %du", gemm.firstSegment + gemm.segments - 1,
                              gemm.lastBytes, gemm.chunkBytes);
    std::string weight = absl::StrFormat("reinterpret_cast<const unsigned char*>(%s)",
                                         context.pointer(group.gemms[index].op.getWeight()));
    if (skips())
      return absl::StrFormat("return {%s + (first - skipped), (skipped + (%s) + 15) / 16 * 16};",
                             weight, bytes);
    return absl::StrFormat("return {%s + %s, %s};", weight, beginOf(group, index), bytes);
  });
  code.close(";");
}

/// `x`, what segment `index` of the block is multiplied with, `stride` elements a row, and `count`,
/// the segment's elements.
void GemvBulkEmission::printOperand(CodeWriter& code) {
  code.format("const int index = warp + piece * %d;", layout.warps);
  printPlace(code);
  code.format("const %s* x;", deviceType(elementTypeOf(region.inputs.front().value.getType())));
  code.line("[[maybe_unused]] int stride;");
  if (hasOneLength)
    code.format("constexpr int count = %d;", layout.gemms.front().chunk);
  else
    code.line("int count;");
  printCases(code, [&](GemmRegion::Group& group, size_t index) {
    const GemvBulkLayout::Gemm& gemm = layout.gemms[index];
    std::string offset = gemm.segments == 1 ? ""
                                            : absl::StrFormat(" + (segment - %d) * %d",
                                                              gemm.firstSegment, gemm.chunk);
    std::string statement = absl::StrFormat("x = input%d%s, stride = %d", group.gemms[index].input,
                                            offset, layout.paddedDepth(gemm.depth));
    int64_t last = gemm.depth - (gemm.segments - 1) * gemm.chunk;
    if (!hasOneLength)
      statement += absl::StrFormat(", count = segment == %d ? %d : %d",
                                   gemm.firstSegment + gemm.segments - 1, last, gemm.chunk);
    return statement + ";";
  });
}

/// The part of x of a warp's segments of blocks, `held`.
void GemvBulkEmission::printHeldQuants(CodeWriter& code) {
  if (!hasOneLength)
    code.line("int heldCount;");
  code.format("QuantInput<%s, %s, %d> held;",
              deviceType(elementTypeOf(region.first().getWeight().getType())),
              deviceType(elementTypeOf(region.inputs.front().value.getType())), mostElements());
  code.open("");
  code.line("constexpr int piece = 0;");
  printOperand(code);
  code.line("held.load(x, count);");
  if (!hasOneLength)
    code.line("heldCount = count;");
  code.close();
}

/// Adds a batch of segments of blocks, at `bytes` in the ring, to `partial`, a thread's sums of
/// each row of x.
void GemvBulkEmission::printQuants(CodeWriter& code) {
  std::string pitch = std::to_string(layout.pieceBytes);
  if (skips() && layout.batch > 1) // the second segment of two
    pitch += " + static_cast<int>(firstByte(piece + 1) & 15) - skipped";
  std::string place = "bytes, " + pitch;
  if (layout.held) {
    std::string count = hasOneLength ? std::to_string(layout.gemms.front().chunk) : "heldCount";
    return code.format("held.multiply(partial[0], %s, %s);", place, count);
  }
  code.format("multiplyQuants<%s>(partial, %s, x, stride, count);",
              deviceType(elementTypeOf(region.first().getWeight().getType())), place);
}

/// Adds a segment, at `bytes` in the ring, to `partial`, the lanes' sums of each row of x.
void GemvBulkEmission::printSegment(CodeWriter& code) {
  constexpr int64_t mostUnrolled = 16;
  int64_t vector = layout.vector, narrow = layout.inputVector, lanes = 32 * vector;
  bool unrolled = hasOneLength && layout.gemms.front().chunk <= mostUnrolled * lanes;
  code.line(unrolled ? "#pragma unroll" : "#pragma unroll 8");
  code.openFormat("for (int step = 0; step < count; step += %d)", lanes);
  code.format("const int k = step + lane * %d;", vector);
  // A lane without an element keeps its sum, sign of zero included.
  if (!hasWholeLanes) {
    code.line("if (k >= count)");
    code.line("  continue;");
  }
  code.format("float w[%d];", vector);
  code.format("decodeRow<%s>(w, bytes, 0, %d, k);",
              deviceType(elementTypeOf(region.first().getWeight().getType())),
              layout.gemms.front().chunk);
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  code.unroll();
  code.openFormat("for (int h = 0; h < %d; ++h)", vector / narrow);
  if (layout.held) {
    code.format("const float(&values)[%d] = held[step / %d][h];", narrow, lanes);
  } else {
    code.format("float values[%d];", narrow);
    code.format("loadVector(values, x + m * stride + step + h * %d + lane * %d);", 32 * narrow,
                narrow);
  }
  code.unroll();
  code.format("for (int j = 0; j < %d; ++j)", narrow);
  code.format("  partial[m][h * %d + j] =", narrow);
  code.format("      __fmaf_rn(values[j], w[h * %d + j], partial[m][h * %d + j]);", narrow, narrow);
  code.close();
  code.close();
  code.close();
}

/// The part of x of a warp's segments, `held` [steps][vectors of an input][its elements].
void GemvBulkEmission::printHeld(CodeWriter& code) {
  int64_t lanes = 32 * layout.vector, narrow = layout.inputVector;
  int64_t steps = layout.gemms.front().chunk / lanes;
  code.format("float held[%d][%d][%d];", steps, layout.vector / narrow, narrow);
  code.open("");
  code.line("constexpr int piece = 0;");
  printOperand(code);
  code.unroll();
  code.openFormat("for (int step = 0; step < %d; ++step)", steps);
  code.unroll();
  code.format("for (int h = 0; h < %d; ++h)", layout.vector / narrow);
  code.format("  loadVector(held[step][h], x + step * %d + h * %d + lane * %d);", lanes,
              32 * narrow, narrow);
  code.close();
  code.close();
}

/// The sums of the segments of a turn over the warp, `partial` of its threads, to `sums`.
void GemvBulkEmission::printSums(CodeWriter& code) {
  code.unroll();
  code.openFormat("for (int m = 0; m < %d; ++m)", region.rows);
  if (!layout.onTensorCores) {
    code.line("const float total = combineWarpLanes(partial[m]);");
    code.line("if (lane == m)");
    code.format("  sums[index * %d + m] = total;", region.rows);
  } else {
    code.line("const float total = sumOverWarp(partial[m]);");
    code.format("const int own = index + lane / %d * %d;", 32 / layout.batch, layout.warps);
    code.format("if (lane %% %d == 0 && own < segments)", 32 / layout.batch);
    code.format("  sums[own * %d + m] = total;", region.rows);
  }
  code.close();
}

void GemvBulkEmission::printMainLoop(CodeWriter& code) {
  code.format("float* const sums = reinterpret_cast<float*>(memory + %d);", layout.resultsOffset);
  if (layout.held && layout.onTensorCores)
    printHeldQuants(code);
  else if (layout.held)
    printHeld(code);
  if (layout.batch == 1) {
    code.open("for (int piece = 0; piece < pieces; ++piece)");
  } else {
    code.openFormat("for (int turn = 0; turn * %d < pieces; ++turn)", layout.batch);
    code.format("const int piece = turn * %d;", layout.batch);
  }
  if (layout.held) {
    code.format("const int index = warp + piece * %d;", layout.warps);
    if (!layout.onTensorCores)
      code.format("constexpr int count = %d;", layout.gemms.front().chunk);
  } else {
    printOperand(code);
  }
  code.format("float partial[%d][%d] = {};", region.rows,
              layout.onTensorCores ? layout.batch : layout.vector);
  if (skips()) {
    code.line("const int skipped = firstByte(piece) & 15;");
    code.line("const unsigned char* bytes = ring.take() + skipped;");
  } else {
    code.line("const unsigned char* bytes = ring.take();");
  }
  if (layout.onTensorCores)
    printQuants(code);
  else
    printSegment(code);
  code.format("ring.release(%s, pieceAt);", layout.batch == 1 ? "piece" : "turn");
  printSums(code);
  code.close();
  code.line("__syncthreads();");
}

LogicalResult GemvBulkEmission::emit() {
  if (failed(readLayout()))
    return failure();
  GemmInputs inputs(context, region, layout);
  GemmResults results(context, region, layout);
  if (failed(inputs.check()))
    return failure();
  PhaseStructure& structure = context.structure;
  structure.headers = {"blocks.cuh", "reduce.cuh", "bulk.cuh"};
  if (layout.onTensorCores)
    structure.headers.push_back("quants.cuh");
  std::vector<Access> weights;
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      weights.push_back(context.access(gemm.op.getWeight()));
  printRing(structure.begin(PhaseKind::Load, weights, {{MemorySpace::Shared, "ring"}}));
  inputs.preload();
  if (failed(results.preloadConstants()))
    return failure();
  std::vector<Access> reads = context.arguments(false);
  llvm::append_range(reads, context.arguments(true));
  // What the prologue makes for others is stored at once: what follows is a phase of stores too.
  bool stores = !region.prologueYields.empty();
  CodeWriter& prologue =
      stores ? structure.begin(PhaseKind::Store, reads, context.results())
             : structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Shared, "input"}});
  if (failed(results.preloadOthers(prologue)) || failed(inputs.print(prologue, fillStatement())))
    return failure();
  printMainLoop(structure.begin(
      stores ? PhaseKind::Store : PhaseKind::MainLoop,
      {{MemorySpace::Shared, "ring"}, {MemorySpace::Shared, "input"}, weights.front()},
      {{MemorySpace::Shared, "sums"}}));
  reads.push_back({MemorySpace::Shared, "sums"});
  return results.print(structure.begin(PhaseKind::Store, reads, context.results()));
}

static LogicalResult emitGemvBulk(KernelContext& context) {
  FailureOr<GemvBulkKernel> kernel = context.read<GemvBulkKernel>();
  return failed(kernel) ? failure() : GemvBulkEmission(context, *kernel).emit();
}

extern constexpr Emitter gemvBulk = {GemvBulkKernel::name, emitGemvBulk};

} // namespace tenon::codegen::cuda::emitters
