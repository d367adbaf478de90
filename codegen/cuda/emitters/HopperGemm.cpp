#include "kernels/cuda/HopperGemm.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/RegionPrinter.h"
#include "kernels/regions/MatmulExtents.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Groups of GEMMs of an input in memory, of one or of two that one epilogue joins: warpgroups
/// multiply what the copy engine brings by tensor maps, and a group's epilogue takes eight elements
/// of a row of its y at a time, which it stores, or offers to a search for the row's largest.
class HopperGemm {
public:
  HopperGemm(KernelContext& context, GemmRegion& region, const HopperTile& tile)
      : context(context), region(region), tile(tile), shape(region.first()) {}

  LogicalResult check();
  void addTensorMaps();
  void findOperands();
  void printOfGroup(const char* name, llvm::function_ref<int64_t(size_t)> value);
  void printConfig();
  void printStart();
  LogicalResult printRun();

private:
  static constexpr int runElements = 8; ///< that the epilogue takes at a time
  /// Stages of W on their way before the kernel waits: what the blocks of the kernel before leave
  /// idle.
  static constexpr int64_t earlyStages = 4;

  Type element() { return elementTypeOf(region.first().getInput().getType()); }
  Type weight() { return region.first().getWeight().getType().getElementType(); }
  bool isQuantised() const { return tile.pieces > 0; }
  Type result() { return region.first().getType().getElementType(); }
  /// What the epilogue of a group loads before the GEMMs are done: an argument, and the number
  /// of the `Packed` that it has in the operands of a run, which groups share.
  struct Operand {
    BlockArgument argument;
    size_t slot;
  };

  /// Of K: a piece of quantised weights, or what 16 bytes hold.
  int64_t depthUnit() const { return isQuantised() ? HopperTile::pieceDepth : 8; }
  static bool isAligned(const GemmRegion::Group& group) { return group.columns % runElements == 0; }
  LogicalResult checkGemm(GemmRegion::Gemm gemm);
  bool mapsResults();
  bool hasWholeRows();
  bool hasWholeLines();
  bool isPlain();
  unsigned resultArgument(Value yielded);
  llvm::SmallVector<BlockArgument> operandsOf(const GemmRegion::Group& group);
  void addOperand(size_t group, BlockArgument argument);
  void printGroup(CodeWriter& code, size_t group);
  void printLoad(CodeWriter& code);
  void printGroupLoad(CodeWriter& code, size_t group);
  LogicalResult printStore(CodeWriter& code);
  LogicalResult printGroupStore(CodeWriter& code, size_t group);

  KernelContext& context;
  GemmRegion& region;
  HopperTile tile;
  MatmulExtents shape;                                          ///< of the first GEMM
  llvm::SmallVector<llvm::SmallVector<Operand, 2>, 4> operands; ///< of each group
  struct Slot {
    Type type;
    int64_t registers;
  };
  llvm::SmallVector<Slot, 4> slots;
  bool mapped = false; ///< tiles of results are stored by tensor maps
  int64_t chunk = 0;   ///< columns of B of a product that a warp stores at a time
};

} // namespace

LogicalResult HopperGemm::checkGemm(GemmRegion::Gemm gemm) {
  MatmulExtents own(gemm.op);
  if (element().isF32() || !llvm::isa<BlockArgument>(gemm.op.getInput()) ||
      !llvm::isa<BlockArgument>(gemm.op.getWeight()) ||
      elementTypeOf(gemm.op.getInput().getType()) != element() ||
      elementTypeOf(gemm.op.getWeight().getType()) != weight() ||
      (weight() != element() && !isQuantised()) || gemm.op.isQuantized() ||
      gemm.op.getType().getElementType() != result() || own.batches != 1 ||
      own.depth % depthUnit() != 0)
    return gemm.op.emitOpError(
               "expects factors of one 16-bit type in memory, or weights of one block format, one "
               "batch and a depth of a multiple of ")
           << depthUnit() << " for the emitter hopper_gemm";
  OrderAttr expected =
      orderForHopperGemm(gemm.op.getContext(), tile.split, own.depth, isQuantised());
  if (gemm.op.getOrderAttr() == expected)
    return success();
  InFlightDiagnostic error = gemm.op.emitOpError("expects ");
  if (expected)
    error << "order " << expected << " of K in " << tile.split << " parts";
  else
    error << "no order";
  error << " on tensor cores, but got ";
  if (gemm.op.getOrderAttr())
    return error << gemm.op.getOrderAttr();
  return error << "none";
}

LogicalResult HopperGemm::check() {
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      if (failed(checkGemm(gemm)))
        return failure();
  if (region.inputs.size() != 1)
    return context.kernel.emitOpError("expects products of one input for the emitter hopper_gemm");
  int64_t blocks = context.schedule().getTiles();
  int64_t units = tile.units(shape.rows, widthsOf(region));
  if (!tile.fillsParts(shape.depth))
    return context.kernel.emitOpError("expects parts of at least one stage of K, but got ")
           << tile.split << " parts of " << shape.depth << " elements";
  if (tile.split > 1 && blocks != units * tile.cluster())
    return context.kernel.emitOpError("expects a block for each of ")
           << tile.split << " parts of a tile, " << units * tile.cluster() << ", but got " << blocks
           << " blocks";
  if (blocks % tile.cluster() != 0 || blocks > units * tile.cluster())
    return context.kernel.emitOpError("expects whole clusters of ")
           << tile.cluster() << " blocks, at most " << units << " of them, but got " << blocks
           << " blocks";
  if (!context.architecture.hasWarpgroups())
    return context.kernel.emitOpError("expects sm_90a for the emitter hopper_gemm, but got ")
           << context.architecture.name;
  return success();
}

/// Whether each group has one result that boxes of 64 columns can be stored to.
bool HopperGemm::mapsResults() {
  constexpr size_t mostMaps = 8; // of a kernel
  if (!tile.fillsBoxes(elementBytes(result())) ||
      1 + region.groups.size() * (1 + tile.gemms) > mostMaps)
    return false;
  auto yields = context.kernel.getYield().getValues();
  return llvm::all_of(region.groups, [&](GemmRegion::Group& group) {
    return isAligned(group) && group.yields.size() == 1 &&
           group.yields.front().getType() == group.gemms.front().op.getType() &&
           llvm::count(yields, group.yields.front()) == 1;
  });
}

/// Whether no tile has rows outside x.
bool HopperGemm::hasWholeRows() {
  int64_t together = tile.rowsOfX() * (tile.weightRows ? tile.clusterB : tile.clusterA);
  return shape.rows % together == 0;
}

/// Whether no tile has lines outside W.
bool HopperGemm::hasWholeLines() {
  llvm::SmallVector<int64_t, 4> widths = widthsOf(region);
  int64_t lines = tile.rowsOfW() / tile.gemms;
  int64_t together = tile.weightRows ? tile.clusterA : tile.clusterB;
  return tile.weightTiles(widths) % together == 0 &&
         llvm::all_of(widths, [&](int64_t width) { return width % lines == 0; });
}

/// Whether GEMMs are results as they are.
bool HopperGemm::isPlain() {
  return llvm::all_of(region.groups, [](GemmRegion::Group& group) {
    Value gemm = group.gemms.front().op.getResult();
    return llvm::all_of(group.yields, [&](Value value) { return value == gemm; });
  });
}

/// The number of the parameter that a result is written to.
unsigned HopperGemm::resultArgument(Value yielded) {
  std::string name = context.destinations(yielded).front();
  auto& parameters = context.structure.parameters;
  return llvm::find_if(parameters, [&](const auto& parameter) { return parameter.name == name; }) -
         parameters.begin();
}

void HopperGemm::addTensorMaps() {
  runtime::MatmulType type =
      element().isF16() ? runtime::MatmulType::F16 : runtime::MatmulType::Bf16;
  auto add = [&](unsigned argument, int64_t rows, int64_t columns, int64_t boxRows) {
    context.structure.tensorMaps.push_back(
        {argument, static_cast<uint32_t>(boxRows), rows, columns, type});
  };
  auto addFactor = [&](Value argument, int64_t rows, int64_t boxRows) {
    add(llvm::cast<BlockArgument>(argument).getArgNumber(), rows, shape.depth, boxRows);
  };
  addFactor(region.first().getInput(), shape.rows, std::min<int64_t>(tile.boxOfX(), shape.rows));
  for (GemmRegion::Group& group : region.groups)
    for (GemmRegion::Gemm gemm : group.gemms)
      if (!isQuantised())
        addFactor(gemm.op.getWeight(), group.columns, tile.boxOfW());
  mapped = mapsResults();
  for (GemmRegion::Group& group : region.groups)
    if (mapped)
      add(resultArgument(group.yields.front()), shape.rows, group.columns, HopperTile::boxOfResult);
}

/// A function of a group's number.
void HopperGemm::printOfGroup(const char* name, llvm::function_ref<int64_t(size_t)> value) {
  std::string values = absl::StrFormat("%d", value(0));
  for (size_t group = 1; group < region.groups.size(); ++group)
    values = absl::StrFormat("group == %d ? %d : %s", group, value(group), values);
  context.structure.declarations.format(
      "static constexpr __device__ int %s(int group) { return %s; }", name, values);
}

void HopperGemm::printConfig() {
  CodeWriter& code = context.structure.declarations;
  code.open("struct Config");
  code.format("using Element = %s;", deviceType(element()));
  code.format("using Result = %s;", deviceType(result()));
  code.format("static constexpr int blocks = %d, columns = %d, stages = %d, gemms = %d;",
              tile.blocks, tile.columns, tile.stages, tile.gemms);
  code.format("using Encoding = %s;", deviceType(weight()));
  if (isQuantised())
    code.format("static constexpr int lineBytes = %d;",
                getEncoding(weight())->bytesFor(shape.depth));
  code.format("static constexpr int rowsOfX = %d;", shape.rows);
  code.format("static constexpr bool wholeX = %s, wholeW = %s;", hasWholeRows() ? "true" : "false",
              hasWholeLines() ? "true" : "false");
  printOfGroup("width", [&](size_t group) { return region.groups[group].columns; });
  code.format("static constexpr int ringPieces = %d;", tile.pieces);
  code.format("static constexpr int groups = %d, clusterA = %d, clusterB = %d, split = %d;",
              region.groups.size(), tile.clusterA, tile.clusterB, tile.split);
  code.format("static constexpr bool pingPong = %s, weightRows = %s;",
              tile.pingPong ? "true" : "false", tile.weightRows ? "true" : "false");
  code.format("static constexpr bool mapped = %s, plain = %s;", mapped ? "true" : "false",
              isPlain() ? "true" : "false");
  code.format("static constexpr int chunk = %d;", chunk);
  llvm::SmallVector<int64_t, 4> widths = widthsOf(region);
  printOfGroup("firstTile", [&](size_t group) {
    return tile.weightTiles(llvm::ArrayRef(widths).take_front(group));
  });
  code.close(";");
  code.line("using Gemm = HopperGemm<Config>;");
  code.format("static_assert(sizeof(Gemm::Shared) <= %d, \"what the launch brings\");",
              tile.smemBytes(elementBytes(result())));
}

void HopperGemm::printStart() {
  std::vector<Access> weights;
  std::string maps;
  for (GemmRegion::Group& group : region.groups) {
    std::string ofGroup;
    for (GemmRegion::Gemm gemm : group.gemms) {
      weights.push_back(context.access(gemm.op.getWeight()));
      if (!ofGroup.empty())
        ofGroup += ", ";
      ofGroup += isQuantised() ? absl::StrFormat("reinterpret_cast<const unsigned char*>(%s)",
                                                 context.pointer(gemm.op.getWeight()))
                               : absl::StrFormat("&map%d", weights.size());
    }
    maps += absl::StrFormat("%s{%s}", maps.empty() ? "" : ", ", ofGroup);
  }
  PhaseStructure& structure = context.structure;
  CodeWriter& code =
      structure.begin(PhaseKind::Load, weights, {{MemorySpace::Shared, "gemm.shared"}});
  llvm::SmallVector<int64_t, 4> widths = widthsOf(region);
  int64_t rowTiles = tile.rowTiles(shape.rows, widths);
  int64_t columnTiles = tile.columnTiles(shape.rows, widths);
  code.line("extern __shared__ __align__(1024) unsigned char memory[];");
  code.format("Gemm gemm(memory, {%d, %d, %d, %d});", rowTiles, columnTiles,
              tile.band(shape.rows, widths, context.schedule().getTiles() / tile.cluster()),
              llvm::divideCeil(shape.depth, HopperTile::depth));
  code.format("Gemm::Weights weights = {%s};", maps);
  // Weights that one row of tiles reads are read once.
  bool once = (tile.weightRows ? columnTiles : rowTiles) == 1;
  code.format("const unsigned long long weightPolicy = %s();", once ? "evictFirst" : "evictNormal");
  code.format("gemm.start(map0, weights, %d, weightPolicy);", earlyStages);
}

/// Whether all rows of y have the same of it.
static bool isRow(BlockArgument argument) {
  auto type = llvm::cast<RankedTensorType>(argument.getType());
  return type.getNumElements() == type.getShape().back();
}

/// Registers of a thread that hold an operand of a chunk of `columns` columns: runs of 8 elements
/// of 16 rows, or one of the row that they share.
static int64_t registersOf(BlockArgument argument, int64_t columns) {
  constexpr int64_t registerBytes = 4, rows = 16, run = 8, lanes = 32, address = 2;
  int64_t ofRun =
      run * static_cast<int64_t>(elementBytes(elementTypeOf(argument.getType()))) / registerBytes;
  return address + (isRow(argument) ? ofRun : rows * columns / run / lanes * ofRun);
}

/// What a group's epilogue loads that lies in memory as y does, or as one row of it; such rows,
/// which the cache has, come last.
llvm::SmallVector<BlockArgument> HopperGemm::operandsOf(const GemmRegion::Group& group) {
  llvm::SmallSetVector<BlockArgument, 4> found;
  auto visit = [&](auto&& self, Value value) -> void {
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
      if (type && llvm::isa<FloatType>(type.getElementType()) && type.getRank() > 0 &&
          type.getShape().back() == group.columns)
        found.insert(argument);
      return;
    }
    Operation* op = value.getDefiningOp();
    if (llvm::isa<ElementwiseOpInterface, ArgmaxOp>(op))
      for (Value operand : op->getOperands())
        self(self, operand);
  };
  if (isAligned(group))
    for (Value yielded : group.yields)
      visit(visit, yielded);
  auto arguments = llvm::to_vector(found);
  llvm::sort(arguments, [](BlockArgument a, BlockArgument b) {
    return std::pair(isRow(a), a.getArgNumber()) < std::pair(isRow(b), b.getArgNumber());
  });
  return arguments;
}

/// Gives the argument a slot, one that an earlier group has where there is such; none where there
/// are no registers left for another.
void HopperGemm::addOperand(size_t group, BlockArgument argument) {
  Type type = elementTypeOf(argument.getType());
  int64_t registers = registersOf(argument, chunk);
  auto isTaken = [&](size_t slot) {
    return llvm::any_of(operands[group],
                        [&](const Operand& operand) { return operand.slot == slot; });
  };
  int64_t all = registers;
  for (auto [slot, other] : llvm::enumerate(slots)) {
    if (other.type == type && other.registers == registers && !isTaken(slot)) {
      operands[group].push_back({argument, slot});
      return;
    }
    all += other.registers;
  }
  if (all > tile.operandRegisters())
    return;
  operands[group].push_back({argument, slots.size()});
  slots.push_back({type, registers});
}

/// Chooses chunks of 64 columns, or of 32, whose operands take fewer registers, where the others'
/// would not all have some.
void HopperGemm::findOperands() {
  constexpr int64_t wide = 64, narrow = 32;
  int64_t most = 0;
  for (const GemmRegion::Group& group : region.groups) {
    int64_t all = 0;
    for (BlockArgument argument : operandsOf(group))
      all += registersOf(argument, wide);
    most = std::max(most, all);
  }
  chunk = mapped || most <= tile.operandRegisters() ? wide : narrow;
  operands.resize(region.groups.size());
  for (auto [number, group] : llvm::enumerate(region.groups))
    for (BlockArgument argument : operandsOf(group))
      addOperand(number, argument);
}

/// Opens what is done for a group alone.
void HopperGemm::printGroup(CodeWriter& code, size_t group) {
  code.openFormat("if constexpr (decltype(group)::value == %d)", group);
}

void HopperGemm::printGroupLoad(CodeWriter& code, size_t group) {
  int64_t columns = region.groups[group].columns;
  // Clamp to y so that loads stay in bounds; such runs are not stored.
  code.format("const int row = min(m, %d), column = min(n, %d);", shape.rows - 1,
              columns - runElements);
  RegionPrinter printer(context, region.groups[group].gemms.front().op.getType().getShape(),
                        /*flat=*/false, runElements);
  printer.moveTo(code, {"static_cast<long long>(row)", "column", ""});
  for (const Operand& operand : operands[group])
    code.format("loadPacked(operands.of%d, %s);", operand.slot, printer.address(operand.argument));
}

void HopperGemm::printLoad(CodeWriter& code) {
  code.open("struct Operands");
  for (auto [number, slot] : llvm::enumerate(slots))
    code.format("Packed<%d, %s> of%d;", runElements, deviceType(slot.type), number);
  code.close(";");
  code.open("auto load = [&](auto group, int m, int n)");
  code.line("Operands operands;");
  for (size_t group = 0; group < region.groups.size(); ++group) {
    if (operands[group].empty())
      continue;
    printGroup(code, group);
    printGroupLoad(code, group);
    code.close();
  }
  code.line("return operands;");
  code.close(";");
}

LogicalResult HopperGemm::printGroupStore(CodeWriter& code, size_t number) {
  GemmRegion::Group& group = region.groups[number];
  if (mapped) {
    code.format("if (m >= %d || n >= %d)", shape.rows, group.columns);
    code.format("  return Packed<%d, %s>();", runElements, deviceType(result()));
  } else {
    code.openFormat("if (m < %d && n < %d)", shape.rows, group.columns);
  }
  RegionPrinter printer(context, group.gemms.front().op.getType().getShape(), /*flat=*/false,
                        runElements);
  printer.keepPacked();
  printer.moveTo(code, {"static_cast<long long>(m)", "n",
                        isAligned(group) ? "" : absl::StrFormat("%d - n", group.columns)});
  for (auto [index, gemm] : llvm::enumerate(group.gemms)) {
    code.format("float gemm%d[%d];", index, runElements);
    code.format("widen(gemm%d, results[%d]);", index, index);
    printer.define(gemm.op.getResult(), absl::StrFormat("gemm%d", index),
                   result().isF32() ? "" : absl::StrFormat("results[%d]", index));
  }
  for (const Operand& operand : operands[number]) {
    std::string name = context.pointer(operand.argument);
    std::string packed = absl::StrFormat("operands.of%d", operand.slot);
    code.format("float wide_%s[%d];", name, runElements);
    code.format("widen(wide_%s, %s);", name, packed);
    printer.define(operand.argument, "wide_" + name,
                   elementTypeOf(operand.argument.getType()).isF32() ? "" : packed);
  }
  if (mapped) {
    FailureOr<std::string> packed = printer.packed(group.yields.front());
    if (failed(packed))
      return failure();
    code.format("return %s;", *packed);
    return success();
  }
  for (Value yielded : group.yields)
    if (failed(printer.store(yielded)))
      return failure();
  code.close();
  return success();
}

LogicalResult HopperGemm::printStore(CodeWriter& code) {
  code.openFormat("auto store = [&](auto group, int m, int n, "
                  "const Packed<%d, %s>(&results)[%d], const Operands& operands)",
                  runElements, deviceType(result()), tile.gemms);
  for (size_t group = 0; group < region.groups.size(); ++group) {
    printGroup(code, group);
    if (failed(printGroupStore(code, group)))
      return failure();
    code.close();
  }
  code.close(";");
  return success();
}

LogicalResult HopperGemm::printRun() {
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Shared, "gemm.shared"});
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, context.results());
  printLoad(code);
  if (failed(printStore(code)))
    return failure();
  std::string maps;
  for (size_t group = 0; group < region.groups.size(); ++group)
    maps += absl::StrFormat(
        "%s%s", group == 0 ? "" : ", ",
        mapped ? absl::StrFormat("&map%d", 1 + region.groups.size() * tile.gemms + group)
               : "nullptr");
  code.format("const TensorMap* const results[] = {%s};", maps);
  code.line("gemm.run(map0, weights, results, evictNormal(), weightPolicy, load, store);");
  return success();
}

static LogicalResult emitHopperGemm(KernelContext& context) {
  FailureOr<HopperGemmKernel> kernel = context.read<HopperGemmKernel>();
  if (failed(kernel))
    return failure();
  HopperGemm gemm(context, kernel->region, kernel->tile);
  if (failed(gemm.check()))
    return failure();
  context.structure.headers = {"hopper_gemm.cuh"};
  if (kernel->tile.pieces > 0)
    context.structure.headers.push_back("hopper_blocks.cuh");
  context.structure.clusterBlocks = kernel->tile.cluster();
  // The producer has too few registers left to search.
  context.structure.searchers = kernel->tile.consumerThreads();
  gemm.addTensorMaps();
  gemm.findOperands();
  gemm.printConfig();
  gemm.printStart();
  return gemm.printRun();
}

extern constexpr Emitter hopperGemm = {HopperGemmKernel::name, emitHopperGemm};

} // namespace tenon::codegen::cuda::emitters
