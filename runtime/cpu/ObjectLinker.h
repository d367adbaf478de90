#ifndef TENON_RUNTIME_CPU_OBJECTLINKER_H
#define TENON_RUNTIME_CPU_OBJECTLINKER_H

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"

namespace tenon::runtime {

/// Relocatable ELF objects linked into this process with LLVM's JITLink. Code pages are never
/// writable and executable at once. An object sees `externalSymbols()` and nothing else, not even
/// the other objects.
///
/// The bytes must be as a code generator wrote them: JITLink reports most damage, but trusts some
/// relocations. A `.tnn` file's hashes find damage before; who forges them could as well write
/// harmful code.
class ObjectLinker {
public:
  static absl::StatusOr<std::unique_ptr<ObjectLinker>> create();

  ~ObjectLinker();
  ObjectLinker(const ObjectLinker&) = delete;
  ObjectLinker& operator=(const ObjectLinker&) = delete;

  /// Links `object` and returns its number, counted from 0. The bytes are not needed afterwards;
  /// the code lives as long as the linker. Fails with InvalidArgument if they are no object for
  /// this machine or use a symbol that is not allowed.
  absl::StatusOr<size_t> link(std::span<const std::byte> object);

  /// The address of the function `symbol` defined by object `object`. Fails with NotFound; a symbol
  /// that is no code is not found either.
  absl::StatusOr<void*> lookup(size_t object, const std::string& symbol) const;

private:
  struct Impl;
  explicit ObjectLinker(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_OBJECTLINKER_H
