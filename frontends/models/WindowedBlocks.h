#ifndef TENON_FRONTENDS_MODELS_WINDOWEDBLOCKS_H
#define TENON_FRONTENDS_MODELS_WINDOWEDBLOCKS_H

#include <cstdint>

namespace tenon::frontends {

/// Which blocks attend to the last `attention.sliding_window` positions only.
enum class WindowedBlocks : uint8_t {
  None, ///< a file that states a window is refused
  All,
  Even,     ///< blocks 0, 2, 4 and so on
  FiveOfSix ///< all but blocks 5, 11, 17 and so on
};

/// Whether block `layer` is one of those.
constexpr bool isWindowed(WindowedBlocks blocks, int64_t layer) {
  switch (blocks) {
  case WindowedBlocks::None:
    break;
  case WindowedBlocks::All:
    return true;
  case WindowedBlocks::Even:
    return layer % 2 == 0;
  case WindowedBlocks::FiveOfSix:
    return layer % 6 != 5;
  }
  return false;
}

} // namespace tenon::frontends

#endif // TENON_FRONTENDS_MODELS_WINDOWEDBLOCKS_H
