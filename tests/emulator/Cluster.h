#ifndef TENON_TESTS_EMULATOR_CLUSTER_H
#define TENON_TESTS_EMULATOR_CLUSTER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "Machine.h"

/// The state of the emulated machine: a cluster's threads, what they wait for, and their memory.
namespace tenon::emulator {

inline constexpr size_t warpSize = 32, warpgroupSize = 128, slotBytes = 32;
inline constexpr size_t dynamicBytesOfBlock = 256 << 10, staticBytesOfBlock = 64 << 10;
inline constexpr size_t sharedBytesOfBlock = dynamicBytesOfBlock + staticBytesOfBlock;
inline constexpr unsigned firstHandle = 1 << 10; // so that none is null
inline constexpr size_t stackBytes = 256 << 10;

/// Ends the program: a kernel did what no device allows.
[[noreturn]] void fail(const char* reason);

struct Fiber;

/// Those that wait until `live` threads have arrived.
struct Meeting {
  size_t live = 0, arrived = 0;
  int any = 0, result = 0;
  std::vector<Fiber*> waiting;
};

struct Warp {
  Meeting meeting;
  alignas(16) unsigned char slots[2][warpSize * slotBytes];
};

struct Block {
  Meeting meeting;
  std::vector<Meeting> warpgroups;
  unsigned rank = 0; ///< in the cluster
  Fiber* fibers = nullptr;
  std::array<Meeting, 16> groups; ///< of the barriers by number
  std::vector<Warp> warps;
  unsigned char* shared = nullptr;
};

struct Copy {
  void* target;
  const void* source;
  int bytes;
  int zeros; ///< after them
  void run() const {
    std::memcpy(target, source, bytes);
    std::memset(static_cast<char*>(target) + bytes, 0, zeros);
  }
};

/// One thread's part of a product of a warpgroup.
struct Product {
  float* sums;
  unsigned columns;
  bool inRegisters, alongRows, add;
  std::array<unsigned, 4> a;
  uint64_t matrixA, matrixB;
  float (*widen)(unsigned short);
};

struct Fiber {
  EmulatedThread thread;
  Block* block = nullptr;
  Warp* warp = nullptr;
  void* stack = nullptr; ///< pointer, while it does not run
  unsigned exchanges = 0;
  unsigned clusterPhase = 0; ///< of its last arrival at the cluster's barrier
  bool arrived = false;      ///< there
  std::vector<Copy> open;    ///< copies since the last commit
  std::deque<std::vector<Copy>> committed;
  std::vector<Product> openWgmmas; ///< since the last commit
  std::deque<std::vector<Product>> products;
  std::deque<std::function<void()>> boxes; ///< on their way out of shared memory
  std::function<bool()> condition;         ///< that it waits for
};

struct Bulk {
  std::function<void()> run;
  unsigned bytes;
};

struct Barrier {
  unsigned count = 1, pending = 1, phase = 0;
  int64_t bytes = 0;
  std::vector<Bulk> copies;
};

/// A cluster's threads and memory. There is one at a time in a thread of the host.
class Machine {
public:
  void launch(const EmulatedKernel& kernel, void** arguments, unsigned blocks, unsigned threads);

  Fiber* current = nullptr;
  std::map<const void*, size_t> statics; ///< offsets
  size_t staticBytes = 0;
  std::unordered_map<void*, Barrier> barriers;
  unsigned clusterArrived = 0, clusterPhase = 0;

  void waitFor(std::function<bool()> condition);
  /// True for the last to arrive, which goes on; the others wait.
  void meet(Meeting& meeting, int value);
  void arrive(Meeting& meeting);
  void ready(Fiber* fiber) { runnable.push_back(fiber); }
  unsigned char* base() { return arena; }
  size_t clusterBlocks() const { return cluster.size(); }
  void completeCluster();

private:
  void prepare(unsigned firstBlock, unsigned count, unsigned blocks, unsigned threads);
  void run();
  void yieldTo();
  Fiber* next();
  static void enter();
  void finish();
  void leave(Meeting& meeting);
  void release(Meeting& meeting);

  const EmulatedKernel* kernel = nullptr;
  void** arguments = nullptr;
  std::vector<Fiber> fibers;
  std::vector<Block> cluster;
  std::deque<Fiber*> runnable;
  std::vector<Fiber*> polling;
  unsigned char* arena = nullptr;
  size_t arenaBytes = 0;
  std::vector<void*> stacks;
  void* host = nullptr; ///< its stack pointer
  size_t alive = 0;
  std::mt19937 random{1};
  /// What TENON_EMULATED_ORDER says: `descending` clusters, else shuffled threads.
  const char* order = std::getenv("TENON_EMULATED_ORDER");
  bool descending = order && std::string_view(order) == "descending";
  bool shuffled = order && !descending;
};

extern thread_local Machine machine;

/// Bytes of a row of a swizzled box, which holds 64 elements of 16 bits.
inline constexpr int64_t boxColumns = 64, rowBytes = 128;

/// Where byte `offset` of swizzled rows of 128 bytes lies: pieces of 16 change places within a row.
inline size_t swizzled(size_t offset) { return offset ^ (offset >> 7 & 7) << 4; }

} // namespace tenon::emulator

#endif // TENON_TESTS_EMULATOR_CLUSTER_H
