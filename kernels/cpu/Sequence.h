#ifndef TENON_KERNELS_CPU_SEQUENCE_H
#define TENON_KERNELS_CPU_SEQUENCE_H

#include <array>

#include "kernels/cpu/CpuKernelKind.h"

namespace tenon::kernels::cpu {

/// What a tile computes is said by the parts of the operations (kernels/PartTile.h).
struct SequenceSchedule {
  int64_t tiles = 0;

  static constexpr std::array<Parameter<SequenceSchedule>, 0> parameters = {};
};

/// Several operations, one after the other in each tile (codegen/cpu/emitters/Sequence.cpp).
struct SequenceKernel {
  static constexpr llvm::StringLiteral name = "sequence";

  KernelOp kernel;
  SequenceSchedule schedule;

  static VerdictOr<SequenceKernel> read(KernelOp kernel);
};

/// Whether the CPU's emitter `sequence` computes the region of `kernel`.
///
/// It runs the emitters of the single operations one after the other in each tile, with what lies
/// between them in a thread's own memory, so every bit is that of the single kernels. Two kinds of
/// regions have tiles that fit together:
///
/// * rows: elementwise operations and operations on rows (norms, softmax, rope, embedding, the
///   write of one row into a cache) of equally many elements; a tile is some rows of all of them,
///   and chains that do not read one another have tiles of their own;
/// * columns: GEMMs, those of experts too, elementwise operations on their results and weighted
///   sums of what a row's experts give; a tile is some columns of GEMMs that meet. What stands
///   before the GEMMs, operations on rows, and biases that experts' numbers choose are computed
///   whole by each thread, and not stored.
Verdict acceptsSequence(KernelOp kernel);

} // namespace tenon::kernels::cpu

#endif // TENON_KERNELS_CPU_SEQUENCE_H
