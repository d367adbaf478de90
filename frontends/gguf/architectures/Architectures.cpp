#include "frontends/gguf/architectures/Architecture.h"

namespace tenon::frontends {

extern const Architecture gemma2Architecture;
extern const Architecture gpt2Architecture;
extern const Architecture gptNeoxArchitecture;
extern const Architecture llamaArchitecture;
extern const Architecture phi3Architecture;
extern const Architecture qwen2Architecture;
extern const Architecture qwen3Architecture;

std::span<const Architecture* const> allArchitectures() {
  static constexpr const Architecture* all[] = {
      &gemma2Architecture, &gpt2Architecture,  &gptNeoxArchitecture, &llamaArchitecture,
      &phi3Architecture,   &qwen2Architecture, &qwen3Architecture,
  };
  return all;
}

} // namespace tenon::frontends
