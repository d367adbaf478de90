// Threads: how they take turns, meet at barriers and hand each other values.
#include "Machine.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "Cluster.h"

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

thread_local Machine machine;

void fail(const char* reason) {
  std::fprintf(stderr, "emulator: %s\n", reason);
  std::abort();
}

static void* mapMemory(size_t bytes) {
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
      // Six registers and where to go on; the stack is then as after a call.
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
  if (!self->boxes.empty() || !self->products.empty() || !self->openWgmmas.empty())
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
  const unsigned clusters = blocks / launched.clusterBlocks;
  for (unsigned i = 0; i < clusters; ++i) {
    const unsigned place = descending ? clusters - 1 - i : i;
    prepare(place * launched.clusterBlocks, launched.clusterBlocks, blocks, threads);
    run();
  }
}

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
