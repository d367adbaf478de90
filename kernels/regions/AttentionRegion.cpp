#include "kernels/regions/AttentionRegion.h"

using namespace mlir;

namespace tenon::kernels {

static constexpr const char* what = "the emitter of attention ";

/// The chains and the attention, which comes last.
static Verdict readOperations(KernelOp kernel, AttentionRegion& region, HeadRegion& heads) {
  for (Operation& op : kernel.getBlock().without_terminator()) {
    if (region.attention)
      return Refusal{what +
                     ("holds nothing after attention, but " + op.getName().stripDialect()).str()};
    if (auto attention = llvm::dyn_cast<AttentionOp>(op))
      region.attention = attention;
    else if (Verdict verdict = addToHeadRegion(op, heads); !verdict)
      return verdict;
  }
  if (!region.attention)
    return Refusal{what + std::string("has none here")};
  return Verdict::accept();
}

/// The chain of the queries, and those of keys and values where the region writes them.
static Verdict findChains(AttentionRegion& region, HeadRegion& heads) {
  AttentionOp op = region.attention;
  llvm::SmallPtrSet<HeadRegion::Chain*, 4> found;
  for (HeadRegion::Chain& chain : heads.chains) {
    HeadRegion::Chain* target = nullptr;
    if (chain.write && chain.write.getResult() == op.getKey())
      target = &region.key;
    else if (chain.write && chain.write.getResult() == op.getValue())
      target = &region.value;
    else if (!chain.write && chain.end == op.getQuery())
      target = &region.query;
    if (!target || target->source)
      return Refusal{what +
                     std::string("reads the end of each chain once, as queries, keys or values")};
    *target = chain;
  }
  if (!region.query.source) {
    llvm::ArrayRef<int64_t> shape = op.getQuery().getType().getShape();
    region.query.source = region.query.end = op.getQuery();
    region.query.rows = shape[0], region.query.heads = shape[1], region.query.size = shape[2];
  }
  return Verdict::accept();
}

/// Reads the cache that the write's own rows go to, of the same sequences at the same positions.
static Verdict checkWrites(AttentionRegion& region) {
  AttentionOp op = region.attention;
  auto isArgument = [](Value value) { return llvm::isa<BlockArgument>(value); };
  if (bool(region.key.write) != bool(region.value.write))
    return Refusal{what + std::string("writes both keys and values, or neither")};
  if (!isArgument(region.query.source) ||
      (!region.writesCache() && !(isArgument(op.getKey()) && isArgument(op.getValue()))))
    return Refusal{what + std::string("reads queries, keys and values from memory")};
  for (Value operand : {Value(op.getBias()), Value(op.getSlopes()), Value(op.getSinks())})
    if (operand && !isArgument(operand))
      return Refusal{what + std::string("reads bias, slopes and sinks from memory")};
  if (region.writesCache() && region.key.write.getState() == region.value.write.getState())
    return Refusal{what + std::string("keeps keys and values in two caches")};
  for (HeadRegion::Chain* chain : {&region.query, &region.key, &region.value}) {
    if (chain->hadamard)
      return Refusal{what + std::string("takes no head through a Hadamard transform")};
    if (chain->rope && chain->rope.getPositions() != op.getPositions())
      return Refusal{what + std::string("rotates rows by the positions that it attends from")};
    if (chain->write && (chain->write.getPositions() != op.getPositions() ||
                         chain->write.getSequences() != op.getSequences() ||
                         chain->write.getBlockTable() != op.getBlockTable()))
      return Refusal{what + std::string("writes rows of the sequences, positions and pages that it "
                                        "attends from")};
  }
  return Verdict::accept();
}

bool haveEqualTurns(RopeOp a, RopeOp b) {
  return a.getInverseFrequencies() == b.getInverseFrequencies() &&
         a.getMagnitude() == b.getMagnitude();
}

llvm::SmallVector<RopeOp, 3> AttentionRegion::distinctRopes() {
  llvm::SmallVector<RopeOp, 3> ropes;
  for (HeadRegion::Chain* chain : {&query, &key, &value})
    if (chain->rope &&
        llvm::none_of(ropes, [&](RopeOp other) { return haveEqualTurns(other, chain->rope); }))
      ropes.push_back(chain->rope);
  return ropes;
}

VerdictOr<AttentionRegion> readAttentionRegion(KernelOp kernel) {
  AttentionRegion region;
  HeadRegion heads;
  if (Verdict verdict = readOperations(kernel, region, heads); !verdict)
    return verdict.refusal();
  if (Verdict verdict = findChains(region, heads); !verdict)
    return verdict.refusal();
  if (Verdict verdict = checkWrites(region); !verdict)
    return verdict.refusal();
  for (Value value : kernel.getYield().getValues())
    if (value.getDefiningOp() != region.attention && !llvm::isa<StateType>(value.getType()))
      return Refusal{what + std::string("stores what attention makes, and no other tensor")};
  return region;
}

} // namespace tenon::kernels
