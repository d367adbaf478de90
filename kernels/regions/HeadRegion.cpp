#include "kernels/regions/HeadRegion.h"

#include <numeric>

#include "ir/KvCache.h"

using namespace mlir;

namespace tenon::kernels {

/// The chain that ends in `value`; a new one where it is an argument. Null where it is neither.
static HeadRegion::Chain* findChain(HeadRegion& region, Value value) {
  for (HeadRegion::Chain& chain : region.chains)
    if (chain.end == value && !llvm::isa<BlockArgument>(value))
      return &chain;
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!llvm::isa<BlockArgument>(value) || !type || type.getRank() != 3)
    return nullptr;
  HeadRegion::Chain& chain = region.chains.emplace_back();
  chain.source = chain.end = value;
  chain.rows = type.getShape()[0], chain.heads = type.getShape()[1];
  chain.size = type.getShape()[2];
  return &chain;
}

static bool areArguments(ValueRange values) {
  return llvm::all_of(values, llvm::IsaPred<BlockArgument>);
}

int64_t headsOfWarp(const HeadRegion::Chain& chain, int64_t most) {
  return std::gcd(chain.heads, most);
}

int64_t vectorOf(const HeadRegion::Chain& chain) {
  constexpr int64_t vectorBytes = 16;
  auto type = llvm::cast<RankedTensorType>(chain.source.getType());
  return std::gcd(chain.size, vectorBytes / getEncoding(type.getElementType())->blockBytes);
}

bool isOfWholeRows(const HeadRegion& region) {
  return llvm::all_of(region.chains, [&](HeadRegion::Chain chain) {
    bool encodes = chain.write && KvCache(chain.write.getState().getType()).isQuantized();
    return !chain.norm && !chain.hadamard && !encodes && chain.rows == region.chains.front().rows &&
           vectorOf(chain) >= 2;
  });
}

Verdict addToHeadRegion(Operation& op, HeadRegion& region) {
  constexpr const char* what = "the emitter of heads ";
  if (!llvm::isa<RmsNormOp, RopeOp, HadamardOp, KvWriteOp>(op))
    return Refusal{what + ("cannot hold " + op.getName().stripDialect()).str()};
  if (!areArguments(op.getOperands().drop_front()))
    return Refusal{what + std::string("reads all but the heads themselves from memory")};
  HeadRegion::Chain* chain = findChain(region, op.getOperand(0));
  if (!chain)
    return Refusal{what + std::string("takes heads [M, H, D] in memory, each through one chain")};
  if (auto norm = llvm::dyn_cast<RmsNormOp>(op)) {
    if (chain->norm || chain->rope || chain->hadamard || chain->write)
      return Refusal{what + std::string("normalises a head once, first of all")};
    // A warp adds a head, in one chunk (scheduleRows).
    constexpr int64_t mostBytes = 2048;
    if (chain->size * norm.getType().getElementTypeBitWidth() > 8 * mostBytes)
      return Refusal{what + std::string("normalises heads of at most 2048 bytes")};
    chain->norm = norm;
  } else if (auto rope = llvm::dyn_cast<RopeOp>(op)) {
    if (chain->rope || chain->hadamard || chain->write)
      return Refusal{what + std::string("rotates a head once, before it is written")};
    chain->rope = rope;
  } else if (auto hadamard = llvm::dyn_cast<HadamardOp>(op)) {
    if (chain->hadamard || chain->write)
      return Refusal{what + std::string("transforms a head once, before it is written")};
    chain->hadamard = hadamard;
  } else {
    if (chain->write)
      return Refusal{what + std::string("writes a head once")};
    chain->write = llvm::cast<KvWriteOp>(op);
    KvCache cache(chain->write.getState().getType());
    if (cache.isRing())
      return Refusal{what + std::string("writes to caches in the layout dense or paged")};
    return Verdict::accept();
  }
  chain->end = op.getResult(0);
  return Verdict::accept();
}

VerdictOr<HeadRegion> readHeadRegion(KernelOp kernel) {
  HeadRegion region;
  for (Operation& op : kernel.getBlock().without_terminator())
    if (Verdict verdict = addToHeadRegion(op, region); !verdict)
      return verdict.refusal();
  if (region.chains.empty())
    return Refusal{"the emitter of heads has none here"};
  for (Value value : kernel.getYield().getValues()) {
    if (llvm::isa<StateType>(value.getType()))
      continue;
    auto* chain = llvm::find_if(region.chains, [&](HeadRegion::Chain& candidate) {
      return candidate.end == value && !llvm::isa<BlockArgument>(value);
    });
    if (chain == region.chains.end())
      return Refusal{"the emitter of heads stores what the end of a chain makes"};
    chain->isYielded = true;
  }
  for (HeadRegion::Chain& chain : region.chains)
    if (!chain.isYielded && !chain.write)
      return Refusal{"the emitter of heads stores the end of each chain"};
  return region;
}

} // namespace tenon::kernels
