#ifndef TENON_KERNELS_CUDA_TARGETCONSTANTS_H
#define TENON_KERNELS_CUDA_TARGETCONSTANTS_H

#include <utility>

#include "ir/Attributes.h"
#include "support/Verdict.h"

namespace tenon::kernels {

inline VerdictOr<int64_t> readPositive(TargetAttr target, llvm::StringRef name, int64_t fallback) {
  int64_t value = target.getProperty(name).value_or(fallback);
  if (value < 1)
    return Refusal{"expects positive " + name.str() + " in target \"" + target.getName().str() +
                   "\""};
  return value;
}

/// Reads what each of `properties` names into its member.
template <typename Struct, size_t count>
Verdict
readConstants(TargetAttr target, Struct& into,
              const std::pair<llvm::StringLiteral, int64_t Struct::*> (&properties)[count]) {
  for (auto [name, member] : properties) {
    VerdictOr<int64_t> value = readPositive(target, name, /*fallback=*/0);
    if (!value)
      return value.refusal();
    into.*member = *value;
  }
  return Verdict::accept();
}

} // namespace tenon::kernels

#endif // TENON_KERNELS_CUDA_TARGETCONSTANTS_H
