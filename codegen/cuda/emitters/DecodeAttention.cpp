#include "kernels/cuda/DecodeAttention.h"
#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/RowAttention.h"
#include "codegen/cuda/emitters/ScoreOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Attention of single rows on CUDA cores, for types that tensor cores do not take, f32 first of
/// all. Where a row has several parts, each leaves its maximum, total and sums in scratch memory of
/// the kernel, and the block that comes last combines them in ascending order: the result does not
/// depend on which one that is.
class DecodeAttentionEmission {
public:
  DecodeAttentionEmission(KernelContext& context, const DecodeAttentionKernel& kernel)
      : context(context), op(kernel.op), schedule(kernel.schedule), rows(context, kernel.op),
        scores(context, kernel.op) {}

  LogicalResult emit();

private:
  LogicalResult readSchedule();
  void declare();
  void printAttention(CodeWriter& code);
  void printStore(CodeWriter& code);
  void printWeights(CodeWriter& code);
  int64_t keyStride();
  void storeElement(CodeWriter& code, const std::string& element);

  KernelContext& context;
  AttentionOp op;
  DecodeAttentionSchedule schedule;
  RowAttention rows;
  ScoreOperands scores;
  int64_t block = 0;
};

} // namespace

LogicalResult DecodeAttentionEmission::readSchedule() {
  if (failed(rows.read(schedule.headsPerTile, schedule.splits)))
    return failure();
  block = schedule.keysPerBlock;
  if (op.getWeights() && schedule.splits != 1)
    return context.kernel.emitOpError("expects one part of a row's keys where the weights are a "
                                      "result, but got splits of ")
           << schedule.splits;
  if (block < 32 || block % 32 != 0)
    return context.kernel.emitOpError("expects keys_per_block to be a multiple of 32, but got ")
           << block;
  return success();
}

void DecodeAttentionEmission::declare() {
  PhaseStructure& structure = context.structure;
  structure.headers = {"attention.cuh"};
  CodeWriter& code = structure.declarations;
  code.open("struct Config");
  code.format("using KeyHead = %s;", deviceType(elementTypeOf(op.getKey().getType())));
  code.format("using ValueHead = %s;", deviceType(elementTypeOf(op.getValue().getType())));
  code.format("static constexpr int heads = %d, keySize = %d, valueSize = %d;", rows.heads,
              rows.query[2], rows.valueCache.size);
  code.format("static constexpr int threads = %d, keys = %d;", structure.threads, block);
  code.close(";");
  code.line("using Kernel = Attention<Config>;");
  if (rows.splits > 1) {
    code.format("__device__ float attentionParts[%d];",
                rows.units * rows.splits * rows.heads * (rows.valueCache.size + 2));
    code.format("__device__ unsigned attentionArrivals[%d];", rows.units);
  }
}

/// What a pointer to a key is moved by to the next one.
int64_t DecodeAttentionEmission::keyStride() {
  return (rows.keyCache.isPaged() ? 1 : rows.keyCache.heads) * headUnits(rows.keyCache);
}

void DecodeAttentionEmission::printAttention(CodeWriter& code) {
  llvm::ArrayRef<int64_t> query = rows.query;
  code.line("extern __shared__ __align__(16) unsigned char memory[];");
  code.line("Kernel kernel(*reinterpret_cast<Kernel::Shared*>(memory));");
  std::string queryPointer = absl::StrFormat("%s + ((long long)row * %d + firstHead) * %d",
                                             context.pointer(op.getQuery()), query[1], query[2]);
  bool isPaged = rows.keyCache.isPaged();
  std::string keys = context.pointer(op.getKey()), values = context.pointer(op.getValue());
  int64_t heads = isPaged ? 1 : rows.keyCache.heads;
  std::string operands = absl::StrFormat(
      "%s, %s, %d, %d, begin, end, %s, %s", isPaged ? keys : rows.keyPointer(keys),
      isPaged ? values : rows.valuePointer(values), keyStride(), heads * headUnits(rows.valueCache),
      floatLiteral(op.getScale().convertToDouble()),
      floatLiteral(op.getSoftcap().convertToDouble()));
  code.format("kernel.loadQuery(%s);", queryPointer);
  scores.printAdded(code, "row", "firstHead + item");
  // The verifier lets nothing be added to scores over a ring.
  if (rows.keyCache.isRing())
    code.format("kernel.attendRing<Cache>(range, %s, %d, %s);", queryPointer,
                op.getType().getShape()[0] * query[1] * query[2], operands);
  else if (isPaged)
    code.format("kernel.attendPages<Cache>(blocks, keyHead, %s%s);", operands,
                scores.addToScores() ? ", added" : "");
  else
    code.format("kernel.attend(%s%s);", operands, scores.addToScores() ? ", added" : "");
}

void DecodeAttentionEmission::storeElement(CodeWriter& code, const std::string& element) {
  std::string type = deviceType(op.getType().getElementType());
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", rows.heads * rows.valueCache.size,
                  context.structure.threads);
  code.format("const int h = i / %d, d = i %% %d;", rows.valueCache.size, rows.valueCache.size);
  for (const std::string& pointer : context.destinations(op.getResult()))
    code.format("*(%s) = fromFloat<%s>(%s);", rows.resultPointer(pointer, "i"), type, element);
  code.close();
}

void DecodeAttentionEmission::printStore(CodeWriter& code) {
  scores.printDenominator(code, "firstHead + item", /*inPowersOfTwo=*/false);
  bool divides = !scores.areEmpty();
  code.open(rows.splits > 1 ? "if (cut.parts == 1)" : "");
  storeElement(
      code,
      absl::StrFormat("empty ? 0.0f : kernel.output(h, d) / %s",
                      divides ? "denominator(kernel.shared.total[h], kernel.shared.largest[h], h)"
                              : "kernel.shared.total[h]"));
  if (rows.splits > 1)
    code.line("return;");
  code.close();
  if (rows.splits == 1) {
    printWeights(code);
    return;
  }
  code.format("using Parts = AttentionParts<%d, %d>;", rows.heads, rows.valueCache.size);
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", rows.heads * rows.valueCache.size,
                  context.structure.threads);
  code.format("const int h = i / %d, d = i %% %d;", rows.valueCache.size, rows.valueCache.size);
  code.format("float* target = Parts::at(attentionParts, unit, %d, part, h);", rows.splits);
  code.line("target[2 + d] = kernel.output(h, d);");
  code.open("if (d == 0)");
  code.line("target[0] = kernel.shared.largest[h];");
  code.line("target[1] = kernel.shared.total[h];");
  code.close();
  code.close();
  code.line("if (!arrivesLast(attentionArrivals + unit, cut.parts))");
  code.line("  return;");
  storeElement(code, absl::StrFormat("Parts::combine(attentionParts, unit, %d, cut.parts, h, d%s)",
                                     rows.splits, divides ? ", denominator" : ""));
}

/// The weights of the unit's heads [Hq, M, C]: 0 outside the range, what the scores give in it.
void DecodeAttentionEmission::printWeights(CodeWriter& code) {
  if (!op.getWeights())
    return;
  llvm::SmallVector<std::string> destinations = context.destinations(op.getWeights());
  if (destinations.empty())
    return;
  llvm::ArrayRef<int64_t> shape = op.getWeights().getType().getShape();
  std::string type = deviceType(op.getWeights().getType().getElementType());
  code.open("auto storeWeight = [&](int h, int key, float weight)");
  code.format("const long long at = ((long long)(firstHead + h) * %d + row) * %d + key;", shape[1],
              shape[2]);
  for (const std::string& pointer : destinations)
    code.format("%s[at] = fromFloat<%s>(weight);", pointer, type);
  code.close(";");
  code.openFormat("for (int i = threadIdx.x; i < %d; i += %d)", rows.heads * shape[2],
                  context.structure.threads);
  code.format("const int h = i / %d, key = i %% %d;", shape[2], shape[2]);
  code.line("if (key < begin || key >= end)");
  code.line("  storeWeight(h, key, 0.0f);");
  code.close();
  std::string keys = context.pointer(op.getKey());
  std::string source =
      absl::StrFormat("StridedRows<Kernel::KeyMemory>{%s, %d}", rows.keyPointer(keys), keyStride());
  if (rows.keyCache.isPaged())
    source = absl::StrFormat("PagedRows<Cache, Kernel::KeyMemory>{%s, blocks, keyHead, %d, 0}",
                             keys, keyStride());
  code.format("kernel.weigh(%s, begin, end, %s, %s, %s, %s, storeWeight);", source,
              floatLiteral(op.getScale().convertToDouble()),
              floatLiteral(op.getSoftcap().convertToDouble()),
              scores.addToScores() ? "added" : "NothingAdded()",
              scores.areEmpty() ? "TotalAlone()" : "denominator");
}

LogicalResult DecodeAttentionEmission::emit() {
  if (failed(readSchedule()))
    return failure();
  declare();
  PhaseStructure& structure = context.structure;
  std::string step = std::to_string(block);
  rows.printRange(
      structure.begin(PhaseKind::Load, rows.rangeReads(), {{MemorySpace::Registers, "range"}}),
      step, step);
  std::vector<Access> reads = {context.access(op.getQuery()), context.access(op.getKey()),
                               context.access(op.getValue())};
  llvm::append_range(reads, scores.reads());
  printAttention(structure.begin(PhaseKind::MainLoop, reads, {{MemorySpace::Shared, "kernel"}}));
  std::vector<Access> writes = context.results();
  if (rows.splits > 1)
    writes.push_back({MemorySpace::Scratch, "attentionParts"});
  std::vector<Access> stored = {{MemorySpace::Shared, "kernel"}};
  if (op.getWeights()) {
    stored.push_back(context.access(op.getKey()));
    llvm::append_range(stored, scores.reads());
  }
  printStore(structure.begin(PhaseKind::Store, stored, writes));
  return success();
}

static LogicalResult emitDecodeAttention(KernelContext& context) {
  FailureOr<DecodeAttentionKernel> kernel = context.read<DecodeAttentionKernel>();
  return succeeded(kernel) ? DecodeAttentionEmission(context, *kernel).emit() : failure();
}

extern constexpr Emitter decodeAttention = {DecodeAttentionKernel::name, emitDecodeAttention};

} // namespace tenon::codegen::cuda::emitters
