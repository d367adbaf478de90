#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/Emitters.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "ir/HeadRegion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cuda::emitters {

namespace {

/// Q/K norm, rope and cache writes in one kernel: a warp takes one head of one row of one tensor
/// through its chain, in shared memory as f32, rounded behind each operation as that operation's own
/// kernel rounds it; the sum of the norm is added in that kernel's order.
///
/// Parameter: `threads`. Tiles are blocks of warps, heads numbered by chain, row, head.
class HeadsEmission {
public:
  HeadsEmission(KernelContext& context, HeadRegion& region) : context(context), region(region) {}

  LogicalResult emit();

private:
  LogicalResult checkChain(HeadRegion::Chain& chain);
  LogicalResult printChain(CodeWriter& code, HeadRegion::Chain& chain);
  void printLoad(CodeWriter& code, HeadRegion::Chain& chain);
  LogicalResult printNorm(CodeWriter& code, HeadRegion::Chain& chain);
  void printRope(CodeWriter& code, HeadRegion::Chain& chain);
  void printWrite(CodeWriter& code, HeadRegion::Chain& chain);
  void printCopy(CodeWriter& code, HeadRegion::Chain& chain, const std::string& target);

  KernelContext& context;
  HeadRegion& region;
  int64_t mostSize = 0, mostLanes = 0;
};

} // namespace

/// Elements of 16 bytes, or fewer where they do not divide a head.
static int64_t vectorOf(HeadRegion::Chain& chain) {
  int64_t vector = 16 / elementBytes(elementTypeOf(chain.source.getType()));
  while (chain.size % vector != 0)
    vector /= 2;
  return vector;
}

LogicalResult HeadsEmission::checkChain(HeadRegion::Chain& chain) {
  mostSize = std::max<int64_t>(mostSize, llvm::alignTo(chain.size, 4));
  if (!chain.norm)
    return success();
  FailureOr<OrderAttr> order = orderOf(chain.norm);
  if (failed(order))
    return failure();
  bool whole = order->getChunk() == 0 || order->getChunk() >= chain.size;
  if (!whole || order->getLanes() % 32 != 0 || !llvm::isPowerOf2_64(order->getLanes()) ||
      order->getLanes() > 1024 || order->getTree() != CombineTree::Halving)
    return chain.norm.emitOpError("expects an order of one chunk in at most 1024 lanes, a power of "
                                  "two and a multiple of 32, but got ")
           << *order;
  mostLanes = std::max(mostLanes, order->getLanes());
  return success();
}

void HeadsEmission::printLoad(CodeWriter& code, HeadRegion::Chain& chain) {
  int64_t vector = vectorOf(chain);
  code.openFormat("for (int k = lane * %d; k < %d; k += %d)", vector, chain.size, 32 * vector);
  code.format("float x[%d];", vector);
  code.format("loadVector(x, %s + head * %d + k);", context.pointer(chain.source), chain.size);
  code.line("storeVector(values + k, x);");
  code.close();
  code.line("__syncwarp();");
}

LogicalResult HeadsEmission::printNorm(CodeWriter& code, HeadRegion::Chain& chain) {
  NormTerms norm = *NormTerms::of(chain.norm);
  int64_t lanes = norm.order()->getLanes();
  code.openFormat("for (int i = lane; i < %d; i += 32)", lanes);
  code.line("float sum = 0.0f;");
  code.openFormat("for (int k = i; k < %d; k += %d)", chain.size, lanes);
  code.line("const float x = values[k];");
  code.format("sum += %s;", norm.squareOf("x"));
  code.close();
  code.line("sums[i] = sum;");
  code.close();
  code.line("__syncwarp();");
  code.format("const float squares = combineShared<%d>(sums);", lanes);
  code.line(norm.factorStatement());
  code.openFormat("for (int k = lane; k < %d; k += 32)", chain.size);
  llvm::SmallVector<std::string> weights;
  for (Value operand : norm.operands)
    weights.push_back(absl::StrFormat("toFloat(%s[k])", context.pointer(operand)));
  code.format("values[k] = roundTo<%s>(%s);",
              deviceType(elementTypeOf(chain.norm.getResult().getType())),
              norm.resultOf("values[k]", weights));
  code.close();
  code.line("__syncwarp();");
  return success();
}

void HeadsEmission::printRope(CodeWriter& code, HeadRegion::Chain& chain) {
  RopeOp op = chain.rope;
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  bool adjacent = op.getPairing() == RopePairing::Adjacent;
  std::string type = deviceType(op.getType().getElementType());
  code.format("const float position = static_cast<float>(%s[row]);",
              context.pointer(op.getPositions()));
  code.openFormat("for (int part = lane; part < %d; part += 32)", pairs);
  code.format("const float angle = position * %s[part];",
              context.pointer(op.getInverseFrequencies()));
  std::string magnitude = floatLiteral(op.getMagnitude().convertToDouble());
  code.line("float sine, cosine;");
  code.line("sincosf(angle, &sine, &cosine);");
  code.format("sine *= %s, cosine *= %s;", magnitude, magnitude);
  code.format("const int first = %s, second = first + %d;", adjacent ? "2 * part" : "part",
              adjacent ? 1 : pairs);
  code.line("const float a = values[first], b = values[second];");
  code.format("values[first] = roundTo<%s>(a * cosine - b * sine);", type);
  code.format("values[second] = roundTo<%s>(a * sine + b * cosine);", type);
  code.close();
  // Elements behind the rotated ones take the result's type as they are.
  if (2 * pairs < chain.size &&
      op.getType().getElementType() != op.getInput().getType().getElementType()) {
    code.openFormat("for (int k = %d + lane; k < %d; k += 32)", 2 * pairs, chain.size);
    code.format("values[k] = roundTo<%s>(values[k]);", type);
    code.close();
  }
  code.line("__syncwarp();");
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

/// A row stays unless a later one goes to the same place.
void HeadsEmission::printWrite(CodeWriter& code, HeadRegion::Chain& chain) {
  KvWriteOp op = chain.write;
  llvm::ArrayRef<int64_t> state = op.getState().getType().getShape(); // [S, C, H, D]
  std::string sequences = context.pointer(op.getSequences());
  std::string positions = context.pointer(op.getPositions());
  bool shared = op.getSequences().getType().getNumElements() == 1;
  code.format("const int sequence = %s[%s], place = %s[row];", sequences, shared ? "0" : "row",
              positions);
  code.format("bool stays = sequence >= 0 && sequence < %d && place >= 0 && place < %d;", state[0],
              state[1]);
  if (chain.rows > 1) {
    code.line("bool overwritten = false;");
    code.format("for (int later = row + 1 + lane; later < %d; later += 32)", chain.rows);
    code.format("  overwritten |= %s%s[later] == place;",
                shared ? "" : sequences + "[later] == sequence && ", positions);
    code.line("stays &= !__any_sync(0xFFFFFFFFu, overwritten);");
  }
  code.open("if (stays)");
  code.format("const long long at = (((long long)sequence * %d + place) * %d + head %% %d) * %d;",
              state[1], state[2], state[2], state[3]);
  printCopy(code, chain, context.pointer(op.getState()) + " + at");
  code.close();
}

LogicalResult HeadsEmission::printChain(CodeWriter& code, HeadRegion::Chain& chain) {
  code.format("const int row = static_cast<int>(head / %d);", chain.heads);
  printLoad(code, chain);
  if (chain.norm && failed(printNorm(code, chain)))
    return failure();
  if (chain.rope)
    printRope(code, chain);
  if (chain.write)
    printWrite(code, chain);
  for (const std::string& pointer : context.destinations(chain.end))
    printCopy(code, chain, absl::StrFormat("%s + head * %d", pointer, chain.size));
  return success();
}

LogicalResult HeadsEmission::emit() {
  if (failed(context.readResources()))
    return failure();
  int64_t total = 0, warps = context.structure.threads / 32;
  for (HeadRegion::Chain& chain : region.chains) {
    if (failed(checkChain(chain)))
      return failure();
    total += chain.rows * chain.heads;
  }
  if (failed(context.expectTiles(llvm::divideCeil(total, warps))))
    return failure();
  context.structure.headers = {"memory.cuh", "reduce.cuh"};
  std::vector<Access> reads = context.arguments(false), writes = context.results();
  llvm::append_range(reads, context.arguments(true));
  for (HeadRegion::Chain& chain : region.chains)
    if (chain.write)
      writes.push_back(context.access(chain.write.getState()));
  CodeWriter& code = context.structure.begin(PhaseKind::Store, reads, writes);
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  code.format("const long long number = tile * %d + warp;", warps);
  code.format("__shared__ __align__(16) float memory[%d][%d];", warps, mostSize + mostLanes);
  code.line("float* const values = memory[warp];");
  if (mostLanes > 0)
    code.format("float* const sums = values + %d;", mostSize);
  int64_t first = 0;
  for (HeadRegion::Chain& chain : region.chains) {
    int64_t behind = first + chain.rows * chain.heads;
    code.openFormat("if (number >= %d && number < %d)", first, behind);
    code.format("const long long head = number - %d;", first);
    if (failed(printChain(code, chain)))
      return failure();
    code.close();
    first = behind;
  }
  return success();
}

static LogicalResult emitHeads(KernelContext& context) {
  HeadRegion region;
  if (std::string reason = readHeadRegion(context.kernel, region); !reason.empty())
    return context.kernel.emitOpError("has no emitter: ") << reason;
  return HeadsEmission(context, region).emit();
}

const Emitter heads = {"heads", emitHeads};

} // namespace tenon::codegen::cuda::emitters
