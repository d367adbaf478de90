#ifndef TENON_TESTS_EMULATOR_MACHINE_H
#define TENON_TESTS_EMULATOR_MACHINE_H

#include <cstddef>
#include <cstdint>

/// What a kernel that was compiled for the host calls, and what it says of itself. Plain C, since
/// kernels are loaded while the program runs. No such function is called but from a kernel's threads.
///
/// A launch runs cluster by cluster, in ascending order or, with TENON_EMULATED_ORDER=descending, from the
/// last one on; the threads of a cluster take turns on one
/// thread of the host, and one goes on until it must wait for others. Shared memory is filled with
/// ones first, NaNs as numbers. Asynchronous copies are done no earlier than something waits for
/// them. So a missing wait gives wrong numbers, and a barrier that not all reach ends the program
/// with a message.
extern "C" {

/// The indices of a thread, as CUDA names them.
struct EmulatedIndex {
  unsigned x, y, z;
};
struct EmulatedThread {
  EmulatedIndex threadIndex, blockIndex, blockSize, gridSize;
};

/// A kernel in a module, under the symbol `emulated_kernel_NAME`.
struct EmulatedKernel {
  unsigned threads;                 ///< of a block, at most
  unsigned clusterBlocks;           ///< of a cluster; 1 without
  unsigned parameters;              ///< their number,
  const size_t* parameterBytes;     ///< and their sizes
  void (*invoke)(void** arguments); ///< as one thread
};

/// What a tensor map holds.
struct EmulatedMatrix {
  const void* elements;
  int64_t rows, columns;
  unsigned boxRows;
};

const EmulatedThread* emulatedThread() __attribute__((const));

/// __syncthreads; the threads that gave something other than 0.
int emulatedBlockBarrier(int value);

/// bar.sync: waits until that many threads of the block, whole warps, have come to the barrier of that
/// number, 0 to 15.
void emulatedGroupBarrier(unsigned number, unsigned threads);
/// bar.arrive: comes there and goes on.
void emulatedGroupArrive(unsigned number, unsigned threads);

/// Hands `bytes` up to 32 to the warp's other threads. All come to the same call. Thread l's lie at 32 l
/// of what is returned, until the next call but one.
const unsigned char* emulatedExchange(const void* own, size_t bytes);

/// Shared memory: a static variable that `key` stands for; what the launch asked for; an address as
/// 32 bits and back, in any block of the cluster.
void* emulatedStatic(const void* key, size_t bytes);
unsigned char* emulatedDynamic();
unsigned emulatedHandle(const void* pointer);
void* emulatedPointer(unsigned handle);
unsigned emulatedMap(unsigned handle, unsigned rank);

/// cp.async: `bytes` of 16, zeros after them; 4 bytes.
void emulatedCopy(unsigned target, const void* source, int bytes);
void emulatedCopyWord(unsigned target, const void* source);
void emulatedCommitCopies();
void emulatedWaitForCopies(int pending);

/// mbarrier, on which bytes complete. To expect none is to arrive.
void emulatedBarrierInit(unsigned barrier, unsigned count);
void emulatedBarrierExpect(unsigned barrier, unsigned bytes);
void emulatedBulkCopy(unsigned target, const void* source, unsigned bytes, unsigned barrier);
void emulatedStoreAsync(unsigned target, const void* value, unsigned bytes, unsigned barrier);
void emulatedBarrierWait(unsigned barrier, unsigned parity);

/// Boxes of matrices of 16-bit elements that `map` describes, in rows of 128 bytes of shared memory, whose
/// pieces of 16 are swizzled: to `target` of each block of the cluster whose rank is a bit of `blocks`, 0
/// for this one; from `source`, a group of its own.
void emulatedEncodeMap(void* map, const EmulatedMatrix* matrix);
void emulatedBringBox(unsigned target, const void* map, int column, int row, unsigned barrier,
                      unsigned blocks);
void emulatedSendBox(const void* map, int column, int row, unsigned source);
void emulatedWaitForBoxes(int pending);

/// wgmma: `sums` of `columns` / 2 of this thread, with A in shared memory, or in registers where `a` is
/// not null; then B's columns lie along its rows. The warpgroup multiplies no earlier than it waits.
void emulatedIssueWgmma(float* sums, unsigned columns, const unsigned* a, uint64_t matrixA,
                        uint64_t matrixB, int add, bool alongRows, float (*widen)(unsigned short));
void emulatedCommitWgmmas();
void emulatedWaitForWgmmas(int pending);

unsigned emulatedRank(); ///< of the block in its cluster
void emulatedClusterArrive();
void emulatedClusterWait();
}

/// The machine that the ELF header of a cubin names, EM_CUDA.
constexpr uint16_t emulatedMachine = 190;

namespace tenon::emulator {

/// Runs all blocks of a launch.
void launch(const EmulatedKernel& kernel, void** arguments, unsigned blocks, unsigned threads,
            size_t dynamicBytes);

} // namespace tenon::emulator

#endif // TENON_TESTS_EMULATOR_MACHINE_H
