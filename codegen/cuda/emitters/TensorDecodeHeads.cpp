// What `tensor_decode_attention` does before its main loop: heads through norm and rope into shared
// memory.
#include "absl/strings/str_replace.h"
#include "codegen/cuda/emitters/HeadChain.h"
#include "codegen/cuda/emitters/NormTerms.h"
#include "codegen/cuda/emitters/TensorDecodeAttention.h"
#include "codegen/cuda/emitters/TensorOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon::kernels;

namespace tenon::codegen::cuda::emitters {

/// Of elements `element`, an expression in `k`, to `target`.
void TensorDecodeEmission::printRope(CodeWriter& code, HeadRegion::Chain& chain,
                                     const std::string& element) {
  RopeOp rope = chain.rope;
  int64_t pairs = rope.getInverseFrequencies().getType().getNumElements();
  auto elementAt = [&](const std::string& place) {
    return absl::StrReplaceAll(element, {{"[k]", "[" + place + "]"}});
  };
  code.openFormat("for (int part = lane; part < %d; part += 32)", pairs);
  code.format("float2 turn = %s[part];", turnsOf(rope));
  if (&chain != &region.query && rows.query[0] > 1) {
    code.open("if (made != row)");
    printTurn(context, code, rope, context.pointer(rope.getPositions()) + "[made]");
    code.line("turn = {sine, cosine};");
    code.close();
  }
  printTurned(code, rope, elementAt("first"), elementAt("second"));
  code.close();
  if (2 * pairs == chain.size)
    return;
  code.format("for (int k = %d + lane; k < %d; k += 32)", 2 * pairs, chain.size);
  code.format("  target[k] = fromFloat<%s>(%s);", type, element);
}

/// A pair `part` of these elements, turned by `turn`, to `target`.
void TensorDecodeEmission::printTurned(CodeWriter& code, RopeOp rope, const std::string& a,
                                       const std::string& b) {
  code.line("const float sine = turn.x, cosine = turn.y;");
  printPair(code, rope);
  code.format("const float a = %s, b = %s;", a, b);
  code.format("target[first] = fromFloat<%s>(%s);", type, turnedFirst);
  code.format("target[second] = fromFloat<%s>(%s);", type, turnedSecond);
}

/// Elements as `element` says, or where that is empty as they are, to `target`.
void TensorDecodeEmission::printCopy(CodeWriter& code, HeadRegion::Chain& chain,
                                     const std::string& element, const std::string& source) {
  if (!element.empty()) {
    code.format("for (int k = lane; k < %d; k += 32)", chain.size);
    code.format("  target[k] = fromFloat<%s>(%s);", type, element);
    return;
  }
  code.format("for (int k = 8 * lane; k < %d; k += 256)", chain.size);
  code.format("  *reinterpret_cast<uint4*>(target + k) = *reinterpret_cast<const uint4*>(%s + k);",
              source);
}

/// Takes head `head` of the chain's source to `target`.
void TensorDecodeEmission::printChain(CodeWriter& code, HeadRegion::Chain& chain) {
  std::string source =
      absl::StrFormat("(%s + head * %d)", context.pointer(chain.source), chain.size);
  std::string element = "toFloat(" + source + "[k])";
  if (chain.norm) {
    printHeadLoad(context, code, chain, "head");
    printHeadNorm(context, code, chain);
    element = "values[k]";
  }
  if (chain.rope)
    printRope(code, chain, element);
  else
    printCopy(code, chain, chain.norm ? element : "", source);
  if (chain.norm)
    code.line("__syncwarp();");
}

/// Whether a warp takes the row's key as others take its queries, by the same code.
bool TensorDecodeEmission::takesKeyAsQuery() {
  HeadRegion::Chain &query = region.query, &key = region.key;
  if (!region.writesCache() || query.norm || key.norm || rows.heads >= warps ||
      query.size != key.size || !query.rope != !key.rope)
    return false;
  return !query.rope ||
         (haveEqualTurns(query.rope, key.rope) && query.rope.getPairing() == key.rope.getPairing());
}

/// The row's own heads, a warp each: queries in turn, then key and value.
llvm::SmallVector<TensorDecodeEmission::OwnHead> TensorDecodeEmission::ownHeads() {
  llvm::SmallVector<OwnHead> heads;
  auto add = [&](HeadRegion::Chain& chain, std::string name, std::string condition,
                 std::string head, std::string target) {
    std::string source =
        absl::StrFormat("%s + (%s) * %d", context.pointer(chain.source), head, chain.size);
    heads.push_back({&chain, std::move(name), std::move(condition), std::move(head),
                     std::move(source), std::move(target)});
  };
  auto made = [&](HeadRegion::Chain& chain, const char* name, const char* target, int64_t item) {
    add(chain, name, absl::StrFormat("makesKeys && warp == %d", item % warps),
        absl::StrFormat("(long long)row * %d + keyHead", rows.keyCache.heads),
        absl::StrFormat("shared.made.%s[row]", target));
  };
  for (int64_t first = 0; first < rows.heads; first += warps) {
    std::string item = first == 0 ? "warp" : absl::StrFormat("warp + %d", first);
    add(region.query, absl::StrFormat("query%d", first),
        absl::StrFormat("warp < %d", rows.heads - first),
        absl::StrFormat("(long long)row * %d + firstHead + %s", rows.query[1], item),
        absl::StrFormat("shared.query[%s]", item));
  }
  if (!region.writesCache())
    return heads;
  made(region.key, "newKey", "keys", rows.heads);
  if (takesKeyAsQuery()) {
    OwnHead key = heads.pop_back_val();
    OwnHead& query = heads.front();
    query.source = absl::StrFormat("(%s ? %s : %s)", query.condition, query.source, key.source);
    query.target = absl::StrFormat("%s ? %s : %s", query.condition, query.target, key.target);
    query.condition += " || (" + key.condition + ")";
  }
  made(region.value, "newValue", "values", rows.heads + 1);
  return heads;
}

/// Whether the lanes of a warp that have a head's pairs have its norm's sums, too: a lane of the
/// order has one element.
bool TensorDecodeEmission::normsInRegisters(HeadRegion::Chain& chain) {
  constexpr int64_t lanesOfPairs = 64;
  if (!chain.norm || !chain.rope || chain.rope.getPairing() == RopePairing::Adjacent ||
      !llvm::isPowerOf2_64(chain.size) || chain.size % lanesOfPairs != 0)
    return false;
  NormTerms norm = *NormTerms::of(chain.norm);
  return !norm.hasMean() && norm.order()->getLanes() >= chain.size &&
         2 * chain.rope.getInverseFrequencies().getType().getNumElements() == chain.size &&
         deviceType(elementTypeOf(chain.source.getType())) == type;
}

/// The factor of the norm of a head that is loaded: halves that lie further apart than a warp's
/// lanes first.
void TensorDecodeEmission::printOwnFactor(CodeWriter& code, const OwnHead& own) {
  NormTerms norm = *NormTerms::of(own.chain->norm);
  int64_t pairs = own.chain->size / 64;
  code.format("float terms[%d];", pairs);
  code.unroll();
  code.openFormat("for (int i = 0; i < %d; ++i)", pairs);
  code.format("const float a = toFloat(%1$s.pairs[i].first), b = toFloat(%1$s.pairs[i].second);",
              own.name);
  code.format("terms[i] = %s + %s;", norm.squareOf("a"), norm.squareOf("b"));
  code.close();
  code.unroll();
  code.format("for (int half = %d; half >= 1; half /= 2)", pairs / 2);
  code.unroll();
  code.line("  for (int i = 0; i < half; ++i)");
  code.line("    terms[i] += terms[i + half];");
  code.line("float squares = terms[0];");
  code.unroll();
  code.line("for (int offset = 16; offset >= 1; offset /= 2)");
  code.line("  squares += __shfl_xor_sync(0xFFFFFFFFu, squares, offset);");
  code.line(norm.factorStatement());
}

/// An element of a loaded pair, "first" or "second", after its norm where there is one.
std::string TensorDecodeEmission::elementOf(const OwnHead& own, const std::string& which) {
  std::string element = absl::StrFormat("toFloat(%s.pairs[i].%s)", own.name, which);
  if (!own.chain->norm)
    return element;
  NormTerms norm = *NormTerms::of(own.chain->norm);
  llvm::SmallVector<std::string> weights;
  if (!norm.operands.empty())
    weights.push_back(
        absl::StrFormat("%s[i].%s", weightsOf(*own.chain), which == "first" ? "x" : "y"));
  return absl::StrFormat("roundTo<%s>(%s)",
                         deviceType(elementTypeOf(own.chain->norm.getResult().getType())),
                         norm.resultOf(element, weights));
}

/// The array of a thread's pairs of the weights of a chain's norm.
std::string TensorDecodeEmission::weightsOf(HeadRegion::Chain& chain) {
  return "weights_" + context.pointer(chain.norm.getWeight());
}

/// Asks for the weights of norms before the kernel waits: a step later they may lie in memory
/// again.
void TensorDecodeEmission::printNormWeights(CodeWriter& code) {
  llvm::SmallPtrSet<Value, 2> loaded;
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value}) {
    if (!chain->source || !chain->norm || !chain->norm.getWeight() || !normsInRegisters(*chain) ||
        !loaded.insert(chain->norm.getWeight()).second)
      continue;
    int64_t pairs = chain->size / 2;
    code.format("float2 %s[%d];", weightsOf(*chain), pairs / 32);
    code.unroll();
    code.format("for (int i = 0; i < %d; ++i)", pairs / 32);
    code.format("  %1$s[i] = {toFloat(%2$s[threadIdx.x %% 32 + 32 * i]), toFloat(%2$s[%3$d + "
                "threadIdx.x %% 32 + 32 * i])};",
                weightsOf(*chain), context.pointer(chain->norm.getWeight()), pairs);
  }
}

/// Asks for a head as it comes.
void TensorDecodeEmission::printOwnLoad(CodeWriter& code, const OwnHead& own) {
  HeadRegion::Chain& chain = *own.chain;
  RopeOp rope = chain.rope;
  bool adjacent = rope && rope.getPairing() == RopePairing::Adjacent;
  int64_t pairs = rope ? rope.getInverseFrequencies().getType().getNumElements() : 0;
  code.format("HeadOfWarp<%s, %d, %d, %s> %s;", type, chain.size, pairs,
              adjacent ? "true" : "false", own.name);
  code.openFormat("if (%s)", own.condition);
  code.format("%s.load(%s);", own.name, own.source);
  code.close();
}

/// Takes a head that is loaded, or that a norm loads, to its place.
void TensorDecodeEmission::printOwnHead(CodeWriter& code, const OwnHead& own) {
  HeadRegion::Chain& chain = *own.chain;
  code.openFormat("if (%s)", own.condition);
  code.format("%s* const target = %s;", type, own.target);
  if (chain.norm && !normsInRegisters(chain)) {
    if (&chain != &region.query)
      code.line("const int made = row;");
    code.format("const long long head = %s;", own.head);
    printChain(code, chain);
  } else {
    if (chain.norm)
      printOwnFactor(code, own);
    if (chain.rope) {
      int64_t pairs = chain.rope.getInverseFrequencies().getType().getNumElements();
      code.unroll();
      code.openFormat("for (int i = 0; i < %d; ++i)", llvm::divideCeil(pairs, 32));
      code.line("const int part = lane + 32 * i;");
      if (pairs % 32 != 0) {
        code.format("if (part >= %d)", pairs);
        code.line("  break;");
      }
      code.format("const float2 turn = %s[part];", turnsOf(chain.rope));
      printTurned(code, chain.rope, elementOf(own, "first"), elementOf(own, "second"));
      code.close();
    }
    code.format("%s.storeRest(target);", own.name);
  }
  code.close();
}

/// Keys and values of other rows of the call with the same sequence, one warp each.
void TensorDecodeEmission::printOtherHeads(CodeWriter& code) {
  auto print = [&](HeadRegion::Chain& chain, const char* target) {
    code.format("%s* const target = shared.made.%s[made];", type, target);
    printChain(code, chain);
    code.close();
  };
  code.open("if (others)");
  code.openFormat("for (int item = warp; item < %d; item += %d)", 2 * madeRows(), warps);
  code.line("const int made = item / 2;");
  code.line("if (made == row || shared.made.places[made] < 0)");
  code.line("  continue;");
  code.format("const long long head = (long long)made * %d + keyHead;", rows.keyCache.heads);
  code.open("if (item % 2 == 0)");
  print(region.key, "keys");
  code.open("else");
  print(region.value, "values");
  code.close();
  code.close();
}

void TensorDecodeEmission::printPrologue() {
  std::vector<Access> reads;
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value}) {
    if (!chain->source)
      continue;
    reads.push_back(context.access(chain->source));
    if (chain->norm && chain->norm.getWeight())
      reads.push_back(context.access(chain->norm.getWeight()));
  }
  CodeWriter& code =
      context.structure.begin(PhaseKind::Prologue, reads, {{MemorySpace::Shared, "shared"}});
  code.line("const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;");
  if (normLanes > 0) {
    code.line("float* const values = block.normed[warp];");
    code.format("float* const sums = values + %d;", normSize);
  }
  llvm::SmallVector<OwnHead> own = ownHeads();
  for (const OwnHead& head : own)
    if (!head.chain->norm || normsInRegisters(*head.chain))
      printOwnLoad(code, head);
  for (const OwnHead& head : own)
    printOwnHead(code, head);
  if (madeRows() > 1)
    printOtherHeads(code);
  code.line("__syncthreads();");
}

} // namespace tenon::codegen::cuda::emitters
