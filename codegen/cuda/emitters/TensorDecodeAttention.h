#ifndef TENON_CODEGEN_CUDA_EMITTERS_TENSORDECODEATTENTION_H
#define TENON_CODEGEN_CUDA_EMITTERS_TENSORDECODEATTENTION_H

#include "codegen/cuda/Emitter.h"
#include "codegen/cuda/emitters/RowAttention.h"
#include "codegen/cuda/emitters/ScoreOperands.h"
#include "kernels/cuda/TensorDecodeAttention.h"

namespace tenon::codegen::cuda::emitters {

/// Prints `tensor_decode_attention`; `emit` says how it works.
class TensorDecodeEmission {
public:
  TensorDecodeEmission(KernelContext& context, kernels::TensorDecodeKernel& kernel)
      : context(context), schedule(kernel.schedule), region(kernel.region), op(region.attention),
        rows(context, op), scores(context, op) {}

  mlir::LogicalResult emit();

private:
  mlir::LogicalResult readSchedule();
  mlir::LogicalResult verifyChain(kernels::HeadRegion::Chain& chain);
  /// Rows whose keys the kernel makes: of the call, or none.
  int64_t madeRows() { return region.writesCache() ? rows.query[0] : 0; }
  /// Whether those may stand among a row's keys, not only at their end.
  bool makesStepKeys() { return region.writesCache() && (!op.getCausal() || rows.query[0] > 1); }
  /// The argument that holds the cache which the attention reads.
  static mlir::Value cacheOf(mlir::Value operand);
  static mlir::Value cacheOf(kernels::HeadRegion::Chain& chain) { return chain.write.getState(); }
  std::string exchangeType();

  void declare();
  void printLoad();
  /// Whether another kernel of the call has written the caches, at the places of the call's rows
  /// alone.
  bool startsEarly();
  /// After the wait: what that kernel has written.
  void printLateLoad();
  void printNewKeys(CodeWriter& code);
  void printFrequencies(CodeWriter& code);
  void printTurns(CodeWriter& code);
  /// The table of what `rope` turns the row's pairs by; equal ropes share one.
  std::string turnsOf(RopeOp rope);
  void printPrologue();
  /// A head of the row itself: which warps take one, where it lies, in elements of the chain's
  /// source or as a pointer, and goes.
  struct OwnHead {
    kernels::HeadRegion::Chain* chain;
    std::string name, condition, head, source, target;
  };
  bool takesKeyAsQuery();
  llvm::SmallVector<OwnHead> ownHeads();
  bool normsInRegisters(kernels::HeadRegion::Chain& chain);
  void printOwnFactor(CodeWriter& code, const OwnHead& own);
  std::string elementOf(const OwnHead& own, const std::string& which);
  std::string weightsOf(kernels::HeadRegion::Chain& chain);
  void printNormWeights(CodeWriter& code);
  void printOwnLoad(CodeWriter& code, const OwnHead& own);
  void printOwnHead(CodeWriter& code, const OwnHead& own);
  void printOtherHeads(CodeWriter& code);
  void printChain(CodeWriter& code, kernels::HeadRegion::Chain& chain);
  void printTurned(CodeWriter& code, RopeOp rope, const std::string& a, const std::string& b);
  void printRope(CodeWriter& code, kernels::HeadRegion::Chain& chain, const std::string& element);
  void printCopy(CodeWriter& code, kernels::HeadRegion::Chain& chain, const std::string& element,
                 const std::string& source);
  void printMainLoop();
  void printStore();
  void printCacheWrite(CodeWriter& code);

  KernelContext& context;
  const kernels::TensorDecodeSchedule& schedule;
  kernels::AttentionRegion& region;
  AttentionOp op;
  RowAttention rows;
  ScoreOperands scores;
  std::string type; ///< of an element, on the device
  int64_t warps = 0, cluster = 0, sets = 0, stages = 0, runBytes = 0;
  int64_t normSize = 0, normLanes = 0; ///< floats of shared memory that a warp takes for a norm
  llvm::SmallVector<RopeOp, 3> tables; ///< a rope of each table of turns
};

} // namespace tenon::codegen::cuda::emitters

#endif // TENON_CODEGEN_CUDA_EMITTERS_TENSORDECODEATTENTION_H
