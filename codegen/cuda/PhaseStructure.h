#ifndef TENON_CODEGEN_CUDA_PHASESTRUCTURE_H
#define TENON_CODEGEN_CUDA_PHASESTRUCTURE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/cuda/CodeWriter.h"
#include "runtime/program/Program.h"
#include "support/Verdict.h"

namespace tenon::codegen::cuda {

/// What a part of a kernel does. The phases of a kernel stand in this order, some repeated. A
/// prologue may store what it makes.
enum class PhaseKind { Load, Prologue, MainLoop, Epilogue, Store };

/// Where data that a phase touches lies. The first four are ordered by what they promise.
enum class MemorySpace {
  Constant, ///< weights: no kernel of the program writes them
  Settled,  ///< a call's inputs, and states as the call finds them: written before its first kernel
  Appended, ///< caches that another kernel of the call has written at the call's rows: those of the
            ///< sequences and positions that this kernel has, too; all others are settled
  Global,   ///< activations, states, outputs: other kernels of the call write or read them
  Scratch,  ///< global memory of this kernel alone
  Shared,   ///< shared memory of the block
  Registers, ///< variables of a thread
};

/// Data that a phase reads or writes.
struct Access {
  MemorySpace space;
  std::string name; ///< of the variable or parameter
};

/// Some statements of a kernel with everything that they read and write.
struct Phase {
  PhaseKind kind;
  std::vector<Access> reads;
  std::vector<Access> writes;
  CodeWriter code;
};

/// A parameter of a kernel: `const F16* a0`.
struct Parameter {
  std::string type;
  std::string name;
};

/// One kernel as a chain of phases, from which its source is printed: a `__device__` body that
/// takes a tile id, and a thin `__global__` wrapper that passes blockIdx.x as tile id.
///
/// With `pdl` the wrapper lets the next kernel start at entry or, unless `triggersAtEntry`, as its
/// blocks end, which counts as their trigger (PTX ISA, griddepcontrol); the body waits for the
/// previous one (griddepcontrol.wait) in front of the phase `wait`. `DependentLaunch` places the
/// wait and proves it (docs/decisions/0007-reads-before-the-wait.md).
///
/// With `stamps` the kernel takes one more parameter, an array with a place for each block, where
/// the block leaves when it started, passed the wait and ended (`device/stamps.cuh`): nothing else
/// reads that memory in the call, so that a stamp may be stored before the wait.
struct PhaseStructure {
  std::string symbol;
  std::vector<Parameter> parameters;
  /// Tensor maps that the kernel takes by value, after all other parameters: `map0`, `map1`, … .
  std::vector<runtime::TensorMap> tensorMaps;
  std::vector<std::string> headers; ///< of `device/`, included by name
  CodeWriter declarations;          ///< at file level: constants, scratch
  std::vector<Phase> phases;
  int64_t threads = 0;       ///< of a block
  int64_t blocksPerSm = 0;   ///< wanted at once, for __launch_bounds__; 0: no matter
  int64_t clusterBlocks = 1; ///< of a cluster; whole clusters are launched
  int64_t searchers = 0;     ///< first threads of a block, which search; 0: all of them do
  bool pdl = false;
  bool triggersAtEntry = true;
  bool stamps = false;
  std::optional<size_t> wait; ///< index of the phase that the kernel waits in front of

  /// Starts a phase; its code is written to the reference returned, which the next call ends.
  CodeWriter& begin(PhaseKind kind, std::vector<Access> reads, std::vector<Access> writes);

  /// Refuses phases that no kernel can have: a kind before one that it must follow, a store that is
  /// not to global memory, a kernel that stores nothing.
  Verdict verify() const;

  /// The CUDA C++ source.
  std::string print() const;
};

} // namespace tenon::codegen::cuda

#endif // TENON_CODEGEN_CUDA_PHASESTRUCTURE_H
