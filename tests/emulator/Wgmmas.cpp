// Products of warpgroups, wgmma.
#include <cstring>
#include <utility>

#include "Cluster.h"

using namespace tenon::emulator;

namespace {

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
          first.widen(first.alongRows ? matrixB.alongRow(n, k) : matrixB.alongColumn(n, k));
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

} // namespace

void emulatedIssueWgmma(float* sums, unsigned columns, const unsigned* a, uint64_t matrixA,
                        uint64_t matrixB, int add, bool alongRows, float (*widen)(unsigned short)) {
  Product product = {sums, columns, a != nullptr, alongRows, add != 0, {}, matrixA, matrixB, widen};
  if (a)
    std::memcpy(product.a.data(), a, sizeof(product.a));
  machine.current->openWgmmas.push_back(product);
}

void emulatedCommitWgmmas() {
  machine.current->products.push_back(std::exchange(machine.current->openWgmmas, {}));
}

void emulatedWaitForWgmmas(int pending) {
  Block& block = *machine.current->block;
  size_t number = machine.current->thread.threadIndex.x / warpgroupSize;
  if (number >= block.warpgroups.size())
    fail("wgmma of a thread that is in no whole warpgroup");
  Meeting& meeting = block.warpgroups[number];
  if (meeting.arrived + 1 == meeting.live)
    multiplyCommitted(block.fibers + number * warpgroupSize, pending);
  machine.meet(meeting, 0);
}
