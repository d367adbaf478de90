#include "kernels/cuda/HopperGemm.h"
#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/MatmulShape.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// One product, or two that one epilogue joins, of an input in memory: warpgroups multiply what the
/// copy engine brings by tensor maps, and the epilogue takes eight elements of a row of y at a
/// time.
class HopperGemm {
public:
  HopperGemm(KernelContext& context, ProductRegion& region, const HopperTile& tile)
      : context(context), region(region), group(region.groups.front()), tile(tile),
        shape(region.first()) {}

  LogicalResult check();
  void addTensorMaps();
  void printConfig();
  void printStart();
  LogicalResult printRun();

private:
  static constexpr int runElements = 8; ///< that the epilogue takes at a time
  /// Stages of W on their way before the kernel waits: what the blocks of the kernel before leave
  /// idle.
  static constexpr int64_t earlyStages = 4;

  Type element() { return region.first().getWeight().getType().getElementType(); }
  Type result() { return region.first().getType().getElementType(); }
  bool isAligned() const { return shape.columns % runElements == 0; }
  void findOperands();
  void printLoad(CodeWriter& code);
  LogicalResult printStore(CodeWriter& code);

  KernelContext& context;
  ProductRegion& region;
  ProductRegion::Group& group;
  HopperTile tile;
  MatmulShape shape;
  llvm::SmallVector<BlockArgument>
      operands; ///< of the epilogue, loaded before the products are done
};

} // namespace

LogicalResult HopperGemm::check() {
  auto isInMemory = [](ProductRegion::Product product) {
    return llvm::isa<BlockArgument>(product.op.getInput()) &&
           llvm::isa<BlockArgument>(product.op.getWeight());
  };
  for (ProductRegion::Product product : group.products) {
    MatmulShape own(product.op);
    if (element().isF32() || !isInMemory(product) ||
        elementTypeOf(product.op.getInput().getType()) != element() ||
        elementTypeOf(product.op.getWeight().getType()) != element() ||
        product.op.getType().getElementType() != result() || own.batches != 1 ||
        own.depth % 8 != 0 || product.input != 0)
      return product.op.emitOpError("expects factors of one 16-bit type in memory, one batch and a "
                                    "depth of a multiple of 8 for the emitter hopper_gemm");
    if (product.op.getOrderAttr())
      return product.op.emitOpError("expects no order on tensor cores, but got ")
             << product.op.getOrderAttr();
  }
  int64_t blocks = context.schedule().getTiles();
  int64_t units = tile.units(shape.rows, shape.columns);
  if (blocks % tile.cluster() != 0 || blocks > units * tile.cluster())
    return context.kernel.emitOpError("expects whole clusters of ")
           << tile.cluster() << " blocks, at most " << units << " of them, but got " << blocks
           << " blocks";
  if (!context.architecture.hasWarpgroups())
    return context.kernel.emitOpError("expects sm_90a for the emitter hopper_gemm, but got ")
           << context.architecture.name;
  return success();
}

void HopperGemm::addTensorMaps() {
  runtime::MatmulType type =
      element().isF16() ? runtime::MatmulType::F16 : runtime::MatmulType::Bf16;
  auto add = [&](Value argument, int64_t rows, int64_t boxRows) {
    context.structure.tensorMaps.push_back({llvm::cast<BlockArgument>(argument).getArgNumber(),
                                            static_cast<uint32_t>(boxRows), rows, shape.depth,
                                            type});
  };
  add(region.first().getInput(), shape.rows, tile.boxOfX());
  for (ProductRegion::Product product : group.products)
    add(product.op.getWeight(), shape.columns, tile.boxOfW());
}

void HopperGemm::printConfig() {
  CodeWriter& code = context.structure.declarations;
  code.open("struct Config");
  code.format("using Element = %s;", deviceType(element()));
  code.format("using Result = %s;", deviceType(result()));
  code.format("static constexpr int blocks = %d, columns = %d, stages = %d, products = %d;",
              tile.blocks, tile.columns, tile.stages, tile.products);
  code.format("static constexpr int clusterA = %d, clusterB = %d;", tile.clusterA, tile.clusterB);
  code.format("static constexpr bool pingPong = %s, weightRows = %s;",
              tile.pingPong ? "true" : "false", tile.weightRows ? "true" : "false");
  code.close(";");
  code.line("using Product = HopperGemm<Config>;");
  code.format("static_assert(sizeof(Product::Shared) <= %d, \"what the launch brings\");",
              tile.smemBytes(elementBytes(result())));
}

void HopperGemm::printStart() {
  std::vector<Access> weights;
  std::string maps;
  for (auto [index, product] : llvm::enumerate(group.products)) {
    weights.push_back(context.access(product.op.getWeight()));
    maps += absl::StrFormat("%s&map%d", index == 0 ? "" : ", ", index + 1);
  }
  PhaseStructure& structure = context.structure;
  CodeWriter& code =
      structure.begin(PhaseKind::Load, weights, {{MemorySpace::Shared, "product.shared"}});
  int64_t rowTiles = tile.rowTiles(shape.rows, shape.columns);
  int64_t columnTiles = tile.columnTiles(shape.rows, shape.columns);
  code.line("extern __shared__ __align__(1024) unsigned char memory[];");
  code.format("Product product(memory, {%d, %d, %d, %d});", rowTiles, columnTiles,
              tile.band(shape.rows, shape.columns, context.schedule().getTiles() / tile.cluster()),
              llvm::divideCeil(shape.depth, HopperTile::depth));
  code.format("const TensorMap* const weights[] = {%s};", maps);
  // Weights that one row of tiles reads are read once.
  bool once = (tile.weightRows ? columnTiles : rowTiles) == 1;
  code.format("const unsigned long long weightPolicy = %s();", once ? "evictFirst" : "evictNormal");
  code.format("product.start(map0, weights, %d, weightPolicy);", earlyStages);
}

/// Those operands of the epilogue that lie in memory as y does, or as one row of it: as many as the
/// registers beside the sums hold.
void HopperGemm::findOperands() {
  constexpr size_t mostBytes = 4; // of an element of y
  size_t bytes = 0;
  auto visit = [&](auto&& self, Value value) -> void {
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
      if (!type || llvm::is_contained(operands, argument) ||
          isBlockQuantized(type.getElementType()) || !llvm::isa<FloatType>(type.getElementType()) ||
          type.getRank() == 0 || type.getShape().back() != shape.columns)
        return;
      size_t own = elementBytes(type.getElementType());
      if (bytes + own > mostBytes)
        return;
      bytes += own;
      operands.push_back(argument);
      return;
    }
    if (auto op = value.getDefiningOp<ElementwiseOpInterface>())
      for (Value operand : op->getOperands())
        self(self, operand);
  };
  if (isAligned())
    for (Value yielded : group.yields)
      visit(visit, yielded);
}

void HopperGemm::printLoad(CodeWriter& code) {
  code.open("struct Operands");
  for (BlockArgument argument : operands)
    code.format("Packed<%d, %s> %s;", runElements, deviceType(elementTypeOf(argument.getType())),
                context.pointer(argument));
  code.close(";");
  code.open("auto load = [&](int m, int n)");
  code.line("Operands operands;");
  if (!operands.empty()) {
    // Clamp to y so that loads stay in bounds; such runs are not stored.
    code.format("const int row = min(m, %d), column = min(n, %d);", shape.rows - 1,
                shape.columns - runElements);
    RegionPrinter printer(context, region.first().getType().getShape(), /*flat=*/false,
                          runElements);
    printer.moveTo(code, {"static_cast<long long>(row)", "column", ""});
    for (BlockArgument argument : operands)
      code.format("loadPacked(operands.%s, %s);", context.pointer(argument),
                  printer.address(argument));
  }
  code.line("return operands;");
  code.close(";");
}

LogicalResult HopperGemm::printStore(CodeWriter& code) {
  code.openFormat("auto store = [&](int m, int n, const Packed<%d, %s>(&results)[%d], "
                  "const Operands& operands)",
                  runElements, deviceType(result()), tile.products);
  code.openFormat("if (m < %d && n < %d)", shape.rows, shape.columns);
  RegionPrinter printer(context, region.first().getType().getShape(), /*flat=*/false, runElements);
  printer.keepPacked();
  printer.moveTo(code, {"static_cast<long long>(m)", "n",
                        isAligned() ? "" : absl::StrFormat("%d - n", shape.columns)});
  for (auto [index, product] : llvm::enumerate(group.products)) {
    code.format("float product%d[%d];", index, runElements);
    code.format("widen(product%d, results[%d]);", index, index);
    printer.define(product.op.getResult(), absl::StrFormat("product%d", index),
                   result().isF32() ? "" : absl::StrFormat("results[%d]", index));
  }
  for (BlockArgument argument : operands) {
    std::string name = context.pointer(argument);
    code.format("float wide_%s[%d];", name, runElements);
    code.format("widen(wide_%s, operands.%s);", name, name);
    printer.define(argument, "wide_" + name,
                   elementTypeOf(argument.getType()).isF32() ? "" : "operands." + name);
  }
  for (Value yielded : group.yields)
    if (failed(printer.store(yielded)))
      return failure();
  code.close();
  code.close(";");
  return success();
}

LogicalResult HopperGemm::printRun() {
  findOperands();
  std::vector<Access> reads = context.arguments(false);
  reads.push_back({MemorySpace::Shared, "product.shared"});
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, context.results());
  printLoad(code);
  if (failed(printStore(code)))
    return failure();
  code.line("product.run(map0, weights, evictNormal(), weightPolicy, load, store);");
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
  context.structure.clusterBlocks = kernel->tile.cluster();
  gemm.addTensorMaps();
  gemm.printConfig();
  gemm.printStart();
  return gemm.printRun();
}

const Emitter hopperGemm = {HopperGemmKernel::name, emitHopperGemm};

} // namespace tenon::codegen::cuda::emitters
