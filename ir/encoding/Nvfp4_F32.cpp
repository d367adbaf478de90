#include <cstring>

#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Nvfp4.h"
#include "ir/encoding/internal/Planes.h"

namespace tenon::encodings {

/// NVFP4 with the scale that NVIDIA's format has for a whole tensor, repeated in each block:
/// value[i] = scale of all · scale[i / 16] · the E2M1 number quant[i].
///
/// | bytes | holds                                                                     |
/// |-------|---------------------------------------------------------------------------|
/// | 0-3   | scale of all, binary32                                                    |
/// | 4-11  | scales of 16 values each: E4M3 without a sign, 0x7F is 0                  |
/// | 12-75 | quants: 8 bytes for each 16, byte i of them with i in bits 0-3 and i + 8  |
struct Nvfp4F32Block {
  static constexpr size_t size = 128;
  uint8_t scale[4];
  Nvfp4Groups<size> groups;
};
static_assert(sizeof(Nvfp4F32Block) == 76);

/// The scale of all makes the largest scale 448, as NVIDIA's ModelOpt does for a tensor.
static void encodeNvfp4F32(const float* values, Nvfp4F32Block& block) {
  constexpr float most = 448 * 6;
  float largest = 0;
  for (size_t i = 0; i < Nvfp4F32Block::size; ++i)
    largest = std::max(largest, std::fabs(values[i]));
  float scale = largest / most;
  std::memcpy(block.scale, &scale, sizeof scale);
  block.groups.encode(values, scale);
}

constexpr BlockFormat makeNvfp4F32Format() {
  BlockFormat format = describeNvfp4<Nvfp4F32Block>(
      "nvfp4_f32",
      {offsetof(Nvfp4F32Block, groups), /*randomFactor=*/1, BlockFormat::NumberType::UE4M3});
  format.blockScale = {0, nvfp4RandomFactor, BlockFormat::NumberType::F32};
  return format;
}

extern const BlockFormat nvfp4_f32Format;
constexpr BlockFormat nvfp4_f32Format = makeNvfp4F32Format();

extern const Encoding nvfp4_f32;
constinit const Encoding nvfp4_f32 = {
    .name = "nvfp4_f32",
    .blockSize = Nvfp4F32Block::size,
    .blockBytes = sizeof(Nvfp4F32Block),
    .ggufType = -1,
    .decode = decodePlanes<Nvfp4F32Block, nvfp4_f32Format>,
    .encode = encodeBlocks<double, Nvfp4F32Block, encodeNvfp4F32>,
    .encodeF32 = encodeBlocks<float, Nvfp4F32Block, encodeNvfp4F32>,
};

} // namespace tenon::encodings
