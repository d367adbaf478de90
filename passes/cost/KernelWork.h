#ifndef TENON_PASSES_COST_KERNELWORK_H
#define TENON_PASSES_COST_KERNELWORK_H

#include "ir/Dialect.h"

namespace tenon::passes::cost {

/// What one run of a kernel does, whatever the device: sums over the operations of its region.
struct KernelWork {
  int64_t flops = 0;         ///< each operation once
  int64_t quantOps = 0;      ///< of those, the ones of products of quants: those of `blocks`
  int64_t weightBytes = 0;   ///< read of operands that GEMMs and tables hold
  int64_t readBytes = 0;     ///< read of other inputs, each input once
  int64_t writtenBytes = 0;  ///< of results
  int64_t reductions = 0;    ///< on the longest chain of operations: threads wait for each other
  int64_t repeatedFlops = 0; ///< of operations that every tile of a GEMM does again
  int64_t repeatedReductions = 0;
  int64_t repeatedElements = 0; ///< that repeated reductions read, of each value once
  /// Block-quantised weights of GEMMs: elements that are decoded, or unpacked beside quants.
  struct Blocks {
    const Encoding* encoding;
    bool besideQuants;
    int64_t elements;
    int64_t quantOps; ///< of the GEMM, on integers; 0 beside floats
  };
  llvm::SmallVector<Blocks, 2> blocks;
  double keyShare = 1; ///< of the keys of a full cache, those that attention reads
};

/// The work of an operation: of attention on the keys of positions up to `newest` of its caches, or
/// without one on full caches; flops are scaled alike.
Work workAt(ComputeOpInterface op, std::optional<int64_t> newest);

/// Adds up the work of `kernel`, of each operation as `workAt`. Saturates.
KernelWork sumWork(KernelOp kernel, std::optional<int64_t> newest = std::nullopt);

/// The passes over a row that wait for a sum or a maximum: 1 of rms_norm, 2 of layer_norm and
/// softmax, 0 of most operations.
int64_t reductionsOf(mlir::Operation& op);

} // namespace tenon::passes::cost

#endif // TENON_PASSES_COST_KERNELWORK_H
