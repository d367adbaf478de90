// Asynchronous copies, the barriers in shared memory that they complete on, and boxes of matrices.
#include <cstring>
#include <utility>

#include "Cluster.h"

using namespace tenon::emulator;

namespace {

Barrier& barrierAt(unsigned handle) {
  auto found = machine.barriers.find(emulatedPointer(handle));
  if (found == machine.barriers.end())
    fail("a barrier in shared memory is used before it was initialised");
  return found->second;
}

void complete(Barrier& barrier) {
  if (barrier.pending == 0 && barrier.bytes == 0) {
    barrier.pending = barrier.count;
    barrier.phase ^= 1;
  }
}

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

} // namespace

void emulatedCopy(unsigned target, const void* source, int bytes) {
  if (target % 16 != firstHandle % 16 || reinterpret_cast<uintptr_t>(source) % 16 != 0)
    fail("cp.async of 16 bytes at an address that is no multiple of 16");
  machine.current->open.push_back({emulatedPointer(target), source, bytes, 16 - bytes});
}

void emulatedCopyWord(unsigned target, const void* source) {
  if (target % 4 != 0 || reinterpret_cast<uintptr_t>(source) % 4 != 0)
    fail("cp.async of 4 bytes at an address that is no multiple of 4");
  machine.current->open.push_back({emulatedPointer(target), source, 4, 0});
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
