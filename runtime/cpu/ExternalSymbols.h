#ifndef TENON_RUNTIME_CPU_EXTERNALSYMBOLS_H
#define TENON_RUNTIME_CPU_EXTERNALSYMBOLS_H

#include <span>
#include <string_view>

namespace tenon::runtime {

/// A function outside an object that its code may call.
struct ExternalSymbol {
  std::string_view name;
  void* address;
};

/// Everything that compiled kernels may call: the C library's memory functions and mathematics
/// that LLVM emits calls to. Sorted by name.
std::span<const ExternalSymbol> externalSymbols();

/// The address of the external symbol `name`, or null if kernels may not call it.
void* findExternalSymbol(std::string_view name);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_CPU_EXTERNALSYMBOLS_H
