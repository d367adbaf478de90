#include "ir/encoding/internal/Nvfp4.h"
#include "ir/encoding/internal/Block.h"
#include "ir/encoding/internal/Planes.h"

namespace tenon::encodings {

/// ggml's `block_nvfp4`: value[i] = scale[i / 16] · the E2M1 number quant[i]. A scale of a whole
/// tensor is not part of it.
///
/// | bytes | holds                                                                     |
/// |-------|---------------------------------------------------------------------------|
/// | 0-3   | scales of 16 values each: E4M3 without a sign, 0x7F is 0                  |
/// | 4-35  | quants: 8 bytes for each 16, byte i of them with i in bits 0-3 and i + 8  |
struct Nvfp4Block {
  static constexpr size_t size = 64;
  Nvfp4Groups<size> groups;
};
static_assert(sizeof(Nvfp4Block) == 36);

/// ggml's `quantize_row_nvfp4_ref`.
static void encodeNvfp4(const float* values, Nvfp4Block& block) { block.groups.encode(values, 1); }

constexpr BlockFormat makeNvfp4Format() {
  BlockFormat format =
      describeNvfp4<Nvfp4Block>("nvfp4", {0, nvfp4RandomFactor, BlockFormat::NumberType::UE4M3});
  format.ggufFileType = 39;
  return format;
}

extern const BlockFormat nvfp4Format;
constexpr BlockFormat nvfp4Format = makeNvfp4Format();

extern const Encoding nvfp4;
constinit const Encoding nvfp4 = {
    .name = "nvfp4",
    .blockSize = Nvfp4Block::size,
    .blockBytes = sizeof(Nvfp4Block),
    .ggufType = 40,
    .decode = decodePlanes<Nvfp4Block, nvfp4Format>,
    .encode = encodeBlocks<double, Nvfp4Block, encodeNvfp4>,
    .encodeF32 = encodeBlocks<float, Nvfp4Block, encodeNvfp4>,
};

} // namespace tenon::encodings
