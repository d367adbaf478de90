#include "frontends/gguf/architectures/Architecture.h"

namespace tenon::frontends {

extern const Architecture gptNeoxArchitecture;
extern const Architecture llamaArchitecture;

std::span<const Architecture* const> allArchitectures() {
  static constexpr const Architecture* all[] = {
      &gptNeoxArchitecture,
      &llamaArchitecture,
  };
  return all;
}

} // namespace tenon::frontends
