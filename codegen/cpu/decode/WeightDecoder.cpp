#include "codegen/cpu/decode/WeightDecoder.h"

#include "codegen/cpu/decode/Planes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tenon::codegen::cpu {

static const WeightDecoder* findDecoder(const Encoding& encoding) {
  for (const WeightDecoder* decoder : allWeightDecoders())
    if (std::string_view(decoder->encoding) == encoding.name)
      return decoder;
  return nullptr;
}

/// The description of a format that is decoded from it; null for others.
static const BlockFormat* findPlanes(const Encoding& encoding) {
  const BlockFormat* format = findBlockFormat(encoding.name);
  return format && format->hasPlanes() ? format : nullptr;
}

bool canDecode(const Encoding& encoding) { return findDecoder(encoding) || findPlanes(encoding); }

RowDecoder::RowDecoder(RankedTensorType type)
    : encoding(*getEncoding(type.getElementType())), decoder(findDecoder(encoding)),
      format(findPlanes(encoding)), bytesPerRow(encoding.bytesFor(type.getShape().back())) {
  assert(decoder || format);
}

Value RowDecoder::byteOffset(VectorBuilder& b, Value element) const {
  return b.mul(b.div(element, encoding.blockSize), encoding.blockBytes);
}

const BlockUnits* RowDecoder::units() const {
  return decoder ? decoder->units : findUnitsOfPlanes(*format);
}

bool RowDecoder::supports(int64_t count) const {
  return blockSize() == 1 ||
         (llvm::isPowerOf2_64(count) && (blockSize() % count == 0 || count % blockSize() == 0));
}

Value RowDecoder::decode(VectorBuilder& b, Value pointer, int64_t first, int64_t count) const {
  if (blockSize() == 1)
    return decoder->decode(b, b.advance(pointer, bytes(first)), 0, count);
  if (count > blockSize())
    return b.concat(decode(b, pointer, first, count / 2),
                    decode(b, pointer, first + count / 2, count / 2));
  Value block = b.advance(pointer, first / blockSize() * encoding.blockBytes);
  return decoder ? decoder->decode(b, block, first % blockSize(), count)
                 : decodePlanes(b, *format, block, first % blockSize(), count);
}

} // namespace tenon::codegen::cpu
