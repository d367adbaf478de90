#include "Machine.h"

#include <array>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

// Saves what the calling convention asks of a callee on the stack, and goes on where another stack
// was left.
extern "C" void emulatorSwitch(void** from, void* to);
asm(R"(
.text
.globl emulatorSwitch
.hidden emulatorSwitch
emulatorSwitch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");

namespace tenon::emulator {

namespace {

constexpr size_t warpSize = 32, warpgroupSize = 128, slotBytes = 32;
constexpr size_t dynamicBytesOfBlock = 256 << 10, staticBytesOfBlock = 64 << 10;
constexpr size_t sharedBytesOfBlock = dynamicBytesOfBlock + staticBytesOfBlock;
constexpr unsigned firstHandle = 1 << 10; // so that none is null
constexpr size_t stackBytes = 256 << 10;

[[noreturn]] void fail(const char* reason) {
  std::fprintf(stderr, "emulator: %s\n", reason);
  std::abort();
}

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
  void run() const {
    std::memcpy(target, source, bytes);
    std::memset(static_cast<char*>(target) + bytes, 0, 16 - bytes);
  }
};

/// One thread's part of a product of a warpgroup.
struct Product {
  float* sums;
  unsigned columns;
  bool inRegisters, add;
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
  std::vector<Product> openProducts; ///< since the last commit
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
  bool shuffled = std::getenv("TENON_EMULATED_ORDER") != nullptr;
};

thread_local Machine machine;

void* mapMemory(size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory");
  return memory;
}

void Machine::enter() {
  Machine& self = machine;
  self.kernel->invoke(self.arguments);
  self.finish();
}

void Machine::prepare(unsigned firstBlock, unsigned count, unsigned blocks, unsigned threads) {
  if (arenaBytes < count * sharedBytesOfBlock) {
    arena = static_cast<unsigned char*>(mapMemory(count * sharedBytesOfBlock));
    arenaBytes = count * sharedBytesOfBlock;
  }
  std::memset(arena, 0xff, count * sharedBytesOfBlock);
  while (stacks.size() < size_t{count} * threads)
    stacks.push_back(mapMemory(stackBytes));
  barriers.clear();
  clusterArrived = clusterPhase = 0;
  cluster.assign(count, {});
  fibers.assign(size_t{count} * threads, {});
  alive = fibers.size();
  for (unsigned b = 0; b < count; ++b) {
    Block& block = cluster[b];
    block.shared = arena + b * sharedBytesOfBlock;
    block.meeting.live = threads;
    block.rank = b;
    block.fibers = &fibers[size_t{b} * threads];
    block.warps = std::vector<Warp>((threads + warpSize - 1) / warpSize);
    block.warpgroups.resize(threads / warpgroupSize);
    for (Meeting& meeting : block.warpgroups)
      meeting.live = warpgroupSize;
    for (unsigned t = 0; t < threads; ++t) {
      Fiber& fiber = fibers[size_t{b} * threads + t];
      fiber.thread = {{t, 0, 0}, {firstBlock + b, 0, 0}, {threads, 1, 1}, {blocks, 1, 1}};
      fiber.block = &block;
      fiber.warp = &block.warps[t / warpSize];
      ++fiber.warp->meeting.live;
      // Six registers and where to go on; the stack is then as behind a call.
      auto* top = reinterpret_cast<void**>(static_cast<char*>(stacks[size_t{b} * threads + t]) +
                                           stackBytes - 64);
      *top = reinterpret_cast<void*>(&Machine::enter);
      fiber.stack = top - 6;
      runnable.push_back(&fiber);
    }
  }
}

Fiber* Machine::next() {
  while (runnable.empty()) {
    std::vector<Fiber*> still;
    for (Fiber* fiber : polling) {
      current = fiber;
      if (fiber->condition())
        runnable.push_back(fiber);
      else
        still.push_back(fiber);
    }
    if (runnable.empty())
      fail("every thread of the cluster waits: a barrier that not all reach, or bytes that never "
           "come");
    polling = std::move(still);
  }
  size_t index = shuffled ? random() % runnable.size() : 0;
  Fiber* fiber = runnable[index];
  runnable.erase(runnable.begin() + index);
  return fiber;
}

void Machine::yieldTo() {
  Fiber* self = current;
  Fiber* other = next();
  current = other;
  if (other != self)
    emulatorSwitch(&self->stack, other->stack);
}

void Machine::waitFor(std::function<bool()> condition) {
  if (condition())
    return;
  current->condition = std::move(condition);
  polling.push_back(current);
  yieldTo();
}

void Machine::release(Meeting& meeting) {
  meeting.arrived = 0;
  meeting.result = std::exchange(meeting.any, 0);
  for (Fiber* fiber : meeting.waiting)
    ready(fiber);
  meeting.waiting.clear();
}

void Machine::meet(Meeting& meeting, int value) {
  meeting.any |= value;
  if (++meeting.arrived == meeting.live)
    return release(meeting);
  meeting.waiting.push_back(current);
  yieldTo();
}

void Machine::arrive(Meeting& meeting) {
  if (++meeting.arrived == meeting.live)
    release(meeting);
}

void Machine::leave(Meeting& meeting) {
  if (--meeting.live > 0 && meeting.arrived == meeting.live)
    release(meeting);
}

void Machine::completeCluster() {
  if (clusterArrived == alive && alive > 0) {
    clusterArrived = 0;
    ++clusterPhase;
  }
}

void Machine::finish() {
  Fiber* self = current;
  for (const std::vector<Copy>& group : self->committed)
    if (!group.empty())
      fail("a thread ends with asynchronous copies on their way");
  if (!self->boxes.empty() || !self->products.empty() || !self->openProducts.empty())
    fail("a thread ends with boxes or products on their way");
  --alive;
  if (self->arrived && self->clusterPhase == clusterPhase)
    --clusterArrived;
  leave(self->warp->meeting);
  leave(self->block->meeting);
  completeCluster();
  void* ignored;
  if (alive == 0)
    emulatorSwitch(&ignored, host);
  current = next();
  emulatorSwitch(&ignored, current->stack);
}

void Machine::run() {
  current = next();
  emulatorSwitch(&host, current->stack);
}

void Machine::launch(const EmulatedKernel& launched, void** given, unsigned blocks,
                     unsigned threads) {
  kernel = &launched, arguments = given;
  statics.clear();
  staticBytes = 0;
  for (unsigned first = 0; first < blocks; first += launched.clusterBlocks) {
    prepare(first, launched.clusterBlocks, blocks, threads);
    run();
  }
}

Barrier& barrierAt(unsigned handle) {
  auto found = machine.barriers.find(emulatedPointer(handle));
  if (found == machine.barriers.end())
    fail("a barrier in shared memory is used before it was initialised");
  return found->second;
}

/// Where byte `offset` of swizzled rows of 128 bytes lies: pieces of 16 change places within a row.
size_t swizzled(size_t offset) { return offset ^ (offset >> 7 & 7) << 4; }

constexpr int64_t boxColumns = 64, rowBytes = 128;

const EmulatedMatrix& matrixOf(const void* map) { return *static_cast<const EmulatedMatrix*>(map); }

/// Calls body(element of the matrix or null where the box reaches beyond it, offset in the box).
template <typename Body> void forBox(const EmulatedMatrix& matrix, int column, int row, Body body) {
  for (int64_t i = 0; i < matrix.boxRows; ++i)
    for (int64_t j = 0; j < boxColumns; ++j) {
      int64_t r = row + i, c = column + j;
      bool inside = r >= 0 && r < matrix.rows && c >= 0 && c < matrix.columns;
      auto* element = static_cast<const unsigned short*>(matrix.elements) + r * matrix.columns + c;
      body(inside ? const_cast<unsigned short*>(element) : nullptr,
           swizzled(static_cast<size_t>(i * rowBytes + 2 * j)));
    }
}

unsigned char* boxInShared(unsigned handle) {
  if (handle % 1024 != 0)
    fail("a box of swizzled rows whose address is no multiple of 1,024");
  return static_cast<unsigned char*>(emulatedPointer(handle));
}

/// What a descriptor of wgmma says: where a matrix begins in the block's shared memory, the bytes from
/// 64 of its columns to the next and from 8 of its rows to the next. Checks what is the same in all.
struct Matrix {
  const unsigned char* base;
  size_t start, nextColumns, nextRows;

  Matrix(uint64_t descriptor, const Block& block)
      : base(block.shared), nextColumns((descriptor >> 16 & 0x3FFF) << 4),
        nextRows((descriptor >> 32 & 0x3FFF) << 4) {
    if (descriptor >> 62 != 1)
      fail("a matrix of wgmma that is not swizzled in rows of 128 bytes");
    constexpr size_t addresses = 1 << 18;
    size_t origin = block.shared - machine.base() + firstHandle;
    start = ((descriptor & 0x3FFF) << 4) + addresses - origin % addresses;
    start %= addresses;
  }
  unsigned short at(size_t offset) const {
    unsigned short element;
    std::memcpy(&element, base + swizzled(start + offset), sizeof(element));
    return element;
  }
  /// Of row `row`, element `k` of K along it.
  unsigned short alongRow(size_t row, size_t k) const {
    return at(row / 8 * nextRows + row % 8 * rowBytes + 2 * k);
  }
  /// Of column `column`, element `k` of K, which are rows.
  unsigned short alongColumn(size_t column, size_t k) const {
    return at(column / boxColumns * nextColumns + k / 8 * nextRows + k % 8 * rowBytes +
              column % boxColumns * 2);
  }
};

/// sums (+)= A * B^T of a warpgroup over 16 elements of K, each sum rounded once.
void multiply(const Fiber* fibers, const std::vector<Product*>& parts) {
  constexpr size_t rows = 64, depth = 16;
  const Product& first = *parts.front();
  auto columns = first.columns;
  Matrix matrixB(first.matrixB, *fibers->block);
  std::vector<float> a(rows * depth), b(columns * depth);
  for (size_t n = 0; n < columns; ++n)
    for (size_t k = 0; k < depth; ++k)
      b[n * depth + k] =
          first.widen(first.inRegisters ? matrixB.alongColumn(n, k) : matrixB.alongRow(n, k));
  if (!first.inRegisters) {
    Matrix matrixA(first.matrixA, *fibers->block);
    for (size_t m = 0; m < rows; ++m)
      for (size_t k = 0; k < depth; ++k)
        a[m * depth + k] = first.widen(matrixA.alongRow(m, k));
  }
  auto rowOf = [](size_t thread, size_t pair) {
    return thread / warpSize * 16 + thread % warpSize / 4 + pair % 2 * 8;
  };
  for (size_t t = 0; first.inRegisters && t < warpgroupSize; ++t)
    for (size_t pair = 0; pair < 4; ++pair)
      for (size_t odd = 0; odd < 2; ++odd)
        a[rowOf(t, pair) * depth + pair / 2 * 8 + t % 4 * 2 + odd] =
            first.widen(static_cast<unsigned short>(parts[t]->a[pair] >> 16 * odd));
  for (size_t t = 0; t < warpgroupSize; ++t) {
    const Product& part = *parts[t];
    if (part.columns != columns || part.add != first.add || part.matrixA != first.matrixA ||
        part.matrixB != first.matrixB || part.inRegisters != first.inRegisters)
      fail("threads of a warpgroup multiply different matrices");
    for (size_t j = 0; j < columns / 2; ++j) {
      const float* x = &a[rowOf(t, j / 2) * depth];
      const float* y = &b[(j / 8 * 16 + j / 4 % 2 * 8 + t % 4 * 2 + j % 2) * depth];
      double sum = 0;
      for (size_t k = 0; k < depth; ++k)
        sum += static_cast<double>(x[k]) * y[k];
      part.sums[j] = (part.add ? part.sums[j] : 0.0f) + static_cast<float>(sum);
    }
  }
}

/// Multiplies what the warpgroup from `fibers` on has committed, but its last `pending` groups.
void multiplyCommitted(Fiber* fibers, int pending) {
  while (fibers->products.size() > static_cast<size_t>(pending)) {
    size_t count = fibers->products.front().size();
    for (size_t i = 0; i < count; ++i) {
      std::vector<Product*> parts;
      for (size_t t = 0; t < warpgroupSize; ++t) {
        if (fibers[t].products.empty() || fibers[t].products.front().size() != count)
          fail("threads of a warpgroup wait for different products");
        parts.push_back(&fibers[t].products.front()[i]);
      }
      multiply(fibers, parts);
    }
    for (size_t t = 0; t < warpgroupSize; ++t)
      fibers[t].products.pop_front();
  }
}

void complete(Barrier& barrier) {
  if (barrier.pending == 0 && barrier.bytes == 0) {
    barrier.pending = barrier.count;
    barrier.phase ^= 1;
  }
}

} // namespace

void launch(const EmulatedKernel& kernel, void** arguments, unsigned blocks, unsigned threads,
            size_t dynamicBytes) {
  if (threads > kernel.threads || blocks % kernel.clusterBlocks != 0 ||
      dynamicBytes > dynamicBytesOfBlock)
    fail("a launch that the kernel does not allow");
  machine.launch(kernel, arguments, blocks, threads);
}

} // namespace tenon::emulator

using namespace tenon::emulator;

const EmulatedThread* emulatedThread() { return &machine.current->thread; }

int emulatedBlockBarrier(int value) {
  Meeting& meeting = machine.current->block->meeting;
  machine.meet(meeting, value);
  return meeting.result;
}

void emulatedGroupBarrier(unsigned number, unsigned threads) {
  Block& block = *machine.current->block;
  if (number >= block.groups.size() || threads == 0 || threads % warpSize != 0)
    fail("bar.sync of a barrier above 15, or of threads that are no whole warps");
  block.groups[number].live = threads;
  machine.meet(block.groups[number], 0);
}

void emulatedGroupArrive(unsigned number, unsigned threads) {
  Block& block = *machine.current->block;
  if (number >= block.groups.size() || threads == 0 || threads % warpSize != 0)
    fail("bar.arrive of a barrier above 15, or of threads that are no whole warps");
  block.groups[number].live = threads;
  machine.arrive(block.groups[number]);
}

const unsigned char* emulatedExchange(const void* own, size_t bytes) {
  Fiber& self = *machine.current;
  unsigned char* slots = self.warp->slots[self.exchanges++ % 2];
  std::memcpy(slots + self.thread.threadIndex.x % warpSize * slotBytes, own, bytes);
  machine.meet(self.warp->meeting, 0);
  return slots;
}

void* emulatedStatic(const void* key, size_t bytes) {
  auto [found, isNew] = machine.statics.try_emplace(key, machine.staticBytes);
  if (isNew)
    machine.staticBytes += (bytes + 127) / 128 * 128;
  if (machine.staticBytes > staticBytesOfBlock)
    fail("more static shared memory than a block has");
  return machine.current->block->shared + dynamicBytesOfBlock + found->second;
}

unsigned char* emulatedDynamic() { return machine.current->block->shared; }

unsigned emulatedHandle(const void* pointer) {
  ptrdiff_t offset = static_cast<const unsigned char*>(pointer) - machine.base();
  if (offset < 0 || offset >= ptrdiff_t(sharedBytesOfBlock * 16))
    fail("an address outside shared memory is taken for one inside");
  return static_cast<unsigned>(offset) + firstHandle;
}

void* emulatedPointer(unsigned handle) { return machine.base() + (handle - firstHandle); }

unsigned emulatedMap(unsigned handle, unsigned rank) {
  ptrdiff_t own = machine.current->block->shared - machine.base();
  return handle - static_cast<unsigned>(own) + rank * static_cast<unsigned>(sharedBytesOfBlock);
}

void emulatedCopy(unsigned target, const void* source, int bytes) {
  if (target % 16 != firstHandle % 16 || reinterpret_cast<uintptr_t>(source) % 16 != 0)
    fail("cp.async of 16 bytes at an address that is no multiple of 16");
  machine.current->open.push_back({emulatedPointer(target), source, bytes});
}

void emulatedCommitCopies() {
  machine.current->committed.push_back(std::exchange(machine.current->open, {}));
}

void emulatedWaitForCopies(int pending) {
  std::deque<std::vector<Copy>>& committed = machine.current->committed;
  for (; committed.size() > static_cast<size_t>(pending); committed.pop_front())
    for (const Copy& copy : committed.front())
      copy.run();
}

void emulatedBarrierInit(unsigned barrier, unsigned count) {
  machine.barriers[emulatedPointer(barrier)] = {count, count, 0, 0, {}};
}

void emulatedBarrierExpect(unsigned handle, unsigned bytes) {
  Barrier& barrier = barrierAt(handle);
  barrier.bytes += bytes;
  if (barrier.pending-- == 0)
    fail("more arrivals on a barrier than it counts");
  complete(barrier);
}

void emulatedBulkCopy(unsigned target, const void* source, unsigned bytes, unsigned barrier) {
  if (bytes % 16 != 0 || target % 16 != firstHandle % 16 ||
      reinterpret_cast<uintptr_t>(source) % 16 != 0)
    fail("a bulk copy whose addresses or size are no multiples of 16");
  barrierAt(barrier).copies.push_back(
      {[to = emulatedPointer(target), source, bytes] { std::memcpy(to, source, bytes); }, bytes});
}

void emulatedStoreAsync(unsigned target, const void* value, unsigned bytes, unsigned handle) {
  std::memcpy(emulatedPointer(target), value, bytes);
  Barrier& barrier = barrierAt(handle);
  barrier.bytes -= bytes;
  complete(barrier);
}

void emulatedBarrierWait(unsigned handle, unsigned parity) {
  Barrier* barrier = &barrierAt(handle);
  machine.waitFor([barrier, parity] {
    if (barrier->phase != parity)
      return true;
    for (const Bulk& copy : std::exchange(barrier->copies, {})) {
      copy.run();
      barrier->bytes -= copy.bytes;
    }
    complete(*barrier);
    return barrier->phase != parity;
  });
}

void emulatedEncodeMap(void* map, const EmulatedMatrix* matrix) {
  std::memcpy(map, matrix, sizeof(*matrix));
}

void emulatedBringBox(unsigned target, const void* map, int column, int row, unsigned barrier,
                      unsigned blocks) {
  EmulatedMatrix matrix = matrixOf(map);
  auto bytes = static_cast<unsigned>(matrix.boxRows * rowBytes);
  for (unsigned rank = 0; rank < machine.clusterBlocks(); ++rank) {
    if (blocks == 0 ? rank != emulatedRank() : (blocks >> rank & 1) == 0)
      continue;
    unsigned char* to = boxInShared(emulatedMap(target, rank));
    auto copy = [=] {
      forBox(matrix, column, row, [&](const unsigned short* element, size_t offset) {
        unsigned short value = element ? *element : 0;
        std::memcpy(to + offset, &value, sizeof(value));
      });
    };
    barrierAt(emulatedMap(barrier, rank)).copies.push_back({copy, bytes});
  }
}

void emulatedSendBox(const void* map, int column, int row, unsigned source) {
  EmulatedMatrix matrix = matrixOf(map);
  const unsigned char* from = boxInShared(source);
  machine.current->boxes.push_back([=] {
    forBox(matrix, column, row, [&](unsigned short* element, size_t offset) {
      if (element)
        std::memcpy(element, from + offset, sizeof(*element));
    });
  });
}

void emulatedWaitForBoxes(int pending) {
  std::deque<std::function<void()>>& boxes = machine.current->boxes;
  for (; boxes.size() > static_cast<size_t>(pending); boxes.pop_front())
    boxes.front()();
}

void emulatedIssueProduct(float* sums, unsigned columns, const unsigned* a, uint64_t matrixA,
                          uint64_t matrixB, int add, float (*widen)(unsigned short)) {
  Product product = {sums, columns, a != nullptr, add != 0, {}, matrixA, matrixB, widen};
  if (a)
    std::memcpy(product.a.data(), a, sizeof(product.a));
  machine.current->openProducts.push_back(product);
}

void emulatedCommitProducts() {
  machine.current->products.push_back(std::exchange(machine.current->openProducts, {}));
}

void emulatedWaitForProducts(int pending) {
  Block& block = *machine.current->block;
  size_t number = machine.current->thread.threadIndex.x / warpgroupSize;
  if (number >= block.warpgroups.size())
    fail("wgmma of a thread that is in no whole warpgroup");
  Meeting& meeting = block.warpgroups[number];
  if (meeting.arrived + 1 == meeting.live)
    multiplyCommitted(block.fibers + number * warpgroupSize, pending);
  machine.meet(meeting, 0);
}

unsigned emulatedRank() { return machine.current->block->rank; }

void emulatedClusterArrive() {
  machine.current->clusterPhase = machine.clusterPhase;
  machine.current->arrived = true;
  ++machine.clusterArrived;
  machine.completeCluster();
}

void emulatedClusterWait() {
  unsigned phase = machine.current->clusterPhase;
  machine.waitFor([phase] { return machine.clusterPhase != phase; });
}
