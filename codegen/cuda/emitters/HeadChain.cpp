#include "codegen/cuda/emitters/HeadChain.h"

#include "codegen/cuda/ScalarPrinter.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda {

FailureOr<int64_t> normLanesOf(HeadRegion::Chain& chain) {
  if (!chain.norm)
    return 0;
  FailureOr<OrderAttr> order = orderOf(chain.norm);
  if (failed(order))
    return failure();
  bool whole = order->getChunk() == 0 || order->getChunk() >= chain.size;
  if (!whole || order->getLanes() % 32 != 0 || !llvm::isPowerOf2_64(order->getLanes()) ||
      order->getLanes() > 1024 || order->getTree() != CombineTree::Halving)
    return chain.norm.emitOpError("expects an order of one chunk in at most 1024 lanes, a power of "
                                  "two and a multiple of 32, but got ")
           << *order;
  return order->getLanes();
}

void printHeadLoad(KernelContext& context, CodeWriter& code, HeadRegion::Chain& chain,
                   const std::string& head) {
  int64_t vector = vectorOf(chain);
  code.openFormat("for (int k = lane * %d; k < %d; k += %d)", vector, chain.size, 32 * vector);
  code.format("float x[%d];", vector);
  code.format("loadVector(x, %s + (%s) * %d + k);", context.pointer(chain.source), head,
              chain.size);
  code.line("storeVector(values + k, x);");
  code.close();
  code.line("__syncwarp();");
}

void printHeadNorm(KernelContext& context, CodeWriter& code, HeadRegion::Chain& chain) {
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
}

void printTurn(KernelContext& context, CodeWriter& code, RopeOp op, const std::string& position,
               const std::string& frequency) {
  code.format("const float angle = static_cast<float>(%s) * %s;", position,
              frequency.empty() ? context.pointer(op.getInverseFrequencies()) + "[part]"
                                : frequency);
  std::string magnitude = floatLiteral(op.getMagnitude().convertToDouble());
  code.line("float sine, cosine;");
  code.line("sincosf(angle, &sine, &cosine);");
  code.format("sine *= %s, cosine *= %s;", magnitude, magnitude);
}

void printPair(CodeWriter& code, RopeOp op, const std::string& offset) {
  bool adjacent = op.getPairing() == RopePairing::Adjacent;
  int64_t pairs = op.getInverseFrequencies().getType().getNumElements();
  code.format("const %s first = %s%s, second = first + %d;", offset.empty() ? "int" : "long long",
              offset, adjacent ? "2 * part" : "part", adjacent ? 1 : pairs);
}

void printStays(KernelContext& context, CodeWriter& code, KvWriteOp op) {
  int64_t rows = op.getPositions().getType().getNumElements();
  std::string sequences = context.pointer(op.getSequences());
  std::string positions = context.pointer(op.getPositions());
  bool shared = op.getSequences().getType().getNumElements() == 1;
  code.format("const int sequence = %s[%s], place = %s[row];", sequences, shared ? "0" : "row",
              positions);
  KvCache cache(op.getState().getType(), op.getBlockTable());
  code.format("using Cache = %s;", deviceCache(cache));
  // Written out: as a call of `holds` it costs the kernel 16 bytes beyond its registers (NVRTC
  // 13.0).
  code.line("bool stays = sequence >= 0 && sequence < Cache::sequences && place >= 0 && "
            "place < Cache::capacity;");
  if (cache.isPaged()) {
    code.format("const int* const blocks = Cache::blocksOf(%s, stays ? sequence : 0);",
                context.pointer(op.getBlockTable()));
    code.line("stays = stays && Cache::hasPage(blocks, place);");
  }
  if (rows == 1)
    return;
  code.line("bool overwritten = false;");
  code.format("for (int later = row + 1 + lane; later < %d; later += 32)", rows);
  code.format("  overwritten |= %s%s[later] == place;",
              shared ? "" : sequences + "[later] == sequence && ", positions);
  code.line("stays &= !__any_sync(0xFFFFFFFFu, overwritten);");
}

} // namespace tenon::codegen::cuda
