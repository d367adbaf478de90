#include "codegen/cuda/emitters/TensorDecodeAttention.h"
#include "absl/strings/str_replace.h"
#include "codegen/cuda/emitters/HeadChain.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "codegen/cuda/emitters/TensorOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Attention of single rows on tensor cores, with the norm and rope of its queries and the norm,
/// rope and cache write of the call's own keys and values where the region has them.
///
/// 1. Load: the row's keys, and on their way the first ones that lie in the cache:
///    these no kernel of the call has written, so that a block asks for them before it waits for
///    the kernel before it. Where another kernel of the call has written the caches and the
///    schedule says `early`, those are the steps before the places that it wrote, and the others
///    are asked for after the wait. Turns of the rope, which depend on positions alone.
/// 2. Prologue: a warp takes a head through norm and rope into shared memory, rounded after each
///    operation as that operation's own kernel rounds it; where it takes several, it asks for all
///    of them before it uses the first. The key and value of the row itself, which are not in the
///    cache yet, stay there for the block that needs them; where the call has other rows of the
///    same sequence, so do theirs.
/// 3. Main loop: online softmax over the part's keys; the row's last key apart.
/// 4. Store: the block of the last part writes the row's key and value to the caches; parts combine
///    in ascending order, within a cluster (`cluster_blocks`) or through memory.
LogicalResult TensorDecodeEmission::emit() {
  if (failed(readSchedule()))
    return failure();
  declare();
  printLoad();
  printPrologue();
  printMainLoop();
  printStore();
  return success();
}

Value TensorDecodeEmission::cacheOf(Value operand) {
  auto write = operand.getDefiningOp<KvWriteOp>();
  return write ? Value(write.getState()) : operand;
}

LogicalResult TensorDecodeEmission::verifyChain(HeadRegion::Chain& chain) {
  if (!chain.source)
    return success();
  Type element = elementTypeOf(op.getQuery().getType());
  for (Value value : {chain.source, chain.end})
    if (elementTypeOf(value.getType()) != element)
      return op.emitOpError("expects heads of its own element type, but got ") << value.getType();
  if (chain.norm && elementTypeOf(chain.norm.getType()) != element)
    return chain.norm.emitOpError("expects heads of attention's element type, but got ")
           << chain.norm.getType();
  FailureOr<int64_t> lanes = normLanesOf(chain);
  if (failed(lanes))
    return failure();
  normSize = std::max<int64_t>(normSize, *lanes > 0 ? chain.size : 0);
  normLanes = std::max(normLanes, *lanes);
  return success();
}

LogicalResult TensorDecodeEmission::readSchedule() {
  if (failed(rows.read(schedule.headsPerTile, schedule.splits)) ||
      failed(verifyTensorOperands(op, 8, /*mayBeQuants=*/true)))
    return failure();
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value})
    if (failed(verifyChain(*chain)))
      return failure();
  type = deviceType(elementTypeOf(op.getQuery().getType()));
  warps = context.structure.threads / 32;
  cluster = schedule.clusterBlocks, sets = schedule.sets, stages = schedule.stages;
  runBytes = schedule.runBytes;
  tables = region.distinctRopes();
  for (RopeOp rope : tables)
    if (int64_t pairs = rope.getInverseFrequencies().getType().getNumElements();
        pairs > context.structure.threads)
      return context.kernel.emitOpError("expects a thread for each of the ")
             << pairs << " pairs that rope turns, but got " << context.structure.threads;
  if (cluster != 0 &&
      (cluster != rows.splits || cluster > 16 || !context.architecture.isHopperOrLater()))
    return context.kernel.emitOpError("expects cluster_blocks to be the ")
           << rows.splits << " splits, at most 16, on sm_90 or later, but got " << cluster << " on "
           << context.architecture.name;
  if (cluster != 0 && schedule.leastKeys != 0)
    return context.kernel.emitOpError("expects no least_keys of parts that a cluster combines, but "
                                      "got ")
           << schedule.leastKeys;
  if (runBytes != 0 && runBytes != 256)
    return context.kernel.emitOpError("expects run_bytes of 256 or none, but got ") << runBytes;
  return success();
}

std::string TensorDecodeEmission::exchangeType() {
  if (cluster > 1)
    return absl::StrFormat("ClusterExchange<%d, %d, %d, %d>", rows.heads, rows.valueCache.size,
                           rows.splits, context.structure.threads);
  return absl::StrFormat("MemoryExchange<%d, %d, %d, %d>", rows.heads, rows.valueCache.size,
                         rows.splits, context.structure.threads);
}

void TensorDecodeEmission::declare() {
  PhaseStructure& structure = context.structure;
  bool areQuants = rows.keyCache.isQuantized();
  structure.headers = {areQuants ? "decode_quants.cuh" : "decode_attention.cuh"};
  if (region.query.norm || region.key.norm || region.value.norm)
    structure.headers.push_back("reduce.cuh");
  if (cluster > 1)
    structure.headers.push_back("cluster.cuh");
  CodeWriter& code = structure.declarations;
  code.open("struct Config");
  code.format("using Element = %s;", type);
  code.format("using Cache = %s;", deviceCache(rows.keyCache));
  code.format("using KeyHead = %s;", deviceType(rows.keyCache.elementType));
  code.format("using ValueHead = %s;", deviceType(rows.valueCache.elementType));
  code.format("static constexpr int keySize = %d, valueSize = %d;", rows.keyCache.size,
              rows.valueCache.size);
  code.format("static constexpr int warps = %d, sets = %d, stages = %d;", warps, sets, stages);
  code.format("static constexpr int newRows = %d, runBytes = %d;", madeRows(), runBytes);
  code.format("static constexpr bool amongSteps = %s;", makesStepKeys() ? "true" : "false");
  code.close(";");
  code.format("using Keys = %s<Config>;", areQuants ? "DecodeQuants" : "DecodeKeys");
  code.format("using Kernel = %s<Keys, %d%s>;", areQuants ? "QuantAttention" : "DecodeAttention",
              rows.heads, scores.addToScores() ? ", true" : "");
  code.format("using Exchange = %s;", exchangeType());
  code.open("struct Block"); // its shared memory
  code.line("alignas(16) Kernel::Shared kernel;");
  code.line("alignas(16) Exchange::Shared exchange;");
  for (auto [index, rope] : llvm::enumerate(tables))
    code.format("alignas(16) float2 turns%d[%d];", index,
                rope.getInverseFrequencies().getType().getNumElements());
  if (normLanes > 0)
    code.format("alignas(16) float normed[%d][%d];", warps, llvm::alignTo(normSize + normLanes, 4));
  code.close(";");
  code.format("static_assert(sizeof(Block) == %d);", context.blockResources().dynamicSmemBytes);
  if (rows.splits > 1 && cluster <= 1) {
    code.format("__device__ Exchange::Scratch attentionParts[%d];", rows.units);
    code.format("__device__ unsigned attentionArrivals[%d];", rows.units);
  }
  structure.clusterBlocks = std::max<int64_t>(cluster, 1);
}

/// Of the row's own key: `made`. Of other rows of the call with the same sequence: their places,
/// which a lane finds for each; all warps alike.
void TensorDecodeEmission::printNewKeys(CodeWriter& code) {
  int64_t count = rows.query[0];
  bool isPaged = rows.keyCache.isPaged();
  code.format("const int place = empty || position >= %d%s ? -1 : position;",
              rows.keyCache.capacity, isPaged ? " || !Cache::hasPage(blocks, position)" : "");
  if (count == 1) {
    code.line("constexpr bool others = false;");
  } else {
    constexpr int64_t lanes = 32;
    const int64_t turns = llvm::divideCeil(count, lanes); // of a lane
    auto other = [&](int64_t turn) {
      return "threadIdx.x % 32" + (turn == 0 ? "" : absl::StrFormat(" + %d", lanes * turn));
    };
    auto place = [&](int64_t turn) {
      return "otherPlace" + (turn == 0 ? "" : std::to_string(turn));
    };
    std::string isOther;
    for (int64_t turn = 0; turn < turns; ++turn) {
      code.format("int %s = -1;", place(turn));
      code.openFormat("if (!empty && %s < %d)", other(turn), count);
      code.format("const int other = %s;", other(turn));
      code.format("const int otherPosition = %s[other];", context.pointer(op.getPositions()));
      code.format("if (%s == range.sequence && otherPosition < %d%s)", rows.sequenceOf("other"),
                  rows.keyCache.capacity,
                  isPaged ? " && otherPosition >= 0 && Cache::hasPage(blocks, otherPosition)" : "");
      code.format("  %s = otherPosition;", place(turn));
      code.close();
      absl::StrAppendFormat(&isOther, "%s(%s >= 0 && %s != row)", turn == 0 ? "" : " || ",
                            place(turn), other(turn));
    }
    code.format("const bool others = __any_sync(0xFFFFFFFFu, %s);", isOther);
    code.open("if (others)");
    for (int64_t turn = 0; turn < turns; ++turn) {
      code.format("if (threadIdx.x < 32 && %s < %d)", other(turn), count);
      code.format("  shared.made.places[%s] = %s;", other(turn), place(turn));
    }
    code.line("__syncthreads();");
    code.close();
  }
  code.line("const NewKeys<Keys::newRows> newKeys = {row, place, others, shared.made.places};");
  code.line("const bool makesKeys = isLast || others || (place >= begin && place < end);");
}

std::string TensorDecodeEmission::turnsOf(RopeOp rope) {
  auto found = llvm::find_if(tables, [&](RopeOp other) { return haveEqualTurns(other, rope); });
  return "block.turns" + std::to_string(found - tables.begin());
}

/// Of a thread's pair, before keys and values: what waits for them waits after all of their bytes.
void TensorDecodeEmission::printFrequencies(CodeWriter& code) {
  for (auto [index, rope] : llvm::enumerate(tables))
    code.format("const float frequency%d = threadIdx.x < %d ? %s[threadIdx.x] : 0.0f;", index,
                rope.getInverseFrequencies().getType().getNumElements(),
                context.pointer(rope.getInverseFrequencies()));
}

void TensorDecodeEmission::printTurns(CodeWriter& code) {
  for (auto [index, rope] : llvm::enumerate(tables)) {
    code.openFormat("if (threadIdx.x < %d)",
                    rope.getInverseFrequencies().getType().getNumElements());
    printTurn(context, code, rope, "position", absl::StrFormat("frequency%d", index));
    code.format("%s[threadIdx.x] = {sine, cosine};", turnsOf(rope));
    code.close();
  }
}

bool TensorDecodeEmission::startsEarly() {
  return schedule.early != 0 && !region.writesCache() &&
         llvm::all_of(llvm::ArrayRef<Value>{op.getKey(), op.getValue()}, [&](Value cache) {
           return context.access(cache).space == MemorySpace::Appended;
         });
}

void TensorDecodeEmission::printLoad() {
  Value keyCache = cacheOf(op.getKey()), valueCache = cacheOf(op.getValue());
  bool early = startsEarly();
  std::vector<Access> reads = rows.rangeReads();
  for (Value cache : {keyCache, valueCache})
    reads.push_back(early ? Access{MemorySpace::Settled, context.pointer(cache)}
                          : context.access(cache));
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value}) {
    if (chain->rope)
      reads.push_back(context.access(chain->rope.getInverseFrequencies()));
    if (normsInRegisters(*chain) && chain->norm.getWeight())
      reads.push_back(context.access(chain->norm.getWeight()));
  }
  CodeWriter& code =
      context.structure.begin(PhaseKind::Load, reads, {{MemorySpace::Shared, "shared"}});
  printFrequencies(code);
  printNormWeights(code);
  rows.printRange(code,
                  schedule.leastKeys > 0 ? std::to_string(schedule.leastKeys)
                                         : absl::StrFormat("%d * Kernel::step", warps),
                  "Kernel::step", /*byPart=*/schedule.leastKeys > 0);
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Block& block = *reinterpret_cast<Block*>(memory);");
  code.line("Kernel::Shared& shared = block.kernel;");
  code.line("Kernel kernel(shared);");
  std::string keys = context.pointer(keyCache), values = context.pointer(valueCache);
  code.format("kernel.keys.cachedKeys = %s;", rows.headRows(keys, rows.keyPointer(keys)));
  code.format("kernel.keys.cachedValues = %s;", rows.headRows(values, rows.valuePointer(values)));
  code.format("const int position = %s[row];", context.pointer(op.getPositions()));
  if (cluster > 1) {
    code.line("Exchange exchange{block.exchange};");
    code.line("if (cut.parts > 1)");
    code.format("  exchange.open<%s>(part, cut.parts);", schedule.released != 0 ? "true" : "false");
  }
  code.line("const bool isLast = part == cut.parts - 1;");
  if (region.writesCache())
    printNewKeys(code);
  code.format("kernel.keys.setRange(begin, end, isLast && !empty, %s);",
              region.writesCache() ? "newKeys" : "{}");
  if (early) {
    code.format("const int known = firstWritten<%d>(range.sequence, %s, [&](int other) { return "
                "%s; });",
                rows.query[0], context.pointer(op.getPositions()), rows.sequenceOf("other"));
    code.line("kernel.start([&](int first) { return kernel.keys.liesBefore(first, known); });");
  } else {
    code.line("kernel.keys.bringLast();");
    code.line("kernel.start([](int) { return true; });");
  }
  printTurns(code);
  if (!tables.empty())
    code.line("__syncthreads();");
  if (early)
    printLateLoad();
}

void TensorDecodeEmission::printLateLoad() {
  CodeWriter& code = context.structure.begin(
      PhaseKind::Load, {context.access(op.getKey()), context.access(op.getValue())},
      {{MemorySpace::Shared, "shared"}});
  code.line("kernel.keys.bringLast();");
  code.line("kernel.start([&](int first) { return !kernel.keys.liesBefore(first, known); });");
}

void TensorDecodeEmission::printMainLoop() {
  std::vector<Access> reads = {context.access(cacheOf(op.getKey())),
                               context.access(cacheOf(op.getValue()))};
  llvm::append_range(reads, scores.reads());
  CodeWriter& code =
      context.structure.begin(PhaseKind::MainLoop, reads, {{MemorySpace::Shared, "shared"}});
  scores.printAdded(code, "row", "firstHead + item");
  scores.printDenominator(code, "firstHead + item", /*inPowersOfTwo=*/true);
  if (scores.addToScores())
    code.format("kernel.attend(addScores(%s, added));", scoreScale(op));
  else
    code.format("kernel.attend(%s);", scoreScale(op));
  code.line("kernel.share();");
}

/// The row's key and value go to the caches once, unless a later row has the same place; last, as
/// no other block waits for them.
void TensorDecodeEmission::printCacheWrite(CodeWriter& code) {
  std::string condition = "isLast && place >= 0";
  if (rows.heads < rows.sharing)
    condition += absl::StrFormat(" && firstHead %% %d == 0", rows.sharing);
  if (madeRows() > 1)
    condition += " && newKeys.find(place) == row";
  code.open("if (" + condition + ")");
  code.format("const long long at = Cache::headRow(%s, place, keyHead);",
              rows.keyCache.isPaged() ? "blocks" : "range.sequence");
  auto copy = [&](HeadRegion::Chain& chain, const char* made) {
    code.format("if (threadIdx.x < %d)", chain.size / 8);
    code.format("  reinterpret_cast<uint4*>(%s + at * %d)[threadIdx.x] = "
                "reinterpret_cast<const uint4*>(shared.made.%s[row])[threadIdx.x];",
                context.pointer(cacheOf(chain)), chain.size, made);
  };
  copy(region.key, "keys");
  copy(region.value, "values");
  code.close();
}

void TensorDecodeEmission::printStore() {
  std::vector<Access> writes = context.results();
  if (region.writesCache())
    for (HeadRegion::Chain* chain : {&region.key, &region.value})
      writes.push_back(context.writeAccess(cacheOf(*chain)));
  if (rows.splits > 1 && cluster <= 1)
    writes.push_back({MemorySpace::Scratch, "attentionParts"});
  CodeWriter& code =
      context.structure.begin(PhaseKind::Store, {{MemorySpace::Shared, "shared"}}, writes);
  code.open("auto store = [&](int h, int d, float4 sums)");
  code.line("float results[4] = {sums.x, sums.y, sums.z, sums.w};");
  code.line("if (empty)");
  code.line("  results[0] = results[1] = results[2] = results[3] = 0.0f;");
  std::string index = absl::StrFormat("h * %d + d", rows.valueCache.size);
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("storeVector(%s, results);", rows.resultPointer(pointer, index));
  code.close(";");
  if (cluster > 1) {
    code.line("if (cut.parts > 1)");
    code.line("  exchange.waitForOthers();");
  } else {
    bool alone = rows.splits == 1;
    code.format("Exchange exchange{%s, %s, block.exchange};",
                alone ? "nullptr" : "attentionParts + unit",
                alone ? "nullptr" : "attentionArrivals + unit");
  }
  code.format("finishDecode<%d, %d, %d>(kernel, exchange, part, %s, store%s);", rows.heads,
              rows.valueCache.size, warps, rows.splits > 1 ? "cut.parts" : "1",
              scores.areEmpty() ? "" : ", denominator");
  if (region.writesCache())
    printCacheWrite(code);
}

static LogicalResult emitTensorDecode(KernelContext& context) {
  FailureOr<TensorDecodeKernel> kernel = context.read<TensorDecodeKernel>();
  return succeeded(kernel) ? TensorDecodeEmission(context, *kernel).emit() : failure();
}

extern constexpr Emitter tensorDecodeAttention = {TensorDecodeKernel::name, emitTensorDecode};

} // namespace tenon::codegen::cuda::emitters
