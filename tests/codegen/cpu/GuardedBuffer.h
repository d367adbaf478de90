#ifndef TENON_TESTS_CODEGEN_CPU_GUARDEDBUFFER_H
#define TENON_TESTS_CODEGEN_CPU_GUARDEDBUFFER_H

#include <cstddef>
#include <span>

namespace tenon::tests {

/// Memory that ends where an unmapped page begins, so that an access after it stops the test, and
/// that begins after sentinel bytes. Its alignment is that of its size: odd sizes give odd
/// addresses.
class GuardedBuffer {
public:
  explicit GuardedBuffer(size_t bytes);
  ~GuardedBuffer();
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  std::span<std::byte> bytes() const { return view; }
  /// True if the bytes before the buffer are as they were.
  bool isIntact() const;

private:
  std::span<std::byte> mapping;
  std::span<std::byte> sentinels;
  std::span<std::byte> view;
};

} // namespace tenon::tests

#endif // TENON_TESTS_CODEGEN_CPU_GUARDEDBUFFER_H
