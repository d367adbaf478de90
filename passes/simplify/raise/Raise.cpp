#include "passes/simplify/raise/Raise.h"

#include "absl/strings/str_format.h"

using namespace mlir;

namespace tenon::passes {

llvm::ArrayRef<Raise> allRaises() {
  static constexpr Raise raises[] = {{"activation", raise::addActivations},
                                     {"attention", raise::addAttention},
                                     {"gelu", raise::addGelu},
                                     {"glu", raise::addGlu},
                                     {"layer_norm", raise::addLayerNorm},
                                     {"rms_norm", raise::addRmsNorm},
                                     {"rope", raise::addRope},
                                     {"transposed_weight", raise::addTransposedWeight}};
  return raises;
}

absl::Status checkRaises(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (llvm::any_of(allRaises(), [&](const Raise& raise) { return raise.name == name; }))
      continue;
    std::string known;
    for (const Raise& raise : allRaises())
      known += (known.empty() ? "" : ", ") + raise.name.str();
    return absl::InvalidArgumentError(
        absl::StrFormat("unknown operation to raise '%s'; there are %s", name, known));
  }
  return absl::OkStatus();
}

void addRaises(RewritePatternSet& patterns, llvm::ArrayRef<std::string> disabled) {
  for (const Raise& raise : allRaises())
    if (!llvm::is_contained(disabled, raise.name))
      raise.add(patterns);
}

} // namespace tenon::passes
