#ifndef TENON_KERNELS_CUDA_BLOCKRESOURCES_H
#define TENON_KERNELS_CUDA_BLOCKRESOURCES_H

#include "ir/Dialect.h"

namespace tenon::kernels {

/// What a block of a GPU kernel takes, from its region and schedule alone: the one place that code
/// generation launches by, the cost model prices by, and tests compare with what ptxas reports.
struct BlockResources {
  int64_t threads = 0;
  int64_t registers = 0;         ///< of a thread: ptxas takes no more
  int64_t blocksPerSm = 0;       ///< that `__launch_bounds__` asks for; 0: no matter
  int64_t staticSmemBytes = 0;   ///< shared memory that the source declares
  int64_t dynamicSmemBytes = 0;  ///< shared memory of the launch
  int64_t dynamicSmemUnit = 128; ///< a multiple of which it begins at, behind the static one
  // How memory is read; `wholeTiles` where a block asks for all that it reads at once.
  int64_t bytesAThread = 16; ///< that a thread asks for before it needs the first of them
  bool wholeTiles = false;
  bool tensorCores = false; ///< GEMMs are theirs

  /// Registers of a thread that takes what `__launch_bounds__` leaves it.
  static constexpr int64_t mostRegisters = 255;
  /// Takes no more registers than `__launch_bounds__` leaves a thread on a multiprocessor with
  /// `registersPerSm`.
  void boundRegisters(int64_t registersPerSm);
};

/// Blocks that run at once on a multiprocessor of `target`, a CUDA device: what its threads,
/// registers (which a warp takes in units of 256), shared memory (with the 1 KiB that the system
/// keeps of each block) and blocks allow (CUDA C++ Programming Guide, compute capabilities). 0
/// where one block does not fit.
int64_t residentBlocks(const BlockResources& resources, TargetAttr target);

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_BLOCKRESOURCES_H
