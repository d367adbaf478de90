#ifndef TENON_RUNTIME_PROGRAM_SHAREDBYTES_H
#define TENON_RUNTIME_PROGRAM_SHAREDBYTES_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tenon::runtime {

/// Read-only bytes with shared ownership: a vector of its own, or a view into memory that `owner`
/// keeps alive (a mapped file). Copies share the bytes.
class SharedBytes {
public:
  SharedBytes() = default;
  /// Takes over `bytes`. Implicit, so that a code generator assigns its buffer as it is.
  SharedBytes(std::vector<std::byte> bytes) {
    auto held = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    view = *held;
    owner = std::move(held);
  }
  /// Views `view`, which must stay valid for as long as `owner` lives.
  SharedBytes(std::span<const std::byte> view, std::shared_ptr<const void> owner)
      : view(view), owner(std::move(owner)) {}

  const std::byte* data() const { return view.data(); }
  size_t size() const { return view.size(); }
  bool empty() const { return view.empty(); }
  std::span<const std::byte> bytes() const { return view; }
  /// Compares contents.
  bool operator==(const SharedBytes& other) const { return std::ranges::equal(view, other.view); }

private:
  std::span<const std::byte> view;
  std::shared_ptr<const void> owner;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PROGRAM_SHAREDBYTES_H
